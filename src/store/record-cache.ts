import type { SessionRecord } from "../core/session.ts";

/** Records in memory, for a store that no other process writes to. */
export interface RecordCache {
  get(key: string): SessionRecord | undefined;
  /** Keeps the record that `key` is known to hold. @param since What `changes` was before that was found out. */
  set(key: string, record: SessionRecord, since: number): void;
  /** To be called before and after a change of what `key` holds. */
  drop(key: string): void;
  /** Goes up with every change: what a slow reader found may be out of date by now. */
  changes(): number;
}

/** The least recently used beyond this are read again; a record takes about a kilobyte. */
const MAX_CACHED = 1_000;
/** Records with longer code in flight, or with more gaps in their history, are read again too. */
export const MAX_CACHED_CODE = 16_384;
const MAX_CACHED_RANGES = 1_000;

export function createRecordCache(): RecordCache {
  const records = new Map<string, SessionRecord>();
  let changes = 0;
  const put = (key: string, record: SessionRecord): void => {
    records.delete(key);
    records.set(key, record);
  };
  return {
    get(key) {
      const record = records.get(key);
      if (record !== undefined) put(key, record);
      return record;
    },
    set(key, record, since) {
      if (since !== changes || !isSmall(record)) return;
      put(key, record);
      const [oldest] = records.keys();
      if (records.size > MAX_CACHED && oldest !== undefined) records.delete(oldest);
    },
    drop(key) {
      changes += 1;
      records.delete(key);
    },
    changes: () => changes,
  };
}

/** For a store that others write to as well. */
export const noCache: RecordCache = { get: () => undefined, set: () => {}, drop: () => {}, changes: () => 0 };

function isSmall({ live, pending }: SessionRecord): boolean {
  return live.length <= MAX_CACHED_RANGES && (pending === null || pending.code.length <= MAX_CACHED_CODE);
}
