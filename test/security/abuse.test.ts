import assert from "node:assert/strict";
import { test } from "node:test";
import { measureAbuse } from "./abuse.ts";

test("10,000 requests of one owner: the other works on", { timeout: 120_000 }, async (context) => {
  const { quiet, beside, statuses } = await measureAbuse(10_000, 64);
  context.diagnostic(
    `quiet ${JSON.stringify(quiet)} beside ${JSON.stringify(beside)} answers ${JSON.stringify(statuses)}`,
  );
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  assert.equal(answered, 10_000);
  // What is let through is the limit and what it regains meanwhile; all else is told to come back later.
  assert.ok((statuses["429"] ?? 0) > 8_000, JSON.stringify(statuses));
  assert.deepEqual(Object.keys(statuses).sort(), ["200", "429"]);
  assert.ok(beside.calls > 10);
  assert.deepEqual([quiet.failed, beside.failed], [0, 0]);
  // How long it waits depends on the machine: that is for `npm run bench -- abuse`, which has both in turns.
});
