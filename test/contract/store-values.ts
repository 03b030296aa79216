import assert from "node:assert/strict";
import type { Block } from "../../src/core/session.ts";
import { append, newBlock, newRecord, type StoreCheck, watched, withStore } from "./store-subject.ts";

const JSON_LIKE = [
  "123",
  "-0",
  "1e3",
  "null",
  "true",
  "NaN",
  "{}",
  "[]",
  '{"v":1}',
  '"quoted"',
  "",
  " ",
  "base64:eA==",
  "undefined",
];
const UNICODE = [
  "\0",
  "\ud800",
  "\udfff\ud800",
  "a\u2028b\u2029",
  "\ufeff",
  "\u{1f40d}",
  "é\r\n\t\x1b[31m",
  "\x7f\x80",
  "\\u0000",
  "__proto__",
];

const LARGE = `"\\${"x".repeat(40)}${"蛇".repeat(40)}\u{1f40d}\ud800\n`.repeat(20_000);

/** What a store may do to the values it is given: nothing. */
export const valueChecks: readonly StoreCheck[] = [
  { id: "text that looks like JSON stays text", run: (subject) => roundTrip(subject, JSON_LIKE) },
  { id: "any Unicode survives", run: (subject) => roundTrip(subject, UNICODE) },
  {
    id: "large blocks are kept whole, and replaced whole",
    run: (subject) =>
      withStore(subject, async ({ store, owner }) => {
        await store.createSession(owner, newRecord("demo"), 10);
        for (const code of [LARGE, `${LARGE}!`, "small", `${LARGE}?`, LARGE.slice(0, 100_000)]) {
          await store.writeBlock(owner, "demo", newBlock(0, code));
          assert.ok((await store.readBlocks(owner, "demo", [0]))[0]?.code === code, `${code.length} characters`);
        }
      }),
  },
  {
    id: "a session can hold large code in flight",
    run: (subject) =>
      withStore(subject, async ({ store, owner, again }) => {
        await store.createSession(owner, newRecord("demo"), 10);
        for (const code of [LARGE, "small", LARGE]) await append(store, owner, "demo", code);
        assert.ok((await again({}).readSession(owner, "demo"))?.pending?.code === LARGE);
        const settled = await store.updateSession(owner, "demo", (record) => ({ ...record, pending: null }));
        assert.deepEqual(await again({}).readSession(owner, "demo"), settled);
        assert.deepEqual(settled.live, [[0, 3]]);
      }),
  },
  {
    id: "a run costs the same however long the history is",
    run: (subject) =>
      withStore(subject, async ({ owner, storage, again }) => {
        const calls: string[] = [];
        const store = again({ storage: watched(storage, (method) => void calls.push(method)), exclusive: true });
        await store.createSession(owner, newRecord("demo"), 10);
        const long = newRecord("long", { nextSequence: 100_000, live: [[0, 100_000]] });
        await store.createSession(owner, long, 10);
        for (const id of ["demo", "long"]) {
          calls.length = 0;
          const sequence = await append(store, owner, id);
          assert.deepEqual(calls, ["setItem", "setItem"], "the record and the block, and nothing is read");
          calls.length = 0;
          await store.readBlocks(owner, id, [sequence]);
          assert.deepEqual(calls, ["getItem"]);
        }
      }),
  },
];

async function roundTrip(subject: Parameters<StoreCheck["run"]>[0], texts: readonly string[]): Promise<void> {
  await withStore(subject, async ({ store, owner, again }) => {
    await store.createSession(owner, newRecord("demo", { lost: texts.join("|") }), 10);
    for (const [sequence, text] of texts.entries()) await store.writeBlock(owner, "demo", blockOf(sequence, text));
    const fresh = again({});
    assert.deepEqual((await fresh.readSession(owner, "demo"))?.lost, texts.join("|"));
    const blocks = await fresh.readBlocks(owner, "demo", [...texts.keys()]);
    assert.deepEqual(
      blocks,
      texts.map((text, sequence) => blockOf(sequence, text)),
    );
    const packages = texts.filter((text) => text !== "");
    await store.addPackages(owner, packages);
    assert.deepEqual(await fresh.readPackages(owner), packages);
  });
}

/** A block with `text` wherever a block holds text. */
function blockOf(sequence: number, text: string): Block {
  return {
    ...newBlock(sequence, text),
    outputs: [
      { type: "stream", name: "stderr", text, late: true, dropped: 3 },
      { type: "execute_result", data: { "text/plain": text, "application/json": text } },
    ],
    error: { name: text, message: text, traceback: text },
    note: text,
    by: text,
  };
}
