import type { Kernel } from "../core/backend.ts";
import type { Cell, ExecutionReply } from "../core/execution.ts";
import { createOutputBuffer, type OutputBuffer } from "../core/output-buffer.ts";
import type { Block, BlockStatus } from "../core/session.ts";
import type { ServiceContext, StopReason } from "./context.ts";
import type { LiveSession } from "./live.ts";

export type CellOptions = {
  /** Seconds; absent: the service's own default. */
  readonly timeout?: number | undefined;
  readonly signal: AbortSignal;
  /** Told after each piece of output; reads what it wants of the buffer. */
  readonly onOutput?: ((buffer: OutputBuffer) => void) | undefined;
};

export type CellOutcome = {
  readonly reply: ExecutionReply;
  readonly reason: StopReason | undefined;
  readonly buffer: OutputBuffer;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly timeout: number;
};

/** The longest delay that timers of JavaScript can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs one cell and shows it as the session's running block meanwhile.
 * Timeout, cancel, reset and shutdown all stop it the same way; the outcome tells which came first.
 */
export async function executeCell(
  context: ServiceContext,
  live: LiveSession,
  kernel: Kernel,
  block: Block,
  cell: Cell,
  options: CellOptions,
): Promise<CellOutcome> {
  const wanted = options.timeout ?? (context.limits.timeout || undefined);
  const timeout = wanted ?? context.limits.maxTimeout;
  const buffer = createOutputBuffer({ maxChars: context.limits.blockChars });
  const controller = new AbortController();
  let reason: StopReason | undefined;
  const stop = (why: StopReason): void => {
    reason ??= why;
    controller.abort(reason);
  };
  const cancel = (): void => stop("cancelled");
  const timer = setTimeout(() => stop("timeout"), Math.min(timeout * 1000, MAX_TIMER_MS));
  options.signal.addEventListener("abort", cancel, { once: true });
  if (options.signal.aborted) cancel();
  live.running = { block, buffer, stop };
  live.used = true;
  const started = context.now();
  try {
    const reply = await kernel.execute(cell, {
      signal: controller.signal,
      ...(wanted === undefined ? {} : { timeoutMs: wanted * 1000 }),
      onOutput: (output) => {
        buffer.push(output);
        options.onOutput?.(buffer);
      },
    });
    return { reply, reason, buffer, startedAt: started / 1000, durationMs: context.now() - started, timeout };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", cancel);
    live.running = undefined;
    live.lastUsed = context.now();
  }
}

/** The block as it reads after its cell ended. */
export function completeBlock(block: Block, outcome: CellOutcome): Block {
  const { reply, reason } = outcome;
  const { outputs, truncatedChars } = outcome.buffer.snapshot();
  const replaced = reason === "reset" || reason === "deleted";
  const survived =
    reply.status === "ok" || reply.status === "error" || (reply.status === "aborted" && reply.kernelAlive);
  const alive = survived && !replaced;
  const note = noteOf(outcome, alive);
  return {
    ...block,
    status: statusOf(reply, reason),
    outputs,
    error: "error" in reply ? (reply.error ?? null) : null,
    state: alive ? "kept" : "lost",
    ...(note === undefined ? {} : { note }),
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    truncatedChars,
    ...(reply.files && { files: reply.files }),
  };
}

function statusOf(reply: ExecutionReply, reason: StopReason | undefined): BlockStatus {
  if (reply.status === "ok" || reply.status === "error") return reply.status;
  if (reason === "timeout") return "timeout";
  if (reason === "cancelled" || reason === "shutdown") return "cancelled";
  return "died";
}

/** `killed by SIGSEGV` → `was killed by SIGSEGV`; `exited with code 3` stays. */
export function ending(detail: string): string {
  return /^(killed|ended|lost)\b/.test(detail) ? `was ${detail}` : detail;
}

export const HOW_TO_RESTORE = "the next run starts a fresh interpreter, and rerun_code restores them";

function noteOf({ reply, reason, timeout }: CellOutcome, alive: boolean): string | undefined {
  if (reason === "deleted") return "The session was deleted while this block ran";
  if (reason === "reset") return "The interpreter was reset while this block ran: variables are lost";
  if (reply.status === "ok" || reply.status === "error") return undefined;
  const why = stopped(reason, timeout);
  if (alive) return `${why}; variables are kept`;
  if (reply.status === "aborted") {
    return `${why}, but the code did not stop and the interpreter was killed: variables are lost; ${HOW_TO_RESTORE}`;
  }
  const detail = reply.status === "died" ? reply.detail : "ended";
  return `The interpreter ${ending(detail)}: variables are lost; ${HOW_TO_RESTORE}`;
}

function stopped(reason: StopReason | undefined, timeout: number): string {
  if (reason === "timeout") return `Stopped at its timeout of ${timeout} s`;
  return reason === "shutdown" ? "Stopped because the server shuts down" : "Stopped because the call was cancelled";
}
