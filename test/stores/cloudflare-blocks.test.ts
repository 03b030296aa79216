import assert from "node:assert/strict";
import { test } from "node:test";
import { createStorage, type Driver } from "unstorage";
import memoryDriver from "unstorage/drivers/memory";
import {
  createBlockTier,
  type FarStore,
  type KvNamespace,
  kvBlocks,
  type R2Bucket,
  r2Blocks,
} from "../../adapters/drivers/cloudflare-blocks.ts";
import { type OpenedStorage, opened } from "../../adapters/drivers/opened.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { isBlockKey } from "../../src/store/keys.ts";
import { createLocalLocks } from "../../src/store/locks.ts";
import { sequencesOf } from "../../src/store/ranges.ts";
import { storeChecks } from "../contract/store-checks.ts";
import { append, newBlock, newOwner, newRecord, type StoreSubject, withStore } from "../contract/store-subject.ts";
import { storeSuite } from "../contract/store-suite.ts";

const supports = { sharing: false };

/** Time that passes with every call, so that nothing has to be waited for. */
function newClock(stepMs: number): () => number {
  let time = 1_700_000_000_000;
  return () => {
    time += stepMs;
    return time;
  };
}

/** R2 as documented: every read sees what was written before it. */
function newBucket(): R2Bucket & { readonly objects: Map<string, string> } {
  const objects = new Map<string, string>();
  return {
    objects,
    async get(key) {
      const value = objects.get(key);
      return value === undefined ? null : { text: async () => value };
    },
    put: async (key, value) => objects.set(key, value),
    delete: async (key) => void objects.delete(key),
  };
}

/** KV at its documented worst: for a minute after a change, and after a miss, reads answer as before. */
function newNamespace(now: () => number): KvNamespace & { readonly size: () => number } {
  const settled = new Map<string, string | null>();
  const changes: { readonly key: string; readonly value: string | null; readonly at: number }[] = [];
  const change = async (key: string, value: string | null): Promise<void> => {
    changes.push({ key, value, at: now() });
  };
  const catchUp = (): void => {
    while (changes[0] !== undefined && now() - changes[0].at > 60_000) {
      const { key, value } = changes.shift() as (typeof changes)[number];
      settled.set(key, value);
    }
  };
  return {
    size: () => settled.size,
    async get(key) {
      catchUp();
      return settled.get(key) ?? null;
    },
    put: (key, value) => change(key, value),
    delete: (key) => change(key, null),
  };
}

function subjectOf(far: FarStore, now: () => number, near: Driver = memoryDriver()): StoreSubject {
  const open = async (): Promise<OpenedStorage> => ({
    ...opened({
      driver: createBlockTier(near, far, { now }),
      locks: createLocalLocks(),
      exclusive: true,
      description: "",
    }),
    close: async () => {},
  });
  return { supports, open };
}

storeSuite("blocks in R2", () => subjectOf(r2Blocks(newBucket()), newClock(0)), supports);
const clock = newClock(5_000);
storeSuite("blocks in KV", () => subjectOf(kvBlocks(newNamespace(clock)), clock), supports);

test("KV without the wait for it to settle would break the contract", async () => {
  const now = newClock(500);
  const hasty = { ...kvBlocks(newNamespace(now)), settleMs: 0 };
  const check = storeChecks.find(({ id }) => id.startsWith("a slice reads its blocks in order"));
  await assert.rejects(async () => check?.run(subjectOf(hasty, now)));
});

test("blocks go to the far store, sessions stay, and all can be read", async () => {
  const near = memoryDriver();
  const bucket = newBucket();
  await withStore(subjectOf(r2Blocks(bucket), newClock(0), near), async ({ store, owner }) => {
    await store.createSession(owner, newRecord("demo"), 10);
    for (let count = 0; count < 200; count += 1) await append(store, owner, "demo");
    await until(() => bucket.objects.size > 150);
    const nearKeys = (await near.getKeys("", {})).filter(isBlockKey);
    assert.ok(nearKeys.length < 50, `${nearKeys.length} blocks are still near`);
    assert.ok([...bucket.objects.keys()].every(isBlockKey));
    const record = await store.readSession(owner, "demo");
    assert.ok(record);
    const blocks = await store.readBlocks(owner, "demo", sequencesOf(record));
    assert.deepEqual(
      blocks.map((block) => block?.code),
      [...Array(200).keys()].map((sequence) => `x = ${sequence}`),
    );
    assert.equal(await store.deleteSession(owner, "demo"), true);
    assert.equal(bucket.objects.size, 0);
  });
});

test("an object that starts again moves what the one before it left", async () => {
  const near = memoryDriver();
  const owner = newOwner();
  const storage = createStorage({ driver: near });
  const alone = createHistoryStore({ storage, locks: createLocalLocks() });
  await alone.createSession(owner, newRecord("demo"), 10);
  for (let count = 0; count < 3; count += 1) await append(alone, owner, "demo");
  const bucket = newBucket();
  const { close, ...options } = await subjectOf(r2Blocks(bucket), newClock(0), near).open();
  await createHistoryStore(options).writeBlock(owner, "demo", newBlock(3));
  await until(() => bucket.objects.size === 4);
  await close();
});

test("a far store that fails loses nothing, and catches up later", async () => {
  const bucket = newBucket();
  let down = true;
  const far: FarStore = {
    ...r2Blocks(bucket),
    put: (key, value) => (down ? Promise.reject(new Error("429")) : r2Blocks(bucket).put(key, value)),
  };
  await withStore(subjectOf(far, newClock(0)), async ({ store, owner }) => {
    await store.createSession(owner, newRecord("demo"), 10);
    for (let count = 0; count < 5; count += 1) await append(store, owner, "demo");
    assert.equal((await store.readBlocks(owner, "demo", [4]))[0]?.code, "x = 4");
    assert.equal(bucket.objects.size, 0);
    down = false;
    await append(store, owner, "demo");
    await until(() => bucket.objects.size === 6);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 2_000 && !condition(); turns += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(condition(), "The condition did not come true");
}
