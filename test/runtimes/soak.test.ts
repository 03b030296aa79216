import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "./soak.ts";

test("a short soak loses no acknowledged block, no state in silence, and leaves no sandbox", {
  timeout: 60_000,
}, async (context) => {
  const { broken, ...counts } = await soak({ runs: 60, sessions: 6, seed: 7 });
  context.diagnostic(JSON.stringify(counts));
  assert.deepEqual(broken, []);
  assert.ok(counts.acknowledged > 30, "Most runs are acknowledged");
  assert.ok(counts.sandboxesKilled > 0 && counts.evictions > 0 && counts.storeFaults > 0);
});
