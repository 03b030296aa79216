import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createDenoKvLocks, type DenoKv } from "../../adapters/drivers/deno-kv.ts";
import { openStorage } from "../../adapters/drivers/open.ts";
import { storeSuite } from "../contract/store-suite.ts";

const { Deno: deno } = globalThis as { Deno?: { openKv?: (path: string) => Promise<DenoKv> } };
const openKv = deno?.openKv;
const folder = mkdtempSync(join(tmpdir(), "deno-kv-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const supports = { sharing: true };

if (openKv) {
  storeSuite(
    "deno-kv",
    () => ({ supports, open: () => openStorage(`deno-kv:${join(folder, "store")}`, {}) }),
    supports,
  );
}

test("deno-kv: a runtime without it is told in one sentence", { skip: openKv && "this runtime has it" }, async () => {
  const expected = deno ? /started with --unstable-kv/ : /^Error: deno-kv needs Deno; on this runtime use/;
  await assert.rejects(openStorage("deno-kv:", {}), expected);
});

test("deno-kv: a lock that is held is renewed, one that is left runs out", {
  skip: !openKv && "no Deno KV",
}, async () => {
  assert.ok(openKv);
  const kv = await openKv(join(folder, "locks"));
  const leaseMs = 300;
  const [one, other] = [createDenoKvLocks(kv, leaseMs), createDenoKvLocks(kv, leaseMs)];
  const order: string[] = [];
  const held = one.run("key", async () => {
    await new Promise((resolve) => setTimeout(resolve, 3 * leaseMs)); // Only a renewal keeps the lock so long.
    order.push("one");
  });
  await Promise.all([held, other.run("key", async () => void order.push("other"))]);
  assert.deepEqual(order, ["one", "other"]);
  await kv.set(["edge-python-repl-locks", "left"], Date.now() + leaseMs);
  assert.equal(await one.run("left", async () => 7), 7);
  kv.close();
});
