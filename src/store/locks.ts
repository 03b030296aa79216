/** Orders critical sections by key. A section must not ask for a key that it already holds: it would wait for itself. */
export interface Locks {
  /**
   * Waits until no other task holds `key`, then runs `task` and settles as it does.
   * @param signal Gives up waiting; a running task is not touched.
   * @throws `signal.reason` when it fires before the turn comes; an Error when the lock could not be had at all.
   */
  run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Locks within this process, in order of arrival. An idle key takes no memory. */
export function createLocalLocks(): Locks {
  const tails = new Map<string, Promise<void>>();
  return {
    async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      const before = tails.get(key);
      let leave = (): void => {};
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      // One who gives up still stands in the queue: those behind wait for the ones before it.
      const tail = before === undefined ? left : before.then(() => left);
      tails.set(key, tail);
      void tail.then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      try {
        signal?.throwIfAborted();
        if (before !== undefined) await turn(before, signal);
        return await task();
      } finally {
        leave();
      }
    },
  };
}

/**
 * What holds a key against other processes for as long as this one lives, however long that is. `release` must not
 * reject: what cannot be released runs out by itself.
 */
export interface Lease {
  release(): Promise<void>;
}

export type LeaseOptions = {
  /** How long a task that brings no signal waits, in milliseconds, before it is given up with an Error. */
  readonly waitMs?: number;
  /** The longest pause between two tries, in milliseconds. */
  readonly pauseMs?: number;
};

/**
 * Locks across processes from one atomic operation of the store. Tasks of this process queue in order of arrival; only
 * the first of them asks the store, again and again with growing, jittered pauses.
 * @param tryAcquire Resolves to undefined while another process holds the key.
 */
export function createLeaseLocks(
  tryAcquire: (key: string) => Promise<Lease | undefined>,
  { waitMs = 30_000, pauseMs = 50 }: LeaseOptions = {},
): Locks {
  const local = createLocalLocks();
  const acquire = async (key: string, signal: AbortSignal | undefined): Promise<Lease> => {
    let lease = await tryAcquire(key);
    const giveUpAt = lease === undefined && signal === undefined ? Date.now() + waitMs : Number.POSITIVE_INFINITY;
    for (let pause = 1; lease === undefined; pause = Math.min(pauseMs, pause * 1.5)) {
      if (Date.now() > giveUpAt) throw new Error(`Another process has held the lock "${key}" for ${waitMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
      signal?.throwIfAborted();
      lease = await tryAcquire(key);
    }
    return lease;
  };
  const hold = async <T>(key: string, task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    const lease = await acquire(key, signal);
    try {
      return await task();
    } finally {
      await lease.release();
    }
  };
  return { run: (key, task, signal) => local.run(key, () => hold(key, task, signal), signal) };
}

function turn(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return before;
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    before.then(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    });
  });
}
