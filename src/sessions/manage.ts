import { AppError } from "../core/errors.ts";
import type { RecoveryPolicy, SessionRecord } from "../core/session.ts";
import { shorten } from "../core/shorten.ts";
import { countBlocks, sequencesOf } from "../store/ranges.ts";
import type { Caller, ServiceContext } from "./context.ts";
import type { Kernels } from "./kernels.ts";
import type { LiveSession, LiveSessions } from "./live.ts";
import { withoutSequences } from "./positions.ts";
import { notFound, rememberKernel, requireSession } from "./run.ts";

export type SessionInfo = {
  readonly session_id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly last_used_at: number;
  readonly history_count: number;
  readonly alive: boolean;
  readonly busy: boolean;
  readonly backend: string;
};

export type CreateOptions = {
  readonly id?: string | undefined;
  readonly cwd?: string | undefined;
  readonly recovery?: RecoveryPolicy | undefined;
};

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @throws AppError INVALID_SESSION_ID. */
export function checkSessionId(id: string): string {
  if (SESSION_ID.test(id)) return id;
  const shown = JSON.stringify(shorten(id));
  throw new AppError(
    "INVALID_SESSION_ID",
    `${shown} is not a session id; use 1 to 64 of A-Z a-z 0-9 . _ - starting with a letter or digit`,
  );
}

function generateId(): string {
  return crypto.randomUUID().slice(0, 8);
}

/**
 * Makes the session's record and, where kernels are cheap, its kernel.
 * @throws AppError SESSION_EXISTS, SESSION_LIMIT, INVALID_SESSION_ID, INVALID_CWD.
 */
export async function createSession(
  context: ServiceContext,
  kernels: Kernels,
  sessions: LiveSessions,
  caller: Caller,
  options: CreateOptions,
): Promise<SessionRecord> {
  const id = checkSessionId(options.id ?? generateId());
  const record = newRecord(context, id, options);
  await context.store.createSession(caller.owner, record, context.limits.maxSessions);
  const earlier = sessions.peek(caller.owner, id);
  if (earlier && earlier.createdAt !== record.createdAt) abandon(context, kernels, sessions, earlier);
  const live = sessions.get(caller.owner, record);
  const eager = context.backend.supports.eagerStart;
  if (!eager && record.cwd === null) return record;
  const started = kernels.acquire(live, record);
  // A folder that the caller named is an error now, not later; all else is told by the first run.
  if (record.cwd === null) {
    started.catch((error: unknown) => context.log("kernel did not start with its session", { error: String(error) }));
    return record;
  }
  try {
    const acquired = await started;
    if (context.backend.supports.attach) await rememberKernel(context, live, acquired);
    return record;
  } catch (error) {
    await deleteSession(context, kernels, sessions, live);
    throw error;
  }
}

function newRecord(context: ServiceContext, id: string, options: CreateOptions): SessionRecord {
  const now = context.now() / 1000;
  return {
    id,
    createdAt: now,
    lastUsedAt: now,
    cwd: options.cwd ?? null,
    backend: context.backend.name,
    recovery: options.recovery ?? null,
    kernelRef: null,
    epoch: 0,
    nextSequence: 0,
    live: [],
    pending: null,
    lost: null,
  };
}

export async function listSessions(
  context: ServiceContext,
  sessions: LiveSessions,
  caller: Caller,
): Promise<SessionInfo[]> {
  const records = await context.store.listSessions(caller.owner);
  return records.map((record) => describeSession(context, sessions.peek(caller.owner, record.id), record));
}

export function describeSession(
  context: ServiceContext,
  live: LiveSession | undefined,
  record: SessionRecord,
): SessionInfo {
  const remote = context.backend.supports.attach && record.kernelRef !== null && live?.lost === undefined;
  return {
    session_id: record.id,
    created_at: record.createdAt,
    last_used_at: Math.max(record.lastUsedAt, live ? live.lastUsed / 1000 : 0),
    history_count: countBlocks(record),
    alive: live?.kernel !== undefined || live?.starting !== undefined || remote,
    busy: (live?.queue.length ?? 0) > 0,
    backend: record.backend,
  };
}

/** Fresh interpreter; with `clear` an empty history too. What runs is stopped and says so. */
export async function resetSession(
  context: ServiceContext,
  kernels: Kernels,
  live: LiveSession,
  clear: boolean,
): Promise<SessionRecord> {
  const record = await requireSession(context, live.owner, live.id);
  live.running?.stop("reset");
  const lostBefore = live.running?.block.sequence;
  const resetEpoch = Math.max(record.epoch, live.epoch);
  await kernels.drop(live, record);
  const updated = await context.store.updateSession(live.owner, live.id, (present) => ({
    ...present,
    // A run that came meanwhile has its fresh kernel already.
    ...(present.epoch > resetEpoch ? {} : { epoch: resetEpoch, kernelRef: null, lost: null }),
    resetEpoch,
    lastUsedAt: context.now() / 1000,
    ...(clear ? withoutHistory(present, record.nextSequence) : {}),
  }));
  if (clear) {
    live.edits += 1;
    await context.store.deleteBlocks(live.owner, live.id, sequencesOf(record));
  }
  context.log("session reset", { cleared: clear, stopped: lostBefore !== undefined });
  if (context.backend.supports.eagerStart) warm(context, kernels, live, updated);
  return updated;
}

/** Empty but for blocks that began after the reset, from sequence number `next` on. */
function withoutHistory({ live, pending }: SessionRecord, next: number): Partial<SessionRecord> {
  const stays = pending !== null && pending.sequence >= next;
  return { live: withoutSequences(live, 0, next - 1), pending: stays ? pending : null, historyChars: 0 };
}

/** Starts the next kernel already, so that the next run does not wait for it. */
function warm(context: ServiceContext, kernels: Kernels, live: LiveSession, record: SessionRecord): void {
  kernels
    .acquire(live, record)
    .catch((error: unknown) => context.log("kernel did not start after a reset", { error: String(error) }));
}

/** Interpreter, its children, history and stored data are gone. */
export async function deleteSession(
  context: ServiceContext,
  kernels: Kernels,
  sessions: LiveSessions,
  live: LiveSession,
): Promise<void> {
  const record = await requireSession(context, live.owner, live.id);
  // It stays known until it is gone, so that no call meanwhile starts another kernel for it.
  live.deleted = true;
  live.running?.stop("deleted");
  try {
    const ended = kernels.drop(live, record);
    if (context.backend.forgetSession) {
      // Before the id is free again: what is removed must not be a new session's.
      await ended;
      await context.backend.forgetSession(live.owner, live.id);
    }
    const [removed] = await Promise.all([context.store.deleteSession(live.owner, live.id), ended]);
    if (!removed) throw notFound(live.id);
  } finally {
    sessions.forget(live);
  }
}

/** Leaves a session that another process has deleted: its kernel ends, and its id may be a new session's. */
export function abandon(context: ServiceContext, kernels: Kernels, sessions: LiveSessions, live: LiveSession): void {
  live.deleted = true;
  sessions.forget(live);
  live.running?.stop("deleted");
  kernels
    .drop(live, undefined)
    .catch((error: unknown) => context.log("kernel shutdown failed", { error: String(error) }));
}
