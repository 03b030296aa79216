import assert from "node:assert/strict";
import { test } from "node:test";
import { storeChecks } from "../contract/store-checks.ts";
import { brokenStores, sharedMemory } from "./broken-stores.ts";

test("every check of the store contract has a store that breaks it", () => {
  assert.deepEqual(Object.keys(brokenStores).sort(), storeChecks.map(({ id }) => id).sort());
});

for (const { id, run } of storeChecks) {
  test(`a good store passes, and a broken one is caught: ${id}`, async () => {
    await run(sharedMemory());
    const broken = brokenStores[id];
    assert.ok(broken);
    await assert.rejects(run(broken()), (error: unknown) => error instanceof Error);
  });
}
