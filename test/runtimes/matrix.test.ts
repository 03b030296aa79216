import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { cleanEnvironment, freePort } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import type { ReplClient } from "../http/client.ts";
import { noRedis, type RedisServer, startRedis } from "../stores/redis-server.ts";
import { checkCell, checkRestarted, connectTo, type Result, tableOf } from "./matrix.ts";
import { missing, RUNTIMES, type ServerRuntime, type StoreName } from "./runtimes.ts";
import { e2bSettings, LEGACY, legOf, MODERN, SSE } from "./setup.ts";
import { startWorkerd } from "./workerd.ts";

/** Every runtime with every backend and store it has, through clients of every era; a few checks each. */

const LEGS = [MODERN, LEGACY, SSE];
const STDIO = [legOf("stdio", "2026"), legOf("stdio", "2025", "v1")];
const folder = mkdtempSync(join(tmpdir(), "matrix-"));
const results: Result[] = [];
let standIn: StandIn;
let redis: RedisServer | undefined;

before(async () => {
  standIn = await startStandIn({ maxConcurrent: 100 });
  if (!noRedis) redis = await startRedis();
});
after(async () => {
  await standIn.close();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

type Place = { readonly runtime: ServerRuntime; readonly backend: "subprocess" | "e2b"; readonly store: StoreName };

function settingsOf({ runtime, backend, store }: Place): Record<string, string> {
  const at = join(folder, `${runtime.name}-${backend}`);
  const stores: Record<StoreName, string> = {
    memory: "memory",
    fs: `fs:${at}`,
    sqlite: `sqlite:${at}.db`,
    redis: `${redis?.url}/${RUNTIMES.indexOf(runtime) * 2 + (backend === "e2b" ? 1 : 0)}`,
    "deno-kv": `deno-kv:${at}.kv`,
  };
  const sandboxes = backend === "e2b" ? e2bSettings(standIn) : { REPL_BACKEND: "subprocess" };
  // A command that names its store is run as it is; Deno then keeps its database in the folder of its caches.
  const kept = isConfined({ runtime, backend, store }) ? { DENO_DIR: at } : { REPL_STORAGE: stores[store] };
  return { ...sandboxes, ...kept, REPL_LOG: "off" };
}

function isConfined({ runtime, backend, store }: Place): boolean {
  return runtime.confined !== undefined && backend === "e2b" && store === "deno-kv";
}

/** Runs the checks of one cell and notes how they went. */
async function note(cell: Omit<Result, "outcome">, work: () => Promise<void>): Promise<void> {
  const at = results.push({ ...cell, outcome: "failed" }) - 1;
  await work();
  results[at] = { ...cell, outcome: "ok" };
}

const SESSION = "matrix";

for (const runtime of RUNTIMES) {
  describe(runtime.name, { concurrency: 2, skip: missing(runtime) }, () => {
    for (const store of runtime.stores) {
      for (const backend of ["subprocess", "e2b"] as const) {
        const skip = store === "redis" ? noRedis : false;
        test(`${backend}, ${store}`, { skip, timeout: 60_000 }, () => checkPlace({ runtime, backend, store }));
      }
    }
    test("subprocess over stdio", { timeout: 60_000 }, async () => {
      for (const leg of STDIO) {
        const env = cleanEnvironment({ MCP_TRANSPORT: "stdio", REPL_STORAGE: "memory", REPL_LOG: "off" });
        await note({ runtime: runtime.name, backend: "subprocess", store: "memory", leg }, async () => {
          const client = await leg.connect({ command: runtime.stdio, env });
          await checkCell(client, SESSION, true);
          await client.close();
        });
      }
    });
  });
}

/** On each store that lasts, and, with sandboxes, on the last of them: a server is started twice as often then. */
function isRestarted({ runtime, backend, store }: Place): boolean {
  return store !== "memory" && (backend === "subprocess" || store === runtime.stores.at(-1));
}

/** All eras at one server; then a server that is killed and started again. */
async function checkPlace(place: Place): Promise<void> {
  const { runtime, backend, store } = place;
  const env = { ...settingsOf(place), MCP_PORT: String(await freePort()) };
  const command = isConfined(place) ? runtime.confined : runtime.http;
  let server: ServerProcess = await startServer(env, command);
  const clients: ReplClient[] = [];
  try {
    for (const leg of LEGS) {
      await note({ runtime: runtime.name, backend, store, leg }, async () => {
        const client = await connectTo(leg, { url: server.url });
        clients.push(client);
        await checkCell(client, SESSION, leg === MODERN);
      });
    }
    if (!isRestarted(place)) return;
    await server.stop("SIGKILL");
    server = await startServer(env, command);
    // Clients go on as if nothing had happened, those of 2025 too.
    for (const [index, client] of clients.slice(0, 2).entries()) {
      await checkRestarted(client, SESSION, backend === "e2b", index === 0);
    }
  } finally {
    await clients[0]?.call("delete_session", { session_id: SESSION }).catch(() => undefined);
    await Promise.all(clients.map((client) => client.close()));
    await server.stop();
  }
}

test("workerd: e2b, Durable Object", { timeout: 60_000 }, async () => {
  const worker = await startWorkerd({ env: { ...e2bSettings(standIn), REPL_LOG: "off" } });
  const clients: ReplClient[] = [];
  try {
    for (const leg of LEGS) {
      await note({ runtime: "workerd", backend: "e2b", store: "durable object", leg }, async () => {
        const client = await leg.connect({ url: worker.url });
        clients.push(client);
        await checkCell(client, SESSION, leg === MODERN);
      });
    }
    await worker.restart();
    const client = await MODERN.connect({ url: worker.url });
    await checkRestarted(client, SESSION, true, true);
    await client.call("delete_session", { session_id: SESSION });
    await client.close();
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await worker.stop();
  }
});

test("the matrix", (context) => {
  for (const line of tableOf(results)) context.diagnostic(line);
});
