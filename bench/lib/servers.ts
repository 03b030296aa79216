import { fileURLToPath } from "node:url";
import { cleanEnvironment, type Environment, type Running, start, until } from "../../test/helpers/process.ts";
import { type ServerProcess, startServer } from "../../test/helpers/server.ts";
import type { BenchContext } from "./bench.ts";
import { type McpClient, modernClient } from "./mcp-client.ts";

const PROBE = fileURLToPath(new URL("./probe.mjs", import.meta.url));

/** Our server in a process of its own; ended with the bench. */
export async function startOurs(context: BenchContext, env: Environment = {}): Promise<ServerProcess> {
  const command = [process.execPath, "--expose-gc", "--import", PROBE, `${context.dist}/cli.js`] as const;
  const server = await startServer({ REPL_PYTHON: context.python, ...env }, [...command]);
  context.defer(() => server.stop());
  return server;
}

export type Floor = { readonly url: URL; readonly pid: number };

/** The bare SDK in a process of its own; ended with the bench. */
export async function startFloor(context: BenchContext): Promise<Floor> {
  const env = cleanEnvironment({ BENCH_PYTHON: context.python });
  const running = await start([process.execPath, `${context.dist}/floor.js`], { env });
  context.defer(() => running.child.kill());
  return { url: new URL(await servedAt(running)), pid: running.pid };
}

function servedAt(running: Running): Promise<string> {
  return until(() => /serves (http:\S+)/.exec(running.stderr())?.[1], "the floor to say where it serves");
}

/** A client whose connection ends with the bench. */
export function connect(context: BenchContext, url: URL): McpClient {
  const client = modernClient(url);
  context.defer(() => client.close());
  return client;
}

/** Creates a session that has run a first cell. @throws Error when either call is refused. */
export async function openSession(client: McpClient, id: string): Promise<void> {
  for (const [tool, args] of [
    ["create_session", { session_id: id }],
    ["run_code", { session_id: id, code: "1" }],
  ] as const) {
    const { isError, content } = await client.call(tool, args);
    if (isError) throw new Error(`${tool}: ${content[0]?.text}`);
  }
}

export type Memory = {
  readonly heapUsed: number;
  readonly rss: number;
  readonly timers: number;
  readonly descriptors: number;
};

/** What the process holds after a full garbage collection. */
export async function memoryOf(server: ServerProcess): Promise<Memory> {
  const asked = server.stderr().length;
  process.kill(server.pid, "SIGUSR2");
  const line = await until(() => /^probe (.*)$/m.exec(server.stderr().slice(asked))?.[1], "the server's memory");
  return JSON.parse(line) as Memory;
}
