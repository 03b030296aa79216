import assert from "node:assert/strict";
import { test } from "node:test";
import { createStorage } from "unstorage";
import { mapBounded } from "../../src/store/bounded.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { blockKey, decodeSegment, encodeSegment, isBlockKey, partKey, recordKey } from "../../src/store/keys.ts";
import { createLeaseLocks, createLocalLocks } from "../../src/store/locks.ts";
import { appendRange, countBlocks, countRange, removeRange, sequencesOf, sliceRange } from "../../src/store/ranges.ts";
import { append, newRecord, watched } from "../contract/store-subject.ts";

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("keys: an encoded segment is safe everywhere and can be read back", () => {
  const texts = [
    "a",
    "A",
    "a.b",
    "..",
    "a:b",
    "a/b\\c",
    "a?b",
    "a$",
    "_",
    "_41",
    "é",
    "\u4100",
    "\ud800",
    "\0",
    "Z".repeat(64),
  ];
  for (const text of texts) {
    assert.match(encodeSegment(text), /^[a-z0-9_-]+$/);
    assert.equal(decodeSegment(encodeSegment(text)), text);
  }
  assert.equal(new Set(texts.map(encodeSegment)).size, texts.length);
  for (const foreign of ["", "A", "_4", "_61", "_zz", "a.b", "_u00"]) assert.equal(decodeSegment(foreign), undefined);
  assert.throws(() => encodeSegment(""), RangeError);
  assert.throws(() => encodeSegment("Z".repeat(67)), RangeError);
});

test("keys: blocks, their parts and nothing else are blocks", () => {
  const key = blockKey("local", "A", 12);
  assert.equal(key, "o:local:s:_41:b:12");
  assert.ok(isBlockKey(key) && isBlockKey(partKey(key, 1, 7)));
  assert.ok(!isBlockKey(recordKey("local", "A")) && !isBlockKey("o:local:sessions"));
  for (const sequence of [-1, 0.5, Number.NaN, 2 ** 53])
    assert.throws(() => blockKey("local", "A", sequence), RangeError);
});

test("ranges: appending, slicing and removing agree with a plain list", () => {
  let ranges: readonly (readonly [number, number])[] = [];
  let list: number[] = [];
  let seed = 1;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let next = 0; next < 400; next += 1 + random(2)) {
    ranges = appendRange(ranges, next);
    list.push(next);
    if (random(4) === 0) {
      const from = random(list.length + 2) - 1;
      const to = from + random(4);
      ranges = removeRange(ranges, from, to);
      list = list.filter((_, position) => position < from || position >= to);
    }
    const [from, to] = [random(20) - 2, random(60)];
    assert.equal(countRange(ranges), list.length);
    assert.deepEqual(sequencesOf({ live: ranges }), list);
    assert.deepEqual(sequencesOf({ live: ranges }, from, to), list.slice(Math.max(0, from), Math.max(0, to)));
    assert.equal(countBlocks({ live: sliceRange(ranges, 3, 8) }), list.slice(3, 8).length);
  }
  assert.throws(() => appendRange([[0, 5]], 4), RangeError);
});

test("bounded: results are in order, no more than the limit are under way, the first failure counts", async () => {
  let running = 0;
  let most = 0;
  const results = await mapBounded([...Array(50).keys()], 4, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await tick();
    running -= 1;
    return item * 2;
  });
  assert.deepEqual(
    results,
    [...Array(50).keys()].map((item) => item * 2),
  );
  assert.equal(most, 4);
  const fail = async (item: number): Promise<void> => {
    if (item === 3) throw new RangeError("three");
  };
  await assert.rejects(mapBounded([1, 2, 3, 4], 2, fail), RangeError);
  assert.deepEqual(await mapBounded([], 2, fail), []);
});

test("local locks: tasks of one key run in order of arrival, those of others at once", async () => {
  const locks = createLocalLocks();
  const order: string[] = [];
  const task = (name: string) => async (): Promise<string> => {
    order.push(`${name} begins`);
    await tick();
    order.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([
    locks.run("k", task("1")),
    locks.run("k", task("2")),
    locks.run("other", task("3")),
  ]);
  assert.deepEqual(results, ["1", "2", "3"]);
  assert.deepEqual(
    order,
    ["1 begins", "3 begins", "1 ends", "3 ends", "2 begins", "2 ends"].sort(
      (a, b) => order.indexOf(a) - order.indexOf(b),
    ),
  );
  assert.ok(order.indexOf("1 ends") < order.indexOf("2 begins") && order.indexOf("3 begins") < order.indexOf("1 ends"));
});

test("local locks: who gives up leaves the line, and nobody gets ahead by that", async () => {
  const locks = createLocalLocks();
  const order: string[] = [];
  let finish = (): void => {};
  const first = locks.run(
    "k",
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const control = new AbortController();
  const second = locks.run("k", async () => void order.push("second"), control.signal);
  control.abort(new RangeError("no longer wanted"));
  await assert.rejects(second, RangeError);
  const third = locks.run("k", async () => void order.push("third"));
  await tick();
  assert.deepEqual(order, [], "the first still runs");
  finish();
  await Promise.all([first, third]);
  assert.deepEqual(order, ["third"]);
  await assert.rejects(
    locks.run("k", async () => {}, AbortSignal.abort(new RangeError("before"))),
    RangeError,
  );
});

test("local locks: a task that fails frees the key", async () => {
  const locks = createLocalLocks();
  await assert.rejects(
    locks.run("k", async () => {
      throw new RangeError("failed");
    }),
    RangeError,
  );
  assert.equal(await locks.run("k", async () => 7), 7);
});

test("lease locks: without a signal the wait is bounded, with one it ends when that fires", async () => {
  const locks = createLeaseLocks(async () => undefined, { waitMs: 30, pauseMs: 5 });
  await assert.rejects(
    locks.run("k", async () => {}),
    /Another process has held the lock "k" for 30 ms/,
  );
  const signal = AbortSignal.timeout(60);
  await assert.rejects(
    locks.run("k", async () => {}, signal),
    { name: "TimeoutError" },
  );
});

test("lease locks: the lease is released, also when the task fails", async () => {
  const calls: string[] = [];
  const locks = createLeaseLocks(async (key) => {
    calls.push(`take ${key}`);
    return { release: async () => void calls.push(`release ${key}`) };
  });
  await assert.rejects(
    locks.run("k", async () => {
      throw new RangeError("failed");
    }),
    RangeError,
  );
  assert.equal(await locks.run("k", async () => 7), 7);
  assert.deepEqual(calls, ["take k", "release k", "take k", "release k"]);
});

test("records in memory: a slow read that a write overtakes does not bring the old value back", async () => {
  const memory = createStorage();
  let slow: Promise<void> | undefined;
  const storage = {
    ...memory,
    getItem: (async (key: string) => {
      const value = await memory.getItem(key);
      await slow;
      return value;
    }) as typeof memory.getItem,
  };
  const store = createHistoryStore({ storage, locks: createLocalLocks(), exclusive: true });
  const other = createHistoryStore({ storage: memory, locks: createLocalLocks() });
  await other.createSession("local", newRecord("demo"), 10);
  let finish = (): void => {};
  slow = new Promise((resolve) => {
    finish = resolve;
  });
  const reading = store.readSession("local", "demo");
  await tick();
  slow = undefined;
  assert.equal(await append(store, "local", "demo"), 0);
  finish();
  assert.equal((await reading)?.nextSequence, 0);
  assert.equal((await store.readSession("local", "demo"))?.nextSequence, 1);
  assert.equal(await append(store, "local", "demo"), 1);
});

test("records in memory: so many and no more are kept", async () => {
  let reads = 0;
  const storage = watched(createStorage(), (method) => {
    if (method === "getItem") reads += 1;
  });
  const store = createHistoryStore({ storage, locks: createLocalLocks(), exclusive: true });
  for (let count = 0; count <= 1_000; count += 1) await store.createSession(`owner${count}`, newRecord("demo"), 1);
  reads = 0;
  await store.readSession("owner1000", "demo");
  assert.equal(reads, 0);
  await store.readSession("owner0", "demo");
  assert.equal(reads, 1, "the least recently used was dropped");
});
