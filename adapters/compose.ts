import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Config, isOwnSetting } from "../src/config.ts";
import type { Backend } from "../src/core/backend.ts";
import { createSessionService, type SessionService } from "../src/sessions/service.ts";
import { createHistoryStore } from "../src/store/history-store.ts";
import { dataFolder, openStorage } from "./drivers/open.ts";
import type { Log } from "./log.ts";
import { e2bOptions, limitsOf } from "./options.ts";

/** The server cannot start as it is set up. The message is one sentence that says what to change. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export type Composition = {
  readonly service: SessionService;
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
  const { backend, python } = await chooseBackend(config, log).catch((error: unknown) => asStartError(error));
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
  const cwd = config.REPL_CWD ?? config.REPL_ROOT;
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
  return {
    service,
    python,
    history: opened.description,
    async close(graceMs) {
      await service.close(graceMs);
      await opened.close();
    },
  };
}

/** `prefix` names the setting, where the message of the part does not. */
function asStartError(error: unknown, prefix = ""): never {
  throw new StartError(prefix + (error instanceof Error ? error.message : String(error)));
}

async function chooseBackend(config: Config, log: Log): Promise<{ backend: Backend; python: string }> {
  if (config.REPL_BACKEND === "e2b") {
    const { createE2bBackend } = await import("../src/backends/e2b/backend.ts");
    return { backend: createE2bBackend(e2bOptions(config, log)), python: "E2B cloud sandboxes" };
  }
  const { createSubprocessBackend, findPython } = await import("./subprocess.ts");
  const python = await findPython({ ...process.env, REPL_PYTHON: config.REPL_PYTHON });
  const backend = createSubprocessBackend({
    python,
    workerPath: workerPath(),
    env: kernelEnvironment(),
    venvDir: join(dataFolder(process.env), "venv"),
    ...(config.REPL_ROOT === undefined ? {} : { root: madeFolder(config.REPL_ROOT) }),
    ...(config.REPL_MEMORY_MB === 0 ? {} : { memoryMb: config.REPL_MEMORY_MB }),
    warmKernels: config.REPL_WARM_KERNELS,
    log: (line) => log("worker", { line }),
  });
  return { backend, python: `Python ${python.version} (${python.executable})` };
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
