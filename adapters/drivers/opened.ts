import { createStorage, type Driver, type Storage } from "unstorage";
import type { Locks } from "../../src/store/locks.ts";

/** A store that is open, with what the history store must know of it. */
export type OpenedStorage = {
  readonly storage: Storage;
  readonly locks: Locks;
  /** Nobody else can write to it. */
  readonly exclusive: boolean;
  /** Absent: values of any size. */
  readonly maxValueBytes?: number;
  /** Where history is kept, for a person; holds no password. */
  readonly description: string;
  close(): Promise<void>;
};

/** Puts a driver, by default memory, and what is to be known of it together. */
export function opened({
  driver,
  ...rest
}: Omit<OpenedStorage, "storage" | "close"> & { driver?: Driver }): OpenedStorage {
  const storage = createStorage(driver === undefined ? {} : { driver });
  return { ...rest, storage, close: () => storage.dispose() };
}
