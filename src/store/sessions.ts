import { AppError } from "../core/errors.ts";
import type { SessionRecord } from "../core/session.ts";
import { finishRemoval } from "./blocks.ts";
import { mapBounded } from "./bounded.ts";
import { locked, type StoreContext } from "./context.ts";
import { indexKey, sessionIdsIn, sessionKey, sessionsKey } from "./keys.ts";
import { checkIndex, MAX_SEQUENCES, type Tombstone } from "./schemas.ts";

// The record alone decides whether a session exists. The index is written before a record comes and after it has gone,
// so that a crash leaves at most an id without a record. Locks are taken in one order: the session's, then the index's.

const PARALLEL_READS = 32;

export async function listSessions(context: StoreContext, owner: string): Promise<SessionRecord[]> {
  const ids = await readIndex(context, owner);
  const records = await mapBounded(ids, PARALLEL_READS, (id) => context.records.readSession(owner, id));
  return records.filter((record) => record !== undefined).sort((a, b) => a.createdAt - b.createdAt);
}

export function createSession(
  context: StoreContext,
  owner: string,
  record: SessionRecord,
  limit: number,
): Promise<void> {
  const { id } = record;
  const create = async (): Promise<void> => {
    if (await exists(context, owner, id)) {
      throw new AppError("SESSION_EXISTS", `Session ${JSON.stringify(id)} exists already; choose another id or use it`);
    }
    const others = (await readIndex(context, owner)).filter((other) => other !== id);
    const ids = others.length < limit ? others : await existing(context, owner, others);
    if (ids.length >= limit) {
      throw new AppError(
        "SESSION_LIMIT",
        `You have ${ids.length} sessions and ${limit} are allowed; delete_session makes room`,
      );
    }
    await context.values.write(indexKey(owner), { ids: [...ids, id] });
    await context.records.write(owner, record);
  };
  return locked(context, sessionKey(owner, id), () => locked(context, indexKey(owner), create));
}

export function updateSession(
  context: StoreContext,
  owner: string,
  id: string,
  change: (record: SessionRecord) => SessionRecord,
): Promise<SessionRecord> {
  return locked(context, sessionKey(owner, id), async () => {
    const record = await context.records.readSession(owner, id);
    if (record === undefined) {
      throw new AppError(
        "SESSION_NOT_FOUND",
        `Session ${JSON.stringify(id)} not found; list_sessions shows your sessions`,
      );
    }
    const changed = change(record);
    if (changed === record) return record;
    if (changed.nextSequence > MAX_SEQUENCES) {
      throw new AppError("LIMIT_REACHED", `The session has run ${MAX_SEQUENCES} blocks, its limit; create another one`);
    }
    await context.records.write(owner, changed);
    return changed;
  });
}

/** First a tombstone stands in for the record: the session is gone at once, and its blocks can still be found. */
export function deleteSession(context: StoreContext, owner: string, id: string): Promise<boolean> {
  return locked(context, sessionKey(owner, id), async () => {
    const found = await context.records.read(owner, id);
    let tombstone: Tombstone = { removed: true, nextSequence: 0 };
    if (found !== undefined && "session" in found) {
      tombstone = { removed: true, nextSequence: found.session.nextSequence };
      await context.records.bury(owner, id, tombstone);
    } else if (found !== undefined) {
      tombstone = found.tombstone;
    }
    await finishRemoval(context, owner, id, tombstone);
    await locked(context, indexKey(owner), () => forget(context, owner, id));
    return found !== undefined;
  });
}

async function forget(context: StoreContext, owner: string, id: string): Promise<void> {
  const ids = await readIndex(context, owner);
  if (!ids.includes(id)) return;
  await context.values.write(indexKey(owner), { ids: ids.filter((other) => other !== id) });
}

async function readIndex(context: StoreContext, owner: string): Promise<string[]> {
  const key = indexKey(owner);
  const value = await context.values.read(key);
  if (value === undefined) return [];
  const checked = checkIndex(value);
  if ("value" in checked) return [...new Set(checked.value.ids)];
  context.log(`The stored value ${key} is damaged (${checked.reason}): it is made again from the records`);
  return sessionIdsIn(owner, await context.values.keys(sessionsKey(owner)));
}

/** Those of the ids that have a session. */
async function existing(context: StoreContext, owner: string, ids: readonly string[]): Promise<string[]> {
  const kept = await mapBounded(ids, PARALLEL_READS, async (id) => ((await exists(context, owner, id)) ? [id] : []));
  return kept.flat();
}

/** Finishes a removal that was cut off; whoever holds the index's lock may: nobody can create the session meanwhile. */
async function exists(context: StoreContext, owner: string, id: string): Promise<boolean> {
  const found = await context.records.read(owner, id);
  if (found === undefined || "session" in found) return found !== undefined;
  await finishRemoval(context, owner, id, found.tombstone);
  return false;
}
