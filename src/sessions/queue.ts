import { deferred } from "../core/deferred.ts";
import { AppError } from "../core/errors.ts";

/** Runs tasks one after the other in order of arrival. */
export type Queue = {
  /** Tasks that run or wait. */
  readonly length: number;
  /**
   * @param signal Gives up waiting; a task that runs is not touched.
   * @throws AppError SESSION_BUSY when `limit` tasks wait already, CANCELLED when the signal fires before its turn.
   */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when all tasks known by now have ended. */
  idle(): Promise<unknown>;
};

export function createQueue(limit: number): Queue {
  let last: Promise<unknown> = Promise.resolve();
  let length = 0;
  return {
    get length() {
      return length;
    },
    idle: () => last,
    async run(task, signal) {
      if (length > limit) {
        throw new AppError("SESSION_BUSY", `The session has ${limit} calls waiting, its limit; wait for their replies`);
      }
      length += 1;
      const previous = last;
      const done = deferred<void>();
      last = previous.then(() => done.promise);
      try {
        await turn(previous, signal);
        return await task();
      } finally {
        length -= 1;
        done.resolve();
      }
    },
  };
}

function turn(previous: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(new AppError("CANCELLED", "The call was cancelled before its turn came"));
    if (signal.aborted) return give();
    signal.addEventListener("abort", give, { once: true });
    previous.then(() => {
      signal.removeEventListener("abort", give);
      resolve();
    });
  });
}
