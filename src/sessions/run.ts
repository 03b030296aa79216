import { AppError } from "../core/errors.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import { appendRange, countBlocks } from "../store/ranges.ts";
import { MAX_CACHED_CODE } from "../store/record-cache.ts";
import { type CellOptions, type CellOutcome, completeBlock, ending, executeCell } from "./cells.ts";
import type { Caller, ServiceContext } from "./context.ts";
import type { Acquired, Kernels } from "./kernels.ts";
import { forgetKernel, type LiveSession } from "./live.ts";
import { settle } from "./pending.ts";
import { countBelow, withoutSequences } from "./positions.ts";
import { restoreByReplay } from "./replay.ts";

/** What to run as a new block. */
export type RunSpec = { readonly kind: "code" | "file"; readonly code: string; readonly path?: string };

/** A completed block and its 0-based position; `unsaved` when the store failed and only this reply has it. */
export type RunResult = { readonly block: Block; readonly index: number; readonly unsaved: boolean };

/** Runs `spec` as a new block. The caller holds the session's turn. */
export async function runBlock(
  context: ServiceContext,
  kernels: Kernels,
  live: LiveSession,
  caller: Caller,
  spec: RunSpec,
  options: CellOptions,
): Promise<RunResult> {
  try {
    return await runInTurn(context, kernels, live, caller, spec, options);
  } finally {
    live.current = undefined;
  }
}

async function runInTurn(
  context: ServiceContext,
  kernels: Kernels,
  live: LiveSession,
  caller: Caller,
  spec: RunSpec,
  options: CellOptions,
): Promise<RunResult> {
  const record = await requireSession(context, caller.owner, live.id);
  const cutOff = await settle(context, live, record);
  requireRoom(context, record);
  const acquired = await kernels.acquire(live, record);
  const hadState = live.used;
  const call = { context, kernels, live, caller, record, spec, options };
  let attempt = await tryIn(call, acquired);
  const { reply, reason } = attempt.outcome;
  // That the kernel was gone showed only now. Nothing ran, so it may run in a fresh one.
  if (reply.status === "died" && reply.started === false && reason === undefined && !live.deleted) {
    attempt = await tryAfresh(call, attempt, hadState ? `the interpreter ${ending(reply.detail)}` : acquired.lost);
  }
  const { block, outcome } = attempt;
  const note = attempt.note ?? cutOffNote(record, cutOff);
  const completed = withNote(completeBlock(block, outcome), note);
  if (completed.state === "lost") forgetKernel(live, attempt.acquired.kernel);
  // A store that failed at the begin may be back: then the block is kept after all, and its kernel found again.
  const begun = attempt.begun || (await begin(context, live, block, attempt.acquired));
  const saved = begun && (await save(context, live, completed));
  const index = await indexOf(context, live, completed, countBlocks(record));
  return { block: completed, index, unsaved: !saved };
}

/** What belongs to one call of `runBlock`; `record` is as it was before. */
type RunCall = {
  readonly context: ServiceContext;
  readonly kernels: Kernels;
  readonly live: LiveSession;
  readonly caller: Caller;
  readonly record: SessionRecord;
  readonly spec: RunSpec;
  readonly options: CellOptions;
};

type Attempt = {
  readonly acquired: Acquired;
  readonly block: Block;
  readonly outcome: CellOutcome;
  /** Was it stored before its end? */
  readonly begun: boolean;
  /** What to tell of the variables of earlier blocks. */
  readonly note: string | undefined;
};

/** Runs the new block in this kernel; when it is refused, nothing of it stays. */
async function tryIn(call: RunCall, acquired: Acquired): Promise<Attempt> {
  const { context, live, caller, record, spec, options } = call;
  live.lost = undefined; // This run tells it.
  const { code, path } = spec;
  const cell = { code, number: countBlocks(record) + 1, ...(path === undefined ? {} : { path }) };
  const block = pendingBlock(record, spec, caller, acquired, context.now());
  live.current = block.sequence;
  try {
    const restored = acquired.lost ? await restoreByReplay(context, live, acquired, record, options) : undefined;
    const note = restored ?? lostNote(acquired.lost);
    // Stored with the block: should the server end before the reply, the next run tells it.
    const begun = begin(context, live, withNote(block, note), acquired);
    // A remote run takes so much longer than a write that the two overlap; a local one is written first.
    if (!context.backend.supports.attach) await begun;
    const running = executeCell(context, live, acquired.kernel, block, cell, options);
    const [outcome] = await Promise.all([running, begun.catch(() => false)]);
    return { acquired, block, outcome, begun: await begun, note };
  } catch (error) {
    live.lost ??= acquired.lost;
    await rollBack(context, live, block);
    throw error;
  }
}

/** As `tryIn`, in a kernel in place of the one of `attempt`. @param lost Why variables are gone, if there were any. */
async function tryAfresh(call: RunCall, { acquired, block }: Attempt, lost: string | undefined): Promise<Attempt> {
  const { context, kernels, live, record } = call;
  forgetKernel(live, acquired.kernel);
  const blank = { ...record, epoch: acquired.epoch, kernelRef: null, lost: lost ?? null };
  const next = await kernels.acquire(live, blank).catch(async (error: unknown) => {
    live.lost ??= lost;
    await rollBack(context, live, block);
    throw error;
  });
  return tryIn(call, next);
}

/** Stores which kernel the session has, for one that was started for something else than a run. */
export async function rememberKernel(context: ServiceContext, live: LiveSession, acquired: Acquired): Promise<void> {
  const { epoch, kernel, lost = null } = acquired;
  await context.store.updateSession(live.owner, live.id, (record) =>
    record.epoch >= epoch ? record : { ...record, epoch, kernelRef: kernel.ref, lost },
  );
}

export async function requireSession(context: ServiceContext, owner: string, id: string): Promise<SessionRecord> {
  const record = await context.store.readSession(owner, id);
  if (!record) throw notFound(id);
  return record;
}

export function notFound(id: string): AppError {
  return new AppError(
    "SESSION_NOT_FOUND",
    `Session ${JSON.stringify(id)} not found; list_sessions shows your sessions`,
  );
}

function requireRoom({ limits }: ServiceContext, record: SessionRecord): void {
  const count = countBlocks(record);
  if (count >= limits.maxBlocks) {
    throw new AppError("LIMIT_REACHED", `The history has ${count} blocks, its limit; delete_history makes room`);
  }
  if ((record.historyChars ?? 0) >= limits.maxHistoryBytes) {
    const megabytes = Math.round(limits.maxHistoryBytes / 2 ** 20);
    throw new AppError(
      "LIMIT_REACHED",
      `The history has reached its limit of ${megabytes} MB; delete_history makes room`,
    );
  }
}

function pendingBlock(record: SessionRecord, spec: RunSpec, caller: Caller, acquired: Acquired, now: number): Block {
  return {
    sequence: record.nextSequence,
    ...spec,
    status: "running",
    outputs: [],
    error: null,
    state: "kept",
    epoch: acquired.epoch,
    startedAt: now / 1000,
    durationMs: 0,
    truncatedChars: 0,
    ...(caller.name === undefined ? {} : { by: caller.name }),
  };
}

/** Writes the block as pending. Resolves to false when the store is down; the run goes on and is marked unsaved. */
async function begin(context: ServiceContext, live: LiveSession, block: Block, acquired: Acquired): Promise<boolean> {
  const change = (record: SessionRecord): SessionRecord => ({
    ...record,
    pending: block,
    live: appendRange(withoutSequences(record.live, block.sequence, block.sequence), block.sequence),
    nextSequence: block.sequence + 1,
    lastUsedAt: block.startedAt,
    // Another process may have started later kernels of its own.
    epoch: Math.max(record.epoch, acquired.epoch),
    kernelRef: acquired.kernel.ref,
    lost: null,
    historyChars: (record.historyChars ?? 0) + block.code.length + live.lastSize,
  });
  try {
    await context.store.updateSession(live.owner, live.id, change);
    return true;
  } catch (error) {
    return unsaved(context, live, error);
  }
}

/**
 * Code that no cache keeps does not stay in the record once its block is stored: every list of sessions reads all records.
 * No harm is done when that fails: the block is there.
 */
async function clearPending(context: ServiceContext, live: LiveSession, { sequence }: Block): Promise<void> {
  await context.store
    .updateSession(live.owner, live.id, (record) => withoutPending(record, sequence))
    .catch((error: unknown) => context.log("record not shortened", { session: live.id, error: String(error) }));
}

async function save(context: ServiceContext, live: LiveSession, block: Block): Promise<boolean> {
  if (live.deleted) return true;
  try {
    await context.store.writeBlock(live.owner, live.id, block);
    live.completed = block.sequence;
    live.lastSize = sizeOf(block);
    if (block.code.length > MAX_CACHED_CODE) await clearPending(context, live, block);
    return true;
  } catch (error) {
    live.unsaved = block;
    return unsaved(context, live, error);
  }
}

function unsaved(context: ServiceContext, live: LiveSession, error: unknown): boolean {
  if (error instanceof AppError && error.code === "STORAGE_UNAVAILABLE") {
    context.log("block not saved", { session: live.id, error: String(error.cause ?? error) });
    return false;
  }
  if (live.deleted) return true;
  throw error;
}

/** The cell was refused before it ran. Why is told even when the store is down. */
async function rollBack(context: ServiceContext, live: LiveSession, block: Block): Promise<void> {
  if (live.deleted) return;
  const change = (record: SessionRecord): SessionRecord => ({
    ...withoutPending(record, block.sequence),
    live: withoutSequences(record.live, block.sequence, block.sequence),
  });
  await context.store
    .updateSession(live.owner, live.id, change)
    .catch((error: unknown) => context.log("block not taken back", { session: live.id, error: String(error) }));
}

function withoutPending(record: SessionRecord, sequence: number): SessionRecord {
  return record.pending?.sequence === sequence ? { ...record, pending: null } : record;
}

/** Where the block stands now; blocks before it may have been deleted while it ran. */
async function indexOf(context: ServiceContext, live: LiveSession, block: Block, expected: number): Promise<number> {
  if (live.edits === 0) return expected;
  live.edits = 0;
  const record = await context.store.readSession(live.owner, live.id);
  return record ? countBelow(record.live, block.sequence) : expected;
}

function lostNote(lost: string | undefined): string | undefined {
  return (
    lost && `Variables of earlier blocks are lost (${lost}): this ran in a fresh interpreter; rerun_code restores them`
  );
}

/** A remote kernel outlives the server, so that its next run is the first to say that the one before was cut off. */
function cutOffNote({ live, pending }: SessionRecord, cutOff: Block | undefined): string | undefined {
  if (!cutOff) return undefined;
  const stopped = `The server stopped while [${countBelow(live, cutOff.sequence) + 1}] ran: how far it ran is not known`;
  return pending?.note ? `${pending.note}\n${stopped}` : stopped;
}

function withNote(block: Block, note: string | undefined): Block {
  return note ? { ...block, note: block.note ? `${note}\n${block.note}` : note } : block;
}

function sizeOf(block: Block): number {
  let size = 0;
  for (const output of block.outputs) {
    if (output.type === "stream") size += output.text.length;
    else for (const content of Object.values(output.data)) size += content.length;
  }
  for (const { path } of block.files?.changed ?? []) size += path.length;
  return size;
}
