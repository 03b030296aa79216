import type { Kernel } from "../core/backend.ts";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { Output } from "../core/execution.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import { sequencesOf } from "../store/ranges.ts";
import { type CellOptions, completeBlock, executeCell } from "./cells.ts";
import type { ServiceContext, StopReason } from "./context.ts";
import type { Acquired } from "./kernels.ts";
import type { LiveSession } from "./live.ts";

/** Bounds of a replay that nobody asked for: it must not hold up the run it precedes for ever. */
const REPLAY_BLOCKS = 200;
const REPLAY_SECONDS = 120;

/** Runs a stored block again in `kernel`; it keeps its place and gets its new output. */
export async function replayBlock(
  context: ServiceContext,
  live: LiveSession,
  kernel: Kernel,
  epoch: number,
  block: Block,
  number: number,
  options: CellOptions,
): Promise<{ readonly block: Block; readonly reason: StopReason | undefined }> {
  const { note: _old, files: _before, ...rest } = block;
  const fresh: Block = { ...rest, status: "running", outputs: [], error: null, epoch };
  const { code, path } = block;
  const cell = { code, number, ...(path === undefined ? {} : { path }) };
  try {
    const outcome = await executeCell(context, live, kernel, fresh, cell, options);
    return { block: completeBlock(fresh, outcome), reason: outcome.reason };
  } catch (error) {
    return { block: refusedBlock(fresh, error, context.now()), reason: undefined };
  }
}

const FILE_REFUSALS: readonly ErrorCode[] = ["FILE_NOT_FOUND", "FILE_UNREADABLE", "PATH_NOT_ALLOWED"];

/** A block whose file is no longer there has failed, like one whose code fails. @throws `error` when it is another. */
function refusedBlock(block: Block, error: unknown, now: number): Block {
  if (!(error instanceof AppError && FILE_REFUSALS.includes(error.code))) throw error;
  const { code: name, message } = error;
  const startedAt = now / 1000;
  return {
    ...block,
    status: "error",
    error: { name, message, traceback: `${name}: ${message}` },
    state: "kept",
    startedAt,
    durationMs: 0,
    truncatedChars: 0,
  };
}

/** Do two runs of a block read the same? Times, addresses and late output are compared as text like all else. */
export function sameOutput(before: Block, after: Block): boolean {
  return (
    before.status === after.status &&
    readable(before.outputs) === readable(after.outputs) &&
    before.error?.traceback === after.error?.traceback
  );
}

function readable(outputs: readonly Output[]): string {
  return JSON.stringify(
    outputs
      .filter((output) => output.type !== "stream" || !output.late)
      .map((o) => (o.type === "stream" ? o.text : o.data)),
  );
}

/**
 * With recovery by replay: runs the blocks that had succeeded again, in order, in the fresh kernel.
 * @returns One sentence on what was restored, or undefined when the policy is `fresh`.
 */
export async function restoreByReplay(
  context: ServiceContext,
  live: LiveSession,
  acquired: Acquired,
  record: SessionRecord,
  options: CellOptions,
): Promise<string | undefined> {
  if ((record.recovery ?? context.recovery) !== "replay") return undefined;
  const sequences = sequencesOf(record);
  const blocks = await context.store.readBlocks(live.owner, live.id, sequences);
  const candidates = blocks.flatMap((block, index) => (block?.status === "ok" ? [{ block, number: index + 1 }] : []));
  const deadline = context.now() + REPLAY_SECONDS * 1000;
  const differed: number[] = [];
  let restored = 0;
  for (const { block, number } of candidates.slice(0, REPLAY_BLOCKS)) {
    const left = (deadline - context.now()) / 1000;
    if (left <= 0 || options.signal.aborted) break;
    const again = await replayBlock(context, live, acquired.kernel, acquired.epoch, block, number, {
      signal: options.signal,
      timeout: left,
    });
    if (again.block.status !== "ok") break;
    restored += 1;
    if (!sameOutput(block, again.block)) differed.push(number);
    await context.store.writeBlock(live.owner, live.id, { ...block, epoch: acquired.epoch });
  }
  return summary(acquired.lost ?? "", sequences.length, candidates.length, restored, differed);
}

function summary(lost: string, all: number, candidates: number, restored: number, differed: readonly number[]): string {
  const parts = [`Variables were lost (${lost}) and restored by running ${restored} of ${all} blocks again`];
  if (differed.length > 0) parts.push(`the output of ${differed.map((n) => `[${n}]`).join(", ")} differed`);
  if (candidates < all) parts.push(`${all - candidates} that had failed were skipped`);
  if (restored < candidates) parts.push(`${candidates - restored} could not be run: what they set is missing`);
  return parts.join("; ");
}
