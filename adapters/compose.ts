import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PythonInfo } from "../src/backends/subprocess/find-python.ts";
import { type Config, isOwnSetting } from "../src/config.ts";
import type { Backend } from "../src/core/backend.ts";
import { createSessionService, type SessionService } from "../src/sessions/service.ts";
import { createHistoryStore } from "../src/store/history-store.ts";
import { createMcpSessions, type McpSessions } from "../src/store/mcp-sessions.ts";
import { dataFolder, openStorage } from "./drivers/open.ts";
import type { Log } from "./log.ts";
import { e2bOptions, limitsOf } from "./options.ts";
import type { OpenedSandbox } from "./sandbox/open.ts";
import { sweepEvery, sweepsByItself } from "./sweep.ts";

/** The server cannot start as it is set up. The message is one sentence that says what to change. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export type Composition = {
  readonly service: SessionService;
  /** Where MCP sessions of 2025 clients outlive the server; undefined when nothing of it outlives it. */
  readonly mcpSessions: McpSessions | undefined;
  /** For the person who starts the server: which Python, where history is kept. */
  readonly python: string;
  readonly history: string;
  /** Ends kernels and closes the store. @param graceMs How long running code may go on. */
  close(graceMs: number): Promise<void>;
};

/** Python files lie beside the bundle when built, and in `src` when the sources run. */
const WORKER = [new URL("./worker/main.py", import.meta.url), new URL("../src/worker/main.py", import.meta.url)];

/** Puts the parts together for runtimes that have processes and files: Node, Deno and Bun. */
export async function compose(config: Config, log: Log): Promise<Composition> {
  const chosen = await chooseBackend(config, log).catch((error: unknown) => asStartError(error));
  const { backend, python, sandbox } = chosen;
  const opened = await openStorage(config.REPL_STORAGE, process.env).catch((error: unknown) =>
    asStartError(error, "REPL_STORAGE: "),
  );
  const { storage, locks, exclusive, maxValueBytes } = opened;
  const store = createHistoryStore({
    storage,
    locks,
    exclusive,
    ...(maxValueBytes === undefined ? {} : { maxValueBytes }),
    log: (message) => log("store", { message }),
  });
  const cwd = sandbox ? sandbox.startFolder : (config.REPL_CWD ?? config.REPL_ROOT);
  const service = createSessionService({
    store,
    ...(exclusive ? {} : { locks }),
    backend,
    limits: limitsOf(config),
    recovery: config.REPL_RECOVERY,
    allowUrls: config.REPL_ALLOW_URLS,
    ...(cwd === undefined ? {} : { defaultCwd: cwd }),
    now: Date.now,
    log,
  });
  const exists = async (owner: string, id: string): Promise<boolean> =>
    (await store.readSession(owner, id)) !== undefined;
  sandbox?.sandbox.sweep(exists).catch((error: unknown) => log("sandbox", { line: String(error) }));
  const stopSweeping = sweepsByItself(config) ? sweepEvery(e2bOptions(config, log), store, log) : () => undefined;
  return {
    service,
    mcpSessions: exclusive ? undefined : createMcpSessions(opened),
    python,
    history: opened.description,
    async close(graceMs) {
      stopSweeping();
      await service.close(graceMs);
      await opened.close();
      await sandbox?.close();
    },
  };
}

/** `prefix` names the setting, where the message of the part does not. */
function asStartError(error: unknown, prefix = ""): never {
  throw new StartError(prefix + (error instanceof Error ? error.message : String(error)));
}

type Chosen = { readonly backend: Backend; readonly python: string; readonly sandbox?: OpenedSandbox };

async function chooseBackend(config: Config, log: Log): Promise<Chosen> {
  if (config.REPL_BACKEND === "e2b") {
    const { createE2bBackend } = await import("../src/backends/e2b/backend.ts");
    return { backend: createE2bBackend(e2bOptions(config, log)), python: "E2B cloud sandboxes" };
  }
  const { createSubprocessBackend, findPython } = await import("./subprocess.ts");
  const python = await findPython({ ...process.env, REPL_PYTHON: config.REPL_PYTHON });
  const root = config.REPL_ROOT === undefined ? {} : { root: madeFolder(config.REPL_ROOT) };
  const worker = workerPath();
  const sandbox = await chooseSandbox(config, python, worker, log);
  const backend = createSubprocessBackend({
    python,
    workerPath: worker,
    env: kernelEnvironment(),
    venvDir: join(dataFolder(process.env), "venv"),
    ...root,
    ...(config.REPL_CWD === undefined ? {} : { defaultCwd: config.REPL_CWD }),
    ...(config.REPL_MEMORY_MB === 0 ? {} : { memoryMb: config.REPL_MEMORY_MB }),
    warmKernels: config.REPL_WARM_KERNELS,
    yields: config.auth.mode !== "none",
    ...(sandbox ? { sandbox: sandbox.sandbox } : {}),
    log: (line) => log("worker", { line }),
  });
  const named = `Python ${python.version} (${python.executable})`;
  return sandbox ? { backend, python: `${named}, confined by bubblewrap`, sandbox } : { backend, python: named };
}

async function chooseSandbox(
  config: Config,
  python: PythonInfo,
  workerPath: string,
  log: Log,
): Promise<OpenedSandbox | undefined> {
  if (config.REPL_SANDBOX === "off") return undefined;
  const { openSandbox } = await import("./sandbox/open.ts");
  return openSandbox(config, { python, workerPath, log });
}

function madeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

/** A copy of the server's environment without its own settings and secrets. */
function kernelEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name, value]) => value !== undefined && !isOwnSetting(name));
  return Object.fromEntries(entries) as Record<string, string>;
}

function workerPath(): string {
  for (const url of WORKER) {
    const path = fileURLToPath(url);
    try {
      accessSync(path, constants.R_OK);
      return path;
    } catch {
      // The next place is tried; when none has it, the error below says so.
    }
  }
  throw new StartError("The worker's Python files are missing; install the package again");
}
