import type { Backend, ExecuteOptions, Kernel, KernelOptions } from "../../src/core/backend.ts";
import { deferred } from "../../src/core/deferred.ts";
import { AppError } from "../../src/core/errors.ts";
import type { Cell, ExecutionReply } from "../../src/core/execution.ts";

/**
 * A backend whose kernels understand a few words, for tests of what is above backends: `set A`, `get A` (an error when it
 * is not set), `print TEXT`, `make FILE`, `wait` (until the signal), `stuck` (killed by it), `die`, `refuse`, `down`.
 */
export type FakeBackend = Backend & {
  readonly started: KernelOptions[];
  /** Ends the newest kernel by itself, as a crash between two runs does. */
  crash(detail: string): void;
  readonly open: Set<Kernel>;
};

export function createFakeBackend(supports: Partial<Backend["supports"]> = {}): FakeBackend {
  const started: KernelOptions[] = [];
  const open = new Set<Kernel>();
  let newest: ((detail: string) => void) | undefined;
  const startKernel = async (options: KernelOptions): Promise<Kernel> => {
    if (options.cwd === "/missing") throw new AppError("INVALID_CWD", "The folder /missing does not exist");
    started.push(options);
    const { kernel, crash } = createFakeKernel(options, (ended) => open.delete(ended));
    open.add(kernel);
    newest = crash;
    return kernel;
  };
  return {
    name: "fake",
    supports: {
      attach: false,
      interrupt: true,
      files: true,
      sharedPackages: true,
      eagerStart: true,
      lateOutput: true,
      ...supports,
    },
    started,
    open,
    crash: (detail) => newest?.(detail),
    startKernel,
    attachKernel: async () => undefined,
    discardKernel: async () => undefined,
    close: async () => {
      await Promise.all([...open].map((kernel) => kernel.shutdown()));
    },
  };
}

function createFakeKernel(options: KernelOptions, onEnd: (kernel: Kernel) => void) {
  const names = new Set<string>();
  const died = deferred<string>();
  const ended = deferred<void>();
  const kernel: Kernel = {
    ref: { epoch: options.epoch },
    died: died.promise,
    execute: (cell, call) => Promise.race([runWord(names, cell, call), ended.promise.then(() => gone("shut down"))]),
    async shutdown() {
      ended.resolve();
      onEnd(kernel);
    },
    files: {
      read: async (path) => ({ path, data: new Uint8Array() }),
      write: async (path) => ({ path, replaced: false }),
      list: async () => [],
    },
    install: async () => ({ installed: [], replaced: [] }),
  };
  const crash = (detail: string): void => {
    died.resolve(detail);
    onEnd(kernel);
  };
  return { kernel, crash };
}

/** Each file that is made is one byte larger than the one before. */
let made = 0;

const gone = (detail: string): ExecutionReply => ({ status: "died", detail });

async function runWord(names: Set<string>, cell: Cell, { signal, onOutput }: ExecuteOptions): Promise<ExecutionReply> {
  const [word, rest = ""] = (cell.path ?? cell.code).split(/ (.*)/s);
  if (word === "refuse") throw new AppError("FILE_NOT_FOUND", `The file ${rest} does not exist`);
  if (word === "down") throw new AppError("BACKEND_UNAVAILABLE", "The backend is down");
  if (word === "set") names.add(rest);
  if (word === "print") onOutput({ type: "stream", name: "stdout", text: `${rest}\n` });
  if (word === "get" && !names.has(rest)) {
    const message = `name '${rest}' is not defined`;
    return { status: "error", error: { name: "NameError", message, traceback: `NameError: ${message}` } };
  }
  if (word === "make") {
    made += 1;
    return { status: "ok", files: { folder: "/home/me", changed: [{ path: rest, size: made }], more: 0 } };
  }
  if (word === "die") return gone("killed by SIGSEGV");
  if (word === "wait" || word === "stuck") {
    onOutput({ type: "stream", name: "stdout", text: "started\n" });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { status: "aborted", kernelAlive: word === "wait" };
  }
  return { status: "ok" };
}
