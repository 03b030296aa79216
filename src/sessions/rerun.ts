import { AppError } from "../core/errors.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import { sliceIndices } from "../core/slice.ts";
import { countBlocks, sequencesOf } from "../store/ranges.ts";
import type { CellOptions } from "./cells.ts";
import type { Caller, ServiceContext } from "./context.ts";
import type { Kernels } from "./kernels.ts";
import { forgetKernel, type LiveSession } from "./live.ts";
import { settle } from "./pending.ts";
import { replayBlock, sameOutput } from "./replay.ts";
import { requireSession } from "./run.ts";

export type Slice = { readonly start?: number | undefined; readonly end?: number | undefined };

export type RerunOptions = CellOptions & Slice & { readonly stopOnError?: boolean | undefined };

/** A block with its new output; `same`: does it read as before? */
export type RerunEntry = { readonly block: Block; readonly index: number; readonly same: boolean };

export type RerunResult = {
  readonly entries: readonly RerunEntry[];
  /** Blocks of the range that were not run because the call was stopped or told to stop at an error. */
  readonly notRun: number;
  readonly kernelAlive: boolean;
};

/** Fresh interpreter, then the chosen blocks again, in order and in place. The caller holds the session's turn. */
export async function rerunBlocks(
  context: ServiceContext,
  kernels: Kernels,
  live: LiveSession,
  caller: Caller,
  options: RerunOptions,
): Promise<RerunResult> {
  const record = await requireSession(context, caller.owner, live.id);
  await settle(context, live, record);
  const length = countBlocks(record);
  const [from, to] = sliceIndices(length, options.start, options.end);
  if (from === to) throw emptySlice(length);
  const sequences = sequencesOf(record, from, to);
  // Read already, so that a store that is down is told before the variables go.
  const [first] = await context.store.readBlocks(live.owner, live.id, sequences.slice(0, 1));
  await kernels.drop(live, record);
  try {
    return await runAll(context, kernels, live, record, { sequences, from, first }, options);
  } catch (error) {
    // Its reply would have told that the variables of before are gone.
    live.lost ??= "rerun_code failed";
    throw error;
  }
}

/** The blocks to run: the first of them stands at position `from`. */
type Chosen = {
  readonly sequences: readonly number[];
  readonly from: number;
  readonly first: Block | undefined;
};

/** Reads each block when its turn comes, since all of a long history together may not fit in memory. */
async function runAll(
  context: ServiceContext,
  kernels: Kernels,
  live: LiveSession,
  record: SessionRecord,
  { sequences, from, first }: Chosen,
  options: RerunOptions,
): Promise<RerunResult> {
  const blank = { ...record, kernelRef: null, lost: null };
  let acquired = await renew(context, kernels, live, blank);
  const entries: RerunEntry[] = [];
  let alive = true;
  for (const [offset, sequence] of sequences.entries()) {
    const before = offset === 0 ? first : (await context.store.readBlocks(live.owner, live.id, [sequence]))[0];
    if (!before) continue;
    if (options.signal.aborted || live.deleted) break;
    if (!alive) acquired = await renew(context, kernels, live, blank);
    const index = from + offset;
    const { kernel, epoch } = acquired;
    const { block, reason } = await replayBlock(context, live, kernel, epoch, before, index + 1, options);
    alive = block.state === "kept";
    if (!alive) forgetKernel(live, kernel);
    if (!live.deleted) await context.store.writeBlock(live.owner, live.id, block);
    entries.push({ block, index, same: sameOutput(before, block) });
    // Who reset or deleted the session wants nothing more of it to run.
    if (reason === "reset" || reason === "deleted") break;
    if (options.stopOnError && block.status !== "ok") break;
  }
  return { entries, notRun: sequences.length - entries.length, kernelAlive: alive };
}

async function renew(context: ServiceContext, kernels: Kernels, live: LiveSession, record: SessionRecord) {
  const acquired = await kernels.acquire(live, record);
  await context.store.updateSession(live.owner, live.id, (present) => ({
    ...present,
    epoch: Math.max(present.epoch, acquired.epoch),
    kernelRef: acquired.kernel.ref,
    lost: null,
    lastUsedAt: context.now() / 1000,
  }));
  return acquired;
}

export function emptySlice(length: number): AppError {
  return new AppError(
    "EMPTY_SLICE",
    length === 0
      ? "The history is empty; run some code first"
      : `start and end select none of the ${length} blocks; positions go from 0 to ${length - 1}, end is exclusive`,
  );
}
