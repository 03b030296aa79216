import assert from "node:assert/strict";
import { countBlocks, removeRange, sequencesOf } from "../../src/store/ranges.ts";
import { append, codeOf, newBlock, newRecord, type StoreCheck, withStore } from "./store-subject.ts";

const IDS = [
  "a",
  "A",
  "a.b",
  "a..b",
  "a-b",
  "a_b",
  "A_41",
  "_41",
  "con",
  "aux.",
  "0",
  "00",
  "a$",
  "record",
  "b",
  "Z".repeat(64),
];

/** What a store does when nothing goes wrong and nobody else uses it. */
export const basicChecks: readonly StoreCheck[] = [
  {
    id: "what was written is read at once",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        const record = newRecord("demo", { cwd: "/tmp", kernelRef: { sandbox: "x", port: 1 } });
        await store.createSession(owner, record, 10);
        assert.deepEqual(await store.readSession(owner, "demo"), record);
        assert.deepEqual(await store.listSessions(owner), [record]);
        const changed = await store.updateSession(owner, "demo", (present) => ({ ...present, lost: "it died" }));
        assert.deepEqual(changed, { ...record, lost: "it died" });
        assert.deepEqual(await store.readSession(owner, "demo"), changed);
        await store.writeBlock(owner, "demo", newBlock(0));
        await store.writeBlock(owner, "demo", newBlock(0, "replaced"));
        assert.deepEqual(await store.readBlocks(owner, "demo", [0, 1]), [newBlock(0, "replaced"), undefined]);
      }),
  },
  {
    id: "nothing is there before it was written",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        assert.deepEqual(await store.listSessions(owner), []);
        assert.equal(await store.readSession(owner, "demo"), undefined);
        assert.deepEqual(await store.readBlocks(owner, "demo", [0, 7]), [undefined, undefined]);
        assert.deepEqual(await store.readPackages(owner), []);
        assert.equal(await store.deleteSession(owner, "demo"), false);
        await store.deleteBlocks(owner, "demo", [0, 1]);
        assert.equal(await codeOf(store.updateSession(owner, "demo", (record) => record)), "SESSION_NOT_FOUND");
      }),
  },
  {
    id: "a slice reads its blocks in order, also after deletions",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        await store.createSession(owner, newRecord("demo"), 10);
        for (let count = 0; count < 25; count += 1) await append(store, owner, "demo");
        const record = await store.updateSession(owner, "demo", (present) => ({
          ...present,
          live: removeRange(present.live, 5, 15),
        }));
        await store.deleteBlocks(owner, "demo", [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
        assert.equal(countBlocks(record), 15);
        const codes = async (from: number, to: number): Promise<(string | undefined)[]> =>
          (await store.readBlocks(owner, "demo", sequencesOf(record, from, to))).map((block) => block?.code);
        assert.deepEqual(await codes(3, 7), ["x = 3", "x = 4", "x = 15", "x = 16"]);
        assert.deepEqual(await codes(14, 99), ["x = 24"]);
        assert.deepEqual(await store.readBlocks(owner, "demo", [5, 14]), [undefined, undefined]);
        assert.equal(await append(store, owner, "demo"), 25);
      }),
  },
  {
    id: "a deleted session leaves nothing behind",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const store = again({});
        const small = again({ maxValueBytes: 2_000 });
        await store.createSession(owner, newRecord("gone"), 10);
        await store.createSession(owner, newRecord("kept"), 10);
        for (let count = 0; count < 5; count += 1) await append(store, owner, "gone");
        await append(small, owner, "gone", "large ".repeat(5_000));
        await store.updateSession(owner, "gone", (record) => ({ ...record, live: removeRange(record.live, 0, 2) }));
        assert.equal(await small.deleteSession(owner, "gone"), true);
        assert.equal(await store.deleteSession(owner, "gone"), false);
        assert.deepEqual(
          (await store.listSessions(owner)).map(({ id }) => id),
          ["kept"],
        );
        assert.equal(await codeOf(store.updateSession(owner, "gone", (record) => record)), "SESSION_NOT_FOUND");
        const keys = (await storage.getKeys()).filter((key) => key.includes(owner) && key.includes("gone"));
        assert.deepEqual(keys, []);
      }),
  },
  {
    id: "no two session ids are taken for each other",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        for (const id of IDS) {
          await store.createSession(owner, newRecord(id), 100);
          await store.writeBlock(owner, id, newBlock(0, `block of ${id}`));
        }
        assert.deepEqual((await store.listSessions(owner)).map(({ id }) => id).sort(), [...IDS].sort());
        assert.equal(await store.deleteSession(owner, "a"), true);
        for (const id of IDS.slice(1)) {
          assert.equal((await store.readSession(owner, id))?.id, id);
          assert.equal((await store.readBlocks(owner, id, [0]))[0]?.code, `block of ${id}`);
        }
      }),
  },
  {
    id: "no owner sees what another has",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        const others = [`${owner}x`, owner.toUpperCase(), `${owner}:s`, `${owner}/s/demo`, `${owner}?`];
        await store.createSession(owner, newRecord("demo"), 10);
        await append(store, owner, "demo");
        await store.addPackages(owner, ["numpy"]);
        for (const other of others) {
          assert.deepEqual(await store.listSessions(other), []);
          assert.equal(await store.readSession(other, "demo"), undefined);
          assert.deepEqual(await store.readBlocks(other, "demo", [0]), [undefined]);
          assert.deepEqual(await store.readPackages(other), []);
          assert.equal(await store.deleteSession(other, "demo"), false);
        }
        assert.equal((await store.listSessions(owner)).length, 1);
      }),
  },
  {
    id: "requirements are kept in order, each once",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        assert.deepEqual(await store.addPackages(owner, ["numpy", "pandas==2"]), ["numpy", "pandas==2"]);
        assert.deepEqual(await store.addPackages(owner, ["httpx", "numpy", "httpx"]), ["pandas==2", "httpx", "numpy"]);
        assert.deepEqual(await store.readPackages(owner), ["pandas==2", "httpx", "numpy"]);
      }),
  },
  {
    id: "a change that fails changes nothing",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        const record = newRecord("demo");
        await store.createSession(owner, record, 10);
        const failure = new RangeError("not like this");
        const refuse = (): never => {
          throw failure;
        };
        await assert.rejects(store.updateSession(owner, "demo", refuse), failure);
        assert.deepEqual(await store.readSession(owner, "demo"), record);
        assert.deepEqual(await store.updateSession(owner, "demo", (present) => present), record);
      }),
  },
];
