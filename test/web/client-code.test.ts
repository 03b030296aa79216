import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { ROOT } from "../helpers/process.ts";

it("what browsers run is made of its present sources (node scripts/embed-client.mjs)", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/embed-client.mjs", "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
});
