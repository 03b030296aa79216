import { AppError } from "../core/errors.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import { sliceIndices } from "../core/slice.ts";
import { countBlocks, sequencesOf } from "../store/ranges.ts";
import type { ServiceContext } from "./context.ts";
import type { LiveSession } from "./live.ts";
import { describeSession, type SessionInfo } from "./manage.ts";
import { interrupted, isInFlight, settle } from "./pending.ts";
import { withoutSequences } from "./positions.ts";
import type { Slice } from "./rerun.ts";
import { requireSession } from "./run.ts";

/** A block of history: `inMemory` tells whether what it set is part of the present state. */
export type HistoryEntry = { readonly block: Block; readonly index: number; readonly inMemory: boolean };

export type History = {
  readonly record: SessionRecord;
  readonly total: number;
  readonly entries: readonly HistoryEntry[];
};

/** A session as it stands, without its blocks. */
export type Pulse = {
  readonly record: SessionRecord;
  readonly info: SessionInfo;
  /** Changes whenever the history may read differently, unless `unsettled`. */
  readonly stamp: string;
  /** Does a block run, or might one in another process? Then its output changes without the stamp. */
  readonly unsettled: boolean;
};

/** One read of the record, for whoever asks again and again. */
export async function readPulse(context: ServiceContext, live: LiveSession): Promise<Pulse> {
  const record = await requireSession(context, live.owner, live.id);
  const info = describeSession(context, live, record);
  const { lastUsedAt, epoch, nextSequence, kernelRef } = record;
  const own = [live.epoch, live.completed, live.lastUsed, live.queue.length, live.lost];
  const stamp = JSON.stringify([record.live, lastUsedAt, epoch, nextSequence, kernelRef !== null, info.alive, ...own]);
  const elsewhere = context.locks !== undefined && (record.pending?.sequence ?? -1) > live.completed;
  return { record, info, stamp, unsettled: elsewhere || live.running !== undefined };
}

/** Reads a slice; the running block shows what it has printed so far. Never waits for a run. */
export async function readHistory(context: ServiceContext, live: LiveSession, slice: Slice): Promise<History> {
  const record = await requireSession(context, live.owner, live.id);
  const total = countBlocks(record);
  const [from, to] = sliceIndices(total, slice.start, slice.end);
  const sequences = sequencesOf(record, from, to);
  const stored = await context.store.readBlocks(live.owner, live.id, sequences);
  const alive = live.kernel !== undefined || (context.backend.supports.attach && record.kernelRef !== null);
  // Local kernels are this process's own, whatever others have started since.
  const epoch = context.backend.supports.attach ? Math.max(record.epoch, live.epoch) : live.epoch;
  const pending = await presentPending(context, live, record, sequences, stored);
  const entries = sequences.flatMap((sequence, offset) => {
    const block = pending?.sequence === sequence ? pending : stored[offset];
    const inMemory = alive && block?.epoch === epoch && block.state === "kept";
    return block ? [{ block, index: from + offset, inMemory }] : [];
  });
  return { record, total, entries };
}

/** The block in flight: with what it has printed; or as cut off, when it is among `sequences` and was never stored. */
async function presentPending(
  context: ServiceContext,
  live: LiveSession,
  { pending }: SessionRecord,
  sequences: readonly number[],
  stored: readonly (Block | undefined)[],
): Promise<Block | undefined> {
  const { running } = live;
  if (running) return { ...running.block, ...running.buffer.snapshot() };
  const at = pending ? sequences.indexOf(pending.sequence) : -1;
  if (!pending || at < 0 || stored[at]) return undefined;
  if (live.unsaved?.sequence === pending.sequence) return live.unsaved;
  if (await isInFlight(context, live, pending)) return pending;
  // It may have been stored between the two looks.
  const [late] = await context.store.readBlocks(live.owner, live.id, [pending.sequence]);
  return late ?? interrupted(context, pending);
}

/** @returns How many blocks were deleted and how many are left. */
export async function deleteHistory(
  context: ServiceContext,
  live: LiveSession,
  start: number,
  end: number | undefined,
): Promise<{ readonly deleted: number; readonly remaining: number }> {
  const record = await requireSession(context, live.owner, live.id);
  const sequences = chosen(record, start, end);
  const running = await runningSequence(context, live, record);
  if (running !== undefined && sequences.includes(running)) {
    throw new AppError("SESSION_BUSY", "The last of these blocks is still running; wait for it, or leave it out");
  }
  const updated = await context.store.updateSession(live.owner, live.id, (present) =>
    withoutBlocks(present, sequences),
  );
  live.edits += 1;
  await context.store.deleteBlocks(live.owner, live.id, sequences);
  return { deleted: sequences.length, remaining: countBlocks(updated) };
}

/** Of the block that runs somewhere; one that nobody runs any more is settled. */
async function runningSequence(
  context: ServiceContext,
  live: LiveSession,
  record: SessionRecord,
): Promise<number | undefined> {
  const { pending } = record;
  if (live.running || !pending || pending.sequence <= live.completed) return live.running?.block.sequence;
  if (await isInFlight(context, live, pending)) return pending.sequence;
  await settle(context, live, record);
  return undefined;
}

function withoutBlocks(record: SessionRecord, sequences: readonly number[]): SessionRecord {
  const live = withoutSequences(record.live, sequences[0] ?? 0, sequences.at(-1) ?? -1);
  const before = countBlocks(record);
  const share = before === 0 ? 0 : countBlocks({ live }) / before;
  const gone = record.pending !== null && sequences.includes(record.pending.sequence);
  return {
    ...record,
    live,
    pending: gone ? null : record.pending,
    historyChars: Math.round((record.historyChars ?? 0) * share),
  };
}

/** Without `end`, exactly the block at `start`; with it, Python's slice. Outside the history is an error either way. */
function chosen(record: SessionRecord, start: number, end: number | undefined): number[] {
  const length = countBlocks(record);
  const at = start < 0 ? start + length : start;
  if (at < 0 || at >= length) {
    throw new AppError(
      "INDEX_OUT_OF_RANGE",
      `start ${start} is outside the history of ${length} blocks${length > 0 ? `; positions go from ${-length} to ${length - 1}` : ""}`,
    );
  }
  if (end === undefined) return sequencesOf(record, at, at + 1);
  const stop = end < 0 ? end + length : end;
  if (stop <= at || stop > length) {
    throw new AppError(
      "INDEX_OUT_OF_RANGE",
      `end ${end} is outside the range: after start ${start} and at most ${length}, the number of blocks`,
    );
  }
  return sequencesOf(record, at, stop);
}
