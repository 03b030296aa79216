import type { SubprocessKernel } from "./kernel.ts";

/** Kernels started ahead, for the sessions that start in the default folder. */
export type WarmPool = {
  /** A kernel that is ready; starts another one soon. */
  take(): SubprocessKernel | undefined;
  close(): void;
};

export type WarmPoolOptions = {
  readonly size: number;
  readonly start: () => Promise<SubprocessKernel>;
  readonly log: (line: string) => void;
};

/** After this time without a new session the pool is emptied: an idle server keeps no spare process. */
const IDLE_MS = 60_000;
/** Refilling waits until the kernel just taken has run its first cell. */
const REFILL_MS = 250;

/** Fills itself only after `take` was called, so that a server without sessions starts nothing. */
export function createWarmPool(options: WarmPoolOptions): WarmPool {
  const kernels: SubprocessKernel[] = [];
  let closed = false;
  let refill: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;

  const empty = (): void => kernels.splice(0).forEach((kernel) => void kernel.shutdown());
  const fill = async (): Promise<void> => {
    while (!closed && kernels.length < options.size) {
      const kernel = await options.start();
      if (closed || kernels.length >= options.size) return kernel.shutdown();
      kernels.push(kernel);
    }
  };
  const stopTimers = (): void => {
    clearTimeout(refill);
    clearTimeout(idle);
  };
  const fillLater = (): void => {
    stopTimers();
    const fail = (error: unknown): void => options.log(`A spare kernel could not be started: ${String(error)}`);
    refill = setTimeout(() => void fill().catch(fail), REFILL_MS).unref();
    idle = setTimeout(empty, IDLE_MS).unref();
  };
  return {
    take() {
      if (closed || options.size === 0) return undefined;
      fillLater();
      let kernel = kernels.shift();
      while (kernel && !kernel.alive) kernel = kernels.shift();
      return kernel;
    },
    close() {
      closed = true;
      stopTimers();
      empty();
    },
  };
}
