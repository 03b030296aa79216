import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { SessionRecord } from "../../src/core/session.ts";
import { sequencesOf } from "../../src/store/ranges.ts";
import { newOwner } from "../contract/store-subject.ts";
import { noRedis, type RedisServer, startRedis } from "./redis-server.ts";
import { denoRuntime, here, missing, node24, type Runtime } from "./runtimes.ts";

const folder = mkdtempSync(join(tmpdir(), "processes-"));
const appender = join(folder, "appender.mjs");
const reader = join(folder, "reader.mjs");
let redis: RedisServer;

before(async () => {
  // Bundles start several times faster than sources, and there are many starts.
  await build({
    entryPoints: ["appender.ts", "reader.ts"].map((name) => fileURLToPath(new URL(name, import.meta.url))),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  if (!noRedis) redis = await startRedis();
});
after(async () => {
  if (!noRedis) await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** No process of this test lives longer, whatever goes wrong. */
const LIMIT_MS = 30_000;

type Case = {
  readonly store: string;
  readonly runtime: Runtime;
  readonly setting: () => string;
  /** Kills; where locks run out rather than being broken, each of them takes seconds. */
  readonly kills: number;
  readonly skip: string | false;
};
const cases: readonly Case[] = [
  { store: "fs", runtime: here, kills: 4, setting: () => `fs:${join(folder, "fs")}`, skip: false },
  {
    store: "sqlite",
    runtime: node24,
    kills: 4,
    setting: () => `sqlite:${join(folder, "store.db")}`,
    skip: missing(node24),
  },
  { store: "redis", runtime: here, kills: 2, setting: () => redis.url, skip: noRedis },
  {
    store: "deno-kv",
    runtime: denoRuntime,
    kills: 2,
    setting: () => `deno-kv:${join(folder, "kv")}`,
    skip: missing(denoRuntime),
  },
];

type Appender = { readonly child: ChildProcess; readonly lines: string[]; readonly ended: Promise<unknown> };

function start({ runtime, setting }: Case, script: string, ...args: readonly string[]): Appender {
  const child = spawn(runtime.program, [...runtime.run, script, setting(), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  child.once("close", () => clearTimeout(limit));
  const lines: string[] = [];
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => process.stderr.write(text));
  return { child, lines, ended: once(child, "close") };
}

/** What a server that is started afterwards finds: the record, and the code of each block by its sequence number. */
async function readAll(one: Case, owner: string): Promise<{ record: SessionRecord; codes: Map<number, string> }> {
  const { lines, ended } = start(one, reader, owner, "demo");
  await ended;
  const { record, blocks } = JSON.parse(lines.join("\n"));
  return { record, codes: new Map(blocks) };
}

/** Every line that an appender printed was acknowledged: `<sequence> <code>`. */
function assertKept(lines: readonly string[], found: Awaited<ReturnType<typeof readAll>>): void {
  const live = new Set(sequencesOf(found.record));
  for (const line of lines) {
    const [sequence, code] = line.split(" ");
    assert.equal(found.codes.get(Number(sequence)), code, `block ${line}`);
    assert.ok(live.has(Number(sequence)), `block ${line} is in the history`);
  }
}

for (const one of cases) {
  test(`${one.store}: three processes append to one session, and all blocks survive in order`, {
    skip: one.skip,
  }, async () => {
    const owner = newOwner();
    await start(one, reader, owner, "demo", "create").ended;
    const appenders = ["a", "b", "c"].map((name) => start(one, appender, owner, "demo", name, "40"));
    await Promise.all(appenders.map(({ ended }) => ended));
    const found = await readAll(one, owner);
    assert.deepEqual(found.record.live, [[0, 120]]);
    for (const { lines } of appenders) {
      assert.equal(lines.length, 40);
      assertKept(lines, found);
      const sequences = lines.map((line) => Number(line.split(" ")[0]));
      assert.deepEqual(
        sequences,
        [...sequences].sort((x, y) => x - y),
      );
    }
  });

  test(`${one.store}: what was acknowledged is there after kill -9 at any moment`, { skip: one.skip }, async () => {
    const owner = newOwner();
    await start(one, reader, owner, "demo", "create").ended;
    const acknowledged: string[] = [];
    for (let round = 0; round < one.kills; round += 1) {
      const appenders = ["a", "b"].map((name) => start(one, appender, owner, "demo", `${name}${round}`, "1000000"));
      await Promise.all(appenders.map(({ child }) => once(child.stdout as NodeJS.ReadableStream, "data")));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
      for (const { child } of appenders) child.kill("SIGKILL");
      await Promise.all(appenders.map(({ ended }) => ended));
      for (const { lines } of appenders) acknowledged.push(...lines);
    }
    assert.ok(acknowledged.length >= 2 * one.kills);
    assertKept(acknowledged, await readAll(one, owner));
  });
}
