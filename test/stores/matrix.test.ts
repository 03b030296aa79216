import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bun, denoRuntime, missing, node24, type Runtime } from "./runtimes.ts";

const FILES = ["local", "sqlite", "deno-kv", "fs-driver", "fs-logs", "fs-locks", "parts", "open"];
const LIMIT_MS = 60_000;

/** Runs the stores' tests, of which each skips what its runtime does not have. */
for (const runtime of [node24, denoRuntime, bun]) {
  const skip = missing(runtime);
  test(`the stores keep their contract on ${runtime.name}`, { skip }, () => {
    const { status, stdout, stderr, error } = spawnSync(runtime.program, [...runtime.test, ...FILES.map(pathOf)], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      env: environment(),
      encoding: "utf8",
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    assert.equal(error, undefined);
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.ok(passed(runtime, stdout + stderr) >= FILES.length * 10, "nearly all of them ran");
  });
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`${name}.test.ts`, import.meta.url));
}

/** Without what tells a test runner that it runs below another. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1" };
}

function passed(runtime: Runtime, output: string): number {
  const pattern = runtime.name === "node24" ? /pass (\d+)/ : runtime.name === "bun" ? /(\d+) pass/ : /(\d+) passed/;
  return Number(pattern.exec(output)?.[1] ?? 0);
}
