import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cleanEnvironment, freePort, ROOT, type Running, runToEnd, start, until } from "../../test/helpers/process.ts";
import type { BenchContext } from "./bench.ts";
import { legacyClient, type McpClient } from "./mcp-client.ts";

/** Other MCP servers that run Python: installed into a folder of their own in the system's folder for temporary files. */

export type Peers = {
  readonly ready: readonly Peer[];
  /** Who could not be had, and why. */
  readonly skipped: readonly string[];
};

export type Peer = {
  readonly name: string;
  /** So slow that few calls must do. */
  readonly slow: boolean;
  /** Runs `1+1`. */
  readonly run: () => Promise<unknown>;
};

type Plan = {
  readonly name: string;
  readonly slow?: boolean;
  readonly requirements: readonly string[];
  /** @returns What runs `1+1`. @param bin The folder of the environment's programs. */
  readonly open: (context: BenchContext, bin: string) => Promise<() => Promise<unknown>>;
};

const INSTALL_MS = 300_000;
const READY_MS = 60_000;
const REASON_CHARS = 160;

/** The package that ours follows needs the SDK it was written for; `BENCH_FOLLOWED` names another source of it. */
export const FOLLOWED = [process.env.BENCH_FOLLOWED ?? "python-repl-mcp", "mcp<2"];

const PLANS: readonly Plan[] = [
  { name: "python-repl-mcp", requirements: FOLLOWED, open: openFollowed },
  { name: "jupyter-mcp-server", slow: true, requirements: ["jupyter-mcp-server", "ipykernel"], open: openJupyter },
  { name: "mcp-run-python", slow: true, requirements: ["mcp-run-python"], open: openPyodide },
];

export async function startPeers(context: BenchContext): Promise<Peers> {
  const ready: Peer[] = [];
  const skipped: string[] = [];
  for (const { name, slow = false, requirements, open } of context.withPeers ? PLANS : []) {
    try {
      const run = await open(context, await install(context, name, requirements));
      await run();
      ready.push({ name, slow, run });
    } catch (error) {
      skipped.push(`${name} skipped: ${reasonOf(error)}`);
    }
  }
  return { ready, skipped };
}

/** Makes a virtual environment once. @returns The folder of its programs. */
export async function install(context: BenchContext, name: string, requirements: readonly string[]): Promise<string> {
  const folder = join(tmpdir(), "edge-python-repl-bench", name);
  const done = join(folder, "installed");
  if (!existsSync(done)) {
    context.note(`installing ${requirements.join(", ")}`);
    mkdirSync(dirname(folder), { recursive: true });
    await must([context.python, "-m", "venv", folder]);
    await must([join(folder, "bin", "python"), "-m", "pip", "install", "--quiet", ...requirements]);
    writeFileSync(done, requirements.join("\n"));
  }
  return join(folder, "bin");
}

async function must(command: readonly [string, ...string[]]): Promise<void> {
  const { code, stderr } = await runToEnd(command, { limitMs: INSTALL_MS });
  if (code !== 0) throw new Error(stderr.trim() || `${command.join(" ")} ended with ${code}`);
}

async function openFollowed(context: BenchContext, bin: string): Promise<() => Promise<unknown>> {
  const port = await freePort();
  const settings = { MCP_TRANSPORT: "streamable-http", MCP_HOST: "127.0.0.1", MCP_PORT: String(port) };
  const server = await spawnPeer(context, [join(bin, "python"), "-m", "python_repl_mcp"], settings);
  const client = await connect(context, server, port);
  await client.call("create_session", { session_id: "s" });
  return () => client.call("run_code", { session_id: "s", code: "1+1" });
}

async function openJupyter(context: BenchContext, bin: string): Promise<() => Promise<unknown>> {
  const token = crypto.randomUUID();
  const [jupyter, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${jupyter}`;
  const options = ["--no-browser", "--ip=127.0.0.1", "--allow-root", `--IdentityProvider.token=${token}`];
  await spawnPeer(context, [
    join(bin, "jupyter-server"),
    ...options,
    `--port=${jupyter}`,
    "--ServerApp.port_retries=0",
  ]);
  const kernel = await until(() => newKernel(`${url}/api/kernels?token=${token}`), "a kernel of Jupyter", READY_MS);
  const where = ["--jupyter-url", url, "--jupyter-token", token, "--port", String(port)];
  const mode = ["--transport", "streamable-http", "--start-new-code-sandbox", "False", "--insecure-mcp-noauth"];
  const server = await spawnPeer(context, [join(bin, "jupyter-mcp-server"), "start", ...where, ...mode]);
  const client = await connect(context, server, port);
  return () => client.call("execute_code", { code: "1+1", kernel_id: kernel });
}

async function openPyodide(context: BenchContext, bin: string): Promise<() => Promise<unknown>> {
  const port = await freePort();
  const PATH = `${join(ROOT, "test/node_modules/.bin")}:${process.env.PATH}`; // It needs Deno.
  const server = await spawnPeer(context, [join(bin, "mcp-run-python"), "--port", String(port), "streamable-http"], {
    PATH,
  });
  const client = await connect(context, server, port);
  return () => client.call("run_python_code", { python_code: "1+1" });
}

async function newKernel(url: string): Promise<string | undefined> {
  const response = await fetch(url, { method: "POST", body: "{}" }).catch(() => undefined);
  return response?.ok ? ((await response.json()) as { id: string }).id : undefined;
}

async function spawnPeer(
  context: BenchContext,
  command: readonly [string, ...string[]],
  settings: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const server = await start(command, { env: cleanEnvironment(settings), cwd: context.folder });
  context.defer(async () => {
    server.child.kill("SIGTERM");
    await Promise.race([server.exited, new Promise((resolve) => setTimeout(resolve, 3000))]);
    server.child.kill("SIGKILL");
  });
  return server;
}

async function connect(context: BenchContext, server: Running, port: number): Promise<McpClient> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const tryIt = async (): Promise<McpClient | undefined> => {
    if (ended) throw new Error(server.stderr().trim());
    return legacyClient(url, { version: "2025-06-18", fresh: true }).catch(() => undefined);
  };
  const client = await until(tryIt, `an answer at ${url}`, READY_MS);
  context.defer(() => client.close());
  return client;
}

/** The last thing that a program said, without colours. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.replace(/\u001b\[[0-9;]*m/g, "").split("\n");
  const told = lines.filter((line) => /error|not found|failed/i.test(line)).at(-1) ?? lines.at(-1) ?? "";
  const sentence = /(?:ERROR|error): .*/.exec(told)?.[0] ?? told;
  return sentence.trim().slice(0, REASON_CHARS);
}
