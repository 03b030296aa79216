import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { storeChecks } from "../contract/store-checks.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
/** The program itself: the package's script would neither pass the descriptor on nor die with its child. */
const workerd: string = createRequire(join(here, "../package.json"))("workerd").default;
const folder = mkdtempSync(join(tmpdir(), "durable-object-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "disk", disk = (path = "disk", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [(name = "STORE", durableObjectNamespace = "StoreObject")],
  durableObjectNamespaces = [(className = "StoreObject", uniqueKey = "store", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`;

/** Starts workerd and resolves with the address it listens on. */
async function startWorkerd(): Promise<{ url: string; stop(): Promise<void> }> {
  mkdirSync(join(folder, "disk"));
  writeFileSync(join(folder, "workerd.capnp"), CONFIG);
  await build({
    entryPoints: [join(here, "durable-object-worker.ts")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "import"],
    external: ["node:*"],
    logLevel: "error",
  });
  const args = ["serve", "workerd.capnp", "--control-fd=3"];
  const child = spawn(workerd, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit", "pipe"] });
  const stop = async (): Promise<void> => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill("SIGKILL")) await ended;
  };
  for await (const line of child.stdio[3] as Readable) {
    const port = /"event":"listen".*"port":(\d+)/.exec(String(line))?.[1];
    if (port !== undefined) return { url: `http://127.0.0.1:${port}`, stop };
  }
  throw new Error("workerd ended before it listened");
}

test("a Durable Object's storage keeps the store contract, in workerd", async () => {
  const { url, stop } = await startWorkerd();
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(50_000) });
    const outcomes = (await response.json()) as { id: string; error: string | null }[];
    assert.deepEqual(
      outcomes.filter(({ error }) => error !== null),
      [],
    );
    assert.equal(outcomes.length, storeChecks.filter(({ needs }) => needs === undefined).length);
  } finally {
    await stop();
  }
});
