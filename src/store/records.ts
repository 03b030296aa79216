import type { SessionRecord } from "../core/session.ts";
import { recordKey } from "./keys.ts";
import { createRecordCache, noCache } from "./record-cache.ts";
import { checkSession, checkTombstone, type Tombstone } from "./schemas.ts";
import type { Values } from "./values.ts";

/** What lies at a session's record key: the session, or the rest of one whose removal was cut off. */
export type Found = { readonly session: SessionRecord } | { readonly tombstone: Tombstone };

/** Reads and writes the records of sessions; with `exclusive`, from memory where it can. */
export interface Records {
  read(owner: string, id: string): Promise<Found | undefined>;
  readSession(owner: string, id: string): Promise<SessionRecord | undefined>;
  write(owner: string, record: SessionRecord): Promise<void>;
  bury(owner: string, id: string, tombstone: Tombstone): Promise<void>;
  remove(owner: string, id: string): Promise<void>;
}

export function createRecords(values: Values, exclusive: boolean, log: (message: string) => void): Records {
  const cache = exclusive ? createRecordCache() : noCache;

  /** Out of memory until it is stored: after a failure nobody knows which of the two values the store holds. */
  const change = async (key: string, write: () => Promise<void>): Promise<void> => {
    cache.drop(key);
    await write().finally(() => cache.drop(key));
  };

  const read = async (owner: string, id: string): Promise<Found | undefined> => {
    const key = recordKey(owner, id);
    const known = cache.get(key);
    if (known !== undefined) return { session: known };
    const since = cache.changes();
    const found = interpret(await values.read(key), key, id, log);
    if (found !== undefined && "session" in found) cache.set(key, found.session, since);
    return found;
  };

  return {
    read,
    async readSession(owner, id) {
      const found = await read(owner, id);
      return found !== undefined && "session" in found ? found.session : undefined;
    },
    async write(owner, record) {
      const key = recordKey(owner, record.id);
      await change(key, () => values.write(key, record));
      cache.set(key, record, cache.changes());
    },
    bury(owner, id, tombstone) {
      const key = recordKey(owner, id);
      return change(key, () => values.write(key, tombstone));
    },
    remove(owner, id) {
      const key = recordKey(owner, id);
      return change(key, () => values.remove(key));
    },
  };
}

function interpret(value: unknown, key: string, id: string, log: (message: string) => void): Found | undefined {
  if (value === undefined) return undefined;
  const session = checkSession(value);
  if ("value" in session && session.value.id === id) return { session: session.value };
  const tombstone = checkTombstone(value);
  if ("value" in tombstone) return { tombstone: tombstone.value };
  const reason = "reason" in session ? session.reason : `it names the session ${JSON.stringify(session.value.id)}`;
  log(`The stored value ${key} is taken as absent: ${reason}`);
  return undefined;
}
