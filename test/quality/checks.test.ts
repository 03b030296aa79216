import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { VERSION } from "../../src/version.ts";
import { ROOT } from "./sources.ts";

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(join(ROOT, "test/node_modules/.bin", program), args, {
    cwd: ROOT,
    encoding: "utf8",
  });
  return status === 0 ? "" : `${stdout}${stderr}`.slice(0, 4000);
}

test("the compiler accepts every file", () => {
  assert.equal(run("tsc", "-p", "."), "");
});

test("the formatter and linter accept every file", () => {
  assert.equal(run("biome", "check", "--error-on-warnings", "--max-diagnostics=20", "."), "");
});

test("the version is the same everywhere it is written", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  assert.equal(VERSION, version);
});

test("no lockfile names where packages come from", () => {
  for (const path of ["package-lock.json", "test/package-lock.json"]) {
    assert.doesNotMatch(readFileSync(join(ROOT, path), "utf8"), /"resolved":/);
  }
});
