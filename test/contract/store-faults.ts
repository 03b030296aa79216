import assert from "node:assert/strict";
import type { Storage } from "unstorage";
import { AppError } from "../../src/core/errors.ts";
import type { HistoryStore } from "../../src/store/history-store.ts";
import { blockKey, indexKey, packagesKey, recordKey } from "../../src/store/keys.ts";
import { append, codeOf, newBlock, newRecord, type StoreCheck, watched, withStore } from "./store-subject.ts";

const GARBAGE = [
  "",
  "123",
  "null",
  "[]",
  "{",
  "\0\0\0\0",
  '"text"',
  '{"v":1}',
  '{"v":2,"value":{}}',
  '{"v":1,"value":null}',
];
const BAD_PARTS = [1e9, -1, 0, "2"].map((count) => JSON.stringify({ v: 1, parts: { id: "x", generation: 0, count } }));
const BAD_RECORDS = [
  { id: 5 },
  { id: "another" },
  { live: [[0, 1e12]], nextSequence: 1e12 },
  { live: [[3, 1]], nextSequence: 9 },
  {
    live: [
      [0, 5],
      [2, 6],
    ],
    nextSequence: 9,
  },
  { live: [[0, 5]], nextSequence: 4 },
  { pending: {} },
  { kernelRef: "secret" },
].map((change) => JSON.stringify({ v: 1, value: { ...newRecord("demo"), ...change } }));
const BAD_BLOCKS = [{ sequence: 1 }, { outputs: [{}] }, { code: null }, { status: "fine" }].map((change) =>
  JSON.stringify({ v: 1, value: { ...newBlock(0), ...change } }),
);

/** A storage whose `method` fails on its `nth` call, before or after it has done its work. */
function failing(storage: Storage, method: string, nth: number, when: "before" | "after"): Storage {
  let calls = 0;
  return watched(storage, async (name, key) => {
    if (name !== method) return;
    calls += 1;
    if (calls !== nth) return;
    if (when === "after" && method === "removeItem") await storage.removeItem(key);
    throw new Error("a fault to order");
  });
}

/** What holds when the store fails, is down, or holds what nobody of ours wrote. */
export const faultChecks: readonly StoreCheck[] = [
  {
    id: "a store that is down is told as such",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const down = new Error("connection refused");
        const refuse = (): never => {
          throw down;
        };
        const noStorage = again({ storage: watched(storage, refuse) });
        const noLocks = again({ locks: { run: () => Promise.reject(down) } });
        for (const call of callsOf(noStorage, owner)) await assertUnavailable(call(), down);
        for (const call of callsOf(noLocks, owner).slice(0, 4)) await assertUnavailable(call(), down);
      }),
  },
  {
    id: "a write that fails leaves the old value or the new one",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const store = again({});
        await store.createSession(owner, newRecord("demo"), 10);
        for (const exclusive of [false, true]) {
          for (const when of ["before", "after"] as const) {
            const faulty = again({ storage: writeFailing(storage, when), exclusive });
            await faulty.readSession(owner, "demo");
            const before = (await store.readSession(owner, "demo"))?.epoch ?? 0;
            const change = faulty.updateSession(owner, "demo", (record) => ({ ...record, epoch: record.epoch + 1 }));
            assert.equal(await codeOf(change), "STORAGE_UNAVAILABLE");
            const expected = when === "before" ? before : before + 1;
            assert.equal((await faulty.readSession(owner, "demo"))?.epoch, expected);
            assert.equal((await again({}).readSession(owner, "demo"))?.epoch, expected);
          }
        }
        assert.equal(await append(store, owner, "demo"), 0);
      }),
  },
  {
    id: "a large value is replaced whole or not at all",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const options = { maxValueBytes: 2_000 };
        const store = again(options);
        const text = (letter: string): string => letter.repeat(12_000);
        await store.writeBlock(owner, "demo", newBlock(0, text("a")));
        let saved = "a";
        for (const [step, letter] of [..."bcdefghi"].entries()) {
          const nth = step * 4 + 1;
          const faulty = again({ ...options, storage: failing(storage, "setItem", nth, "before") });
          const outcome = await faulty.writeBlock(owner, "demo", newBlock(0, text(letter))).then(
            () => "written",
            () => "failed",
          );
          if (outcome === "written") saved = letter;
          assert.equal((await store.readBlocks(owner, "demo", [0]))[0]?.code, text(saved), `fault at write ${nth}`);
        }
        assert.notEqual(saved, "a");
      }),
  },
  {
    id: "a deletion that was cut off is finished by the next call",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const store = again({});
        for (const nth of [1, 2, 5, 6]) {
          await store.createSession(owner, newRecord("demo"), 10);
          for (let count = 0; count < 5; count += 1) await append(store, owner, "demo", `old ${count}`);
          const faulty = again({ storage: failing(storage, "removeItem", nth, "before") });
          assert.equal(await codeOf(faulty.deleteSession(owner, "demo")), "STORAGE_UNAVAILABLE");
          const fresh = again({});
          assert.equal(await fresh.readSession(owner, "demo"), undefined);
          assert.deepEqual(await fresh.listSessions(owner), []);
          if (nth < 5) assert.equal(await fresh.deleteSession(owner, "demo"), true);
          const created = again({});
          await created.createSession(owner, newRecord("demo"), 1);
          assert.deepEqual(await created.readBlocks(owner, "demo", [0, 4]), [undefined, undefined]);
          assert.equal(await created.deleteSession(owner, "demo"), true);
        }
      }),
  },
  {
    id: "values that make no sense are absent, logged, and harm no others",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again, logged }) => {
        const store = again({ exclusive: false });
        await store.createSession(owner, newRecord("other"), 10);
        const keys = { record: recordKey(owner, "demo"), block: blockKey(owner, "other", 0) };
        for (const value of [...GARBAGE, ...BAD_PARTS, ...BAD_RECORDS, ...BAD_BLOCKS]) {
          logged.length = 0;
          await storage.setItem(keys.record, value);
          await storage.setItem(keys.block, value);
          assert.equal(await store.readSession(owner, "demo"), undefined, value);
          assert.deepEqual(await store.readBlocks(owner, "other", [0]), [undefined], value);
          if (value !== "" && value !== "null") assert.equal(logged.length, 2, `${value} is logged`);
          assert.deepEqual(
            (await store.listSessions(owner)).map(({ id }) => id),
            ["other"],
          );
          assert.equal(await codeOf(store.updateSession(owner, "demo", (record) => record)), "SESSION_NOT_FOUND");
        }
        await store.createSession(owner, newRecord("demo"), 10);
        await store.writeBlock(owner, "other", newBlock(0));
        assert.deepEqual(await store.readBlocks(owner, "other", [0]), [newBlock(0)]);
      }),
  },
  {
    id: "a damaged index is made again, a damaged list of packages begins anew",
    run: (subject) =>
      withStore(subject, async ({ store, owner, storage }) => {
        for (const id of ["a", "A.b"]) await store.createSession(owner, newRecord(id), 10);
        for (const value of ['{"v":1,"value":{"ids":[7]}}', '{"v":1,"value":{"ids":"a"}}', '{"v":1,"value":[]}']) {
          await storage.setItem(indexKey(owner), value);
          await storage.setItem(packagesKey(owner), value);
          assert.deepEqual((await store.listSessions(owner)).map(({ id }) => id).sort(), ["A.b", "a"]);
          assert.deepEqual(await store.addPackages(owner, ["numpy"]), ["numpy"]);
        }
        await store.createSession(owner, newRecord("c"), 3);
        assert.equal((await store.listSessions(owner)).length, 3);
      }),
  },
];

/** Every method; those that take a lock come first. */
function callsOf(store: HistoryStore, owner: string): (() => Promise<unknown>)[] {
  return [
    () => store.createSession(owner, newRecord("demo"), 10),
    () => store.updateSession(owner, "demo", (record) => record),
    () => store.deleteSession(owner, "demo"),
    () => store.addPackages(owner, ["numpy"]),
    () => store.listSessions(owner),
    () => store.readSession(owner, "demo"),
    () => store.readBlocks(owner, "demo", [0]),
    () => store.writeBlock(owner, "demo", newBlock(0)),
    () => store.deleteBlocks(owner, "demo", [0]),
    () => store.readPackages(owner),
  ];
}

async function assertUnavailable(call: Promise<unknown>, cause: Error): Promise<void> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AppError, `${String(error)} is an AppError`);
  assert.equal(error.code, "STORAGE_UNAVAILABLE");
  assert.equal(error.cause, cause);
  assert.ok(!error.message.includes(cause.message), "the cause is for the log alone");
}

/** Fails on every write; `after` the value was written all the same, as when only the answer is lost. */
function writeFailing(storage: Storage, when: "before" | "after"): Storage {
  const setItem = async (key: string, value: unknown): Promise<void> => {
    if (when === "after") await storage.setItem(key, value as string);
    throw new Error("a fault to order");
  };
  return { ...storage, setItem: setItem as Storage["setItem"] };
}
