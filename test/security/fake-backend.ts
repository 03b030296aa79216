import type { Backend, ExecuteOptions, Kernel, KernelFiles, KernelOptions } from "../../src/core/backend.ts";
import { deferred } from "../../src/core/deferred.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Cell, ExecutionReply } from "../../src/core/execution.ts";

export type FakeBackend = Backend & {
  /** Kernels that live. */
  readonly live: Set<FakeKernel>;
  /** What kernels were asked for. */
  readonly starts: KernelOptions[];
  /** What installations were asked for, with their owner. */
  readonly installs: { readonly owner: string | undefined; readonly requirements: readonly string[] }[];
};

/**
 * Kernels that cost nothing. Code `wait` runs until it is stopped, `print N` prints N characters, `raise` fails,
 * anything else is its own value.
 * @param options.leaseMs Makes it a remote backend, whose kernels end by themselves after this time.
 * @param options.starting Awaited before a kernel lives.
 */
export function createFakeBackend(
  options: {
    readonly leaseMs?: number;
    readonly now?: () => number;
    readonly starting?: (owner: string) => Promise<void>;
  } = {},
): FakeBackend {
  const live = new Set<FakeKernel>();
  const installs: FakeBackend["installs"] = [];
  const starts: KernelOptions[] = [];
  const remote = options.leaseMs !== undefined;
  const now = options.now ?? Date.now;
  const install: NonNullable<Backend["install"]> = async (requirements, { owner }) => {
    installs.push({ owner, requirements });
    return { installed: [...requirements], replaced: [] };
  };
  return {
    name: "fake",
    supports: {
      attach: remote,
      interrupt: true,
      files: true,
      sharedPackages: !remote,
      eagerStart: !remote,
      lateOutput: false,
    },
    live,
    starts,
    installs,
    async startKernel(wanted) {
      starts.push(wanted);
      await options.starting?.(wanted.owner);
      const kernel = new FakeKernel(wanted, live, options.leaseMs, now);
      live.add(kernel);
      return kernel;
    },
    attachKernel: async () => undefined,
    discardKernel: async () => undefined,
    ...(remote ? {} : { install }),
    async close() {
      await Promise.all([...live].map((kernel) => kernel.shutdown()));
    },
  };
}

export class FakeKernel implements Kernel {
  readonly ref = {};
  readonly options: KernelOptions;
  readonly files: KernelFiles = createFiles();
  readonly #live: Set<FakeKernel>;
  readonly #leaseMs: number | undefined;
  readonly #now: () => number;
  readonly #died = deferred<string>();
  #usedAt: number;

  constructor(options: KernelOptions, live: Set<FakeKernel>, leaseMs: number | undefined, now: () => number) {
    this.options = options;
    this.#live = live;
    this.#leaseMs = leaseMs;
    this.#now = now;
    this.#usedAt = now();
  }

  get died(): Promise<string> {
    return this.#died.promise;
  }

  get endsAt(): number {
    return this.#leaseMs === undefined ? Number.POSITIVE_INFINITY : this.#usedAt + this.#leaseMs;
  }

  async execute({ code }: Cell, { signal, onOutput }: ExecuteOptions): Promise<ExecutionReply> {
    this.#usedAt = this.#now();
    const size = /^print (\d+)$/.exec(code)?.[1];
    if (code === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    if (code === "wait") return { status: "aborted", kernelAlive: true };
    if (code === "raise") return { status: "error", error: { name: "E", message: "told", traceback: "E: told" } };
    if (size === undefined) onOutput({ type: "execute_result", data: { "text/plain": code } });
    else onOutput({ type: "stream", name: "stdout", text: "x".repeat(Number(size)) });
    return { status: "ok" };
  }

  async shutdown(): Promise<void> {
    this.#live.delete(this);
  }

  install(): Promise<never> {
    throw new AppError("NOT_SUPPORTED", "The backend installs for all");
  }
}

function createFiles(): KernelFiles {
  const contents = new Map<string, Uint8Array>();
  return {
    async read(path) {
      const data = contents.get(path);
      if (!data) throw new AppError("FILE_NOT_FOUND", `No file ${path}`);
      return { path, data };
    },
    async write(path, data) {
      const replaced = contents.has(path);
      contents.set(path, data);
      return { path, replaced };
    },
    list: async () => [],
  };
}
