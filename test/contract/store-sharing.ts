import assert from "node:assert/strict";
import { AppError } from "../../src/core/errors.ts";
import type { HistoryStore } from "../../src/store/history-store.ts";
import { append, newRecord, type StoreCheck, withStore, withStores } from "./store-subject.ts";

const CALLS = 8;
const APPENDS = 20;

/** What holds when calls come at once, from one server or from several. */
export const sharingChecks: readonly StoreCheck[] = [
  {
    id: "of two creates of one id, one wins",
    run: (subject) => withStore(subject, ({ store, owner }) => createAtOnce(repeat(store, CALLS), owner)),
  },
  {
    id: "no more sessions than allowed come of creates at once",
    run: (subject) => withStore(subject, ({ store, owner }) => createUpToLimit(repeat(store, CALLS), owner)),
  },
  {
    id: "appends at once all survive, in order",
    run: (subject) => withStore(subject, ({ store, owner }) => appendAtOnce(repeat(store, 4), owner)),
  },
  {
    id: "of two servers' creates of one id, one wins",
    needs: "sharing",
    run: (subject) => withStores(subject, 3, createAtOnce),
  },
  {
    id: "several servers create no more sessions than allowed",
    needs: "sharing",
    run: (subject) => withStores(subject, 3, createUpToLimit),
  },
  {
    id: "several servers' appends all survive, in order",
    needs: "sharing",
    run: (subject) => withStores(subject, 3, appendAtOnce),
  },
  {
    id: "what one server wrote, another sees",
    needs: "sharing",
    run: (subject) =>
      withStores(subject, 2, async ([one, other], owner) => {
        assert.ok(one && other);
        await one.createSession(owner, newRecord("demo"), 10);
        for (let round = 0; round < 3; round += 1) {
          assert.equal(await append(one, owner, "demo"), round * 2);
          assert.equal((await other.readSession(owner, "demo"))?.nextSequence, round * 2 + 1);
          assert.equal(await append(other, owner, "demo"), round * 2 + 1);
          assert.equal((await one.readBlocks(owner, "demo", [round * 2 + 1]))[0]?.code, `x = ${round * 2 + 1}`);
        }
        assert.equal(await other.deleteSession(owner, "demo"), true);
        assert.equal(await one.readSession(owner, "demo"), undefined);
      }),
  },
];

async function createAtOnce(stores: readonly HistoryStore[], owner: string): Promise<void> {
  const outcomes = await Promise.all(
    stores.map((store) => outcomeOf(store.createSession(owner, newRecord("one"), 10))),
  );
  assert.equal(outcomes.filter((outcome) => outcome === "ok").length, 1);
  assert.equal(outcomes.filter((outcome) => outcome === "SESSION_EXISTS").length, stores.length - 1);
  assert.deepEqual(
    (await stores[0]?.listSessions(owner))?.map(({ id }) => id),
    ["one"],
  );
}

async function createUpToLimit(stores: readonly HistoryStore[], owner: string): Promise<void> {
  const limit = stores.length - 1;
  const creations = stores.map((store, index) => outcomeOf(store.createSession(owner, newRecord(`s${index}`), limit)));
  const outcomes = await Promise.all(creations);
  assert.equal(outcomes.filter((outcome) => outcome === "ok").length, limit);
  assert.equal(outcomes.filter((outcome) => outcome === "SESSION_LIMIT").length, 1);
  assert.equal((await stores[0]?.listSessions(owner))?.length, limit);
}

async function appendAtOnce(stores: readonly HistoryStore[], owner: string): Promise<void> {
  const [first] = stores;
  assert.ok(first);
  await first.createSession(owner, newRecord("demo"), 10);
  const taken = await Promise.all(
    stores.map(async (store, index) => {
      const sequences: number[] = [];
      for (let count = 0; count < APPENDS; count += 1) {
        sequences.push(await append(store, owner, "demo", `${index}.${count}`));
      }
      assert.deepEqual(
        sequences,
        [...sequences].sort((a, b) => a - b),
      );
      return sequences;
    }),
  );
  const total = stores.length * APPENDS;
  assert.deepEqual(
    taken.flat().sort((a, b) => a - b),
    [...Array(total).keys()],
  );
  assert.deepEqual((await first.readSession(owner, "demo"))?.live, [[0, total]]);
  const blocks = await first.readBlocks(owner, "demo", [...Array(total).keys()]);
  for (const [index, sequences] of taken.entries()) {
    const codes = sequences.map((sequence) => blocks[sequence]?.code);
    assert.deepEqual(
      codes,
      sequences.map((_, count) => `${index}.${count}`),
    );
  }
}

function outcomeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "ok",
    (error: unknown) => {
      if (error instanceof AppError) return error.code;
      throw error;
    },
  );
}

function repeat(store: HistoryStore, count: number): HistoryStore[] {
  return Array.from({ length: count }, () => store);
}
