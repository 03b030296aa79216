import type { Storage } from "unstorage";
import type { Block, SessionRecord } from "../core/session.ts";
import { deleteBlocks, readBlocks, writeBlock } from "./blocks.ts";
import type { StoreContext } from "./context.ts";
import type { Locks } from "./locks.ts";
import { addPackages, readPackages } from "./packages.ts";
import { createRecords } from "./records.ts";
import type { Usage } from "./schemas.ts";
import { createSession, deleteSession, listSessions, updateSession } from "./sessions.ts";
import { readUsage, writeUsage } from "./usage.ts";
import { createValues } from "./values.ts";

/**
 * Sessions and their histories. Every method rejects with AppError STORAGE_UNAVAILABLE when the store fails. What one
 * call writes is there whole or not at all; values that make no sense are taken as absent and logged.
 *
 * A run costs one `updateSession` at its begin and one `writeBlock` at its end, however long the history is.
 */
export interface HistoryStore {
  /** In order of creation. */
  listSessions(owner: string): Promise<SessionRecord[]>;
  readSession(owner: string, id: string): Promise<SessionRecord | undefined>;
  /**
   * @param limit How many sessions the owner may have.
   * @throws AppError SESSION_EXISTS, SESSION_LIMIT; also when two calls race, in this process or in another.
   */
  createSession(owner: string, record: SessionRecord, limit: number): Promise<void>;
  /**
   * Replaces the record by what `change` makes of it, and returns that. No other update of the session comes between.
   * Returning the record that was given writes nothing.
   * @throws AppError SESSION_NOT_FOUND; what `change` throws, with nothing changed.
   */
  updateSession(owner: string, id: string, change: (record: SessionRecord) => SessionRecord): Promise<SessionRecord>;
  /** Removes the session with all its blocks; false when there was none. When cut off, calling it again finishes. */
  deleteSession(owner: string, id: string): Promise<boolean>;
  /** In the order of `sequences`; undefined where there is no block. */
  readBlocks(owner: string, id: string, sequences: readonly number[]): Promise<(Block | undefined)[]>;
  /** Adds the block or replaces the one of the same sequence number. */
  writeBlock(owner: string, id: string, block: Block): Promise<void>;
  /** Does not touch the session's record: take the sequence numbers out of it first. */
  deleteBlocks(owner: string, id: string, sequences: readonly number[]): Promise<void>;
  /** Requirements installed for the owner, in order. */
  readPackages(owner: string): Promise<string[]>;
  /** Puts the requirements at the end of the list, each once, and returns it. @throws AppError LIMIT_REACHED. */
  addPackages(owner: string, requirements: readonly string[]): Promise<string[]>;
  /** Minutes of sandboxes that the owner has used on one day. */
  readUsage(owner: string): Promise<Usage | undefined>;
  writeUsage(owner: string, usage: Usage): Promise<void>;
}

export type HistoryStoreOptions = {
  readonly storage: Storage;
  readonly locks: Locks;
  /** No other process writes to this store: records are kept in memory, so that an update reads nothing. */
  readonly exclusive?: boolean;
  /** The store's own limit for one value, in bytes; larger ones are cut into parts. Absent: no limit. */
  readonly maxValueBytes?: number | undefined;
  /** Told of damaged values and of what could not be cleaned up. */
  readonly log?: (message: string) => void;
};

export function createHistoryStore(options: HistoryStoreOptions): HistoryStore {
  const { storage, locks, maxValueBytes, exclusive = false, log = () => {} } = options;
  const values = createValues({ storage, log, maxValueBytes });
  const context: StoreContext = { values, locks, log, records: createRecords(values, exclusive, log) };
  return {
    listSessions: (owner) => listSessions(context, owner),
    readSession: (owner, id) => context.records.readSession(owner, id),
    createSession: (owner, record, limit) => createSession(context, owner, record, limit),
    updateSession: (owner, id, change) => updateSession(context, owner, id, change),
    deleteSession: (owner, id) => deleteSession(context, owner, id),
    readBlocks: (owner, id, sequences) => readBlocks(context, owner, id, sequences),
    writeBlock: (owner, id, block) => writeBlock(context, owner, id, block),
    deleteBlocks: (owner, id, sequences) => deleteBlocks(context, owner, id, sequences),
    readPackages: (owner) => readPackages(context, owner),
    addPackages: (owner, requirements) => addPackages(context, owner, requirements),
    readUsage: (owner) => readUsage(context, owner),
    writeUsage: (owner, usage) => writeUsage(context, owner, usage),
  };
}
