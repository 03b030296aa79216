import { resolve } from "node:path";
import type { Backend, Supports } from "../../core/backend.ts";
import type { PythonInfo } from "./find-python.ts";
import { type KernelSettings, SubprocessKernel } from "./kernel.ts";
import { createKernelSet } from "./kernel-set.ts";
import { createPackages, type Packages } from "./packages.ts";
import type { Command, Sandbox } from "./sandbox.ts";
import { createWarmPool } from "./warm-pool.ts";
import { resolveFolder } from "./working-folder.ts";

export type SubprocessOptions = {
  readonly python: PythonInfo;
  /** The worker's `main.py`. */
  readonly workerPath: string;
  /** Environment of kernels and of the installer: a copy of the server's without its settings and secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder for our virtual environment, made when the interpreter may not be changed. */
  readonly venvDir: string;
  readonly log: (line: string) => void;
  /** Folder that file operations may not leave. */
  readonly root?: string;
  /** Folder of sessions that name none; default `root`, else the server's own. */
  readonly defaultCwd?: string;
  /** Soft limit of a kernel's memory; absent or 0: none. */
  readonly memoryMb?: number;
  /** Confines each kernel; then it decides about folders, environment and memory, and packages are the owner's own. */
  readonly sandbox?: Sandbox;
  /** Kernels yield the processor to the server, and those of an owner who has many to those of one who has few. */
  readonly yields?: boolean;
  /** Milliseconds from an interrupt to the kill; default 2000. */
  readonly graceMs?: number;
  /** Bytes of a cell's printed text that are kept, the first and the last; default 512 KiB each. */
  readonly headBytes?: number;
  readonly tailBytes?: number;
  /** Kernels started ahead; default 0. */
  readonly warmKernels?: number;
  /** Milliseconds that one installation may take; default 10 minutes. */
  readonly installMs?: number;
};

const SUPPORTS: Supports = {
  attach: false,
  interrupt: true,
  files: true,
  sharedPackages: true,
  eagerStart: true,
  lateOutput: true,
};

const KEPT_BYTES = 512 * 1024;
const GRACE_MS = 2000;
const INSTALL_MS = 600_000;
/** Niceness of an owner's first kernel, what each further one has more, and the most that there is. */
const NICE = { first: 5, further: 5, most: 19 };

/** `cwd`: an existing folder, or in a sandbox what the caller asked for. */
type Place = {
  readonly owner: string;
  readonly sessionId: string;
  readonly cwd: string | undefined;
  readonly nice: number;
};

/** Runs each kernel as a process of this machine, with the server's own rights unless a sandbox confines it. */
export function createSubprocessBackend(options: SubprocessOptions): Backend {
  const { python, env, venvDir, sandbox, log } = options;
  const packages = createPackages({ python, env, venvDir, sandbox, log, limitMs: options.installMs ?? INSTALL_MS });
  const defaultCwd = resolve(options.defaultCwd ?? options.root ?? process.cwd());
  const kernels = createKernelSet(async (place: Place) =>
    SubprocessKernel.start(await settingsOf(options, packages, place)),
  );
  // A sandbox is made for one owner, so nothing can be started ahead for all.
  const pool = createWarmPool({
    size: sandbox ? 0 : (options.warmKernels ?? 0),
    start: () => kernels.start({ owner: "", sessionId: "", cwd: defaultCwd, nice: niceness(options, 0) }),
    log,
  });
  return {
    name: "subprocess",
    supports: SUPPORTS,
    install: packages.install,
    ...(sandbox ? { forgetSession: (owner: string, sessionId: string) => sandbox.forget({ owner, sessionId }) } : {}),
    async startKernel({ owner, sessionId, cwd: wanted, others = 0 }) {
      const cwd = sandbox ? wanted : await resolveFolder(wanted, defaultCwd, options.root);
      const nice = niceness(options, others);
      const spare = cwd === defaultCwd && nice === niceness(options, 0) ? pool.take() : undefined;
      return spare ?? kernels.start({ owner, sessionId, cwd, nice });
    },
    attachKernel: async () => undefined,
    // Kernels end with the process that started them.
    discardKernel: async () => undefined,
    async close() {
      packages.close();
      pool.close();
      await kernels.close();
    },
  };
}

async function settingsOf(options: SubprocessOptions, packages: Packages, place: Place): Promise<KernelSettings> {
  const environment = await packages.environment(place.owner);
  const nice = place.nice === 0 ? [] : [String(place.nice)];
  const command: Command = [environment.python, "-X", "utf8", options.workerPath, ...nice];
  const start = options.sandbox
    ? await options.sandbox.kernel(command, { ...place, packages: environment.folder })
    : { command, cwd: place.cwd ?? "/", env: plainEnvironment(options) };
  return {
    ...start,
    sandboxed: options.sandbox !== undefined,
    graceMs: options.graceMs ?? GRACE_MS,
    headBytes: options.headBytes ?? KEPT_BYTES,
    tailBytes: options.tailBytes ?? KEPT_BYTES,
    log: options.log,
    install: (requirements, call) => packages.install(requirements, { ...call, owner: place.owner }),
  };
}

/** A sandbox gives its first part itself. */
function niceness({ yields = false, sandbox }: SubprocessOptions, others: number): number {
  const given = sandbox ? NICE.first : 0;
  return yields ? Math.min(NICE.first + others * NICE.further, NICE.most) - given : 0;
}

function plainEnvironment(options: SubprocessOptions): Record<string, string> {
  // It would keep the monitor from ending.
  const { PYTHONINSPECT: _, ...env } = options.env;
  return {
    ...env,
    ...(options.root === undefined ? {} : { EDGE_REPL_ROOT: options.root }),
    ...(options.memoryMb ? { EDGE_REPL_MEMORY_MB: String(options.memoryMb) } : {}),
  };
}
