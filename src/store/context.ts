import type { Locks } from "./locks.ts";
import type { Records } from "./records.ts";
import { guarded, type Values } from "./values.ts";

/** What the parts of the history store share. */
export type StoreContext = {
  readonly values: Values;
  readonly records: Records;
  readonly locks: Locks;
  readonly log: (message: string) => void;
};

/** Runs `task` under the lock. That the lock cannot be had is STORAGE_UNAVAILABLE; errors of the task stay as they are. */
export async function locked<T>({ locks }: StoreContext, key: string, task: () => Promise<T>): Promise<T> {
  const outcome = await guarded(() =>
    locks.run(key, () =>
      task().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    ),
  );
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}
