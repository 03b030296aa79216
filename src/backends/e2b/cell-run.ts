import type { ExecuteOptions } from "../../core/backend.ts";
import { parseChangedFiles } from "../../core/changed-files.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { Cell, ExecutionReply, PythonError } from "../../core/execution.ts";
import { cellSource, NO_RUNNER } from "./cell-source.ts";
import { deathOf } from "./death.ts";
import { type DoneItem, type Item, isOutput } from "./events.ts";
import { interruptUntil } from "./interrupter.ts";
import type { Refusal } from "./proxy-answer.ts";
import type { KernelFacts } from "./ref.ts";
import { type RemoteSandbox, sleep, unreachable } from "./sandbox.ts";
import { type StreamEnd, streamCell } from "./stream.ts";

export type CellOutcome = {
  readonly reply: ExecutionReply;
  /** The kernel's folder afterwards, where it is known. */
  readonly cwd?: string;
};

/** After an interrupt, or a lost connection, which some servers answer with one, cells sent at once are not run. */
export const QUIET_MS = 300;
/** Requests in a row that bring nothing new before the sandbox counts as out of reach. */
const MAX_FRUITLESS = 4;

export const SHUT_DOWN = "shut down";
export const GONE = "ended with its sandbox, which expired or was killed";
const LOST = "out of reach: the connection to its sandbox was lost while the code ran";

/**
 * One run of one cell. It is sent as often as needed, since the runner in the kernel runs it once and repeats its
 * output; so a connection that is cut costs nothing but time.
 */
export class CellRun {
  readonly #sandbox: RemoteSandbox;
  readonly #facts: KernelFacts;
  readonly #cell: Cell;
  readonly #options: ExecuteOptions;
  readonly #id = crypto.randomUUID();
  /** Ends the request in flight: at a shutdown, or when the grace period is over. */
  readonly #end = new AbortController();
  readonly #settled = new AbortController();
  #next = 0;
  #fruitless = 0;
  #cuts = 0;
  #inFlight = false;
  /** A request may have reached the kernel although we never learned so. */
  #mayHaveRun = false;
  #interrupting: Promise<void> | undefined;
  #shutDown = false;

  constructor(sandbox: RemoteSandbox, facts: KernelFacts, cell: Cell, options: ExecuteOptions) {
    this.#sandbox = sandbox;
    this.#facts = facts;
    this.#cell = cell;
    this.#options = options;
  }

  /** Makes `run` reply `died` at once. */
  shutDown(): void {
    this.#shutDown = true;
    this.#end.abort();
  }

  /** @throws AppError for a refused cell, and when the sandbox was out of reach before anything ran. */
  async run(): Promise<CellOutcome> {
    const { signal } = this.#options;
    if (signal.aborted) return this.#ended();
    const onAbort = (): void => void this.#stop();
    signal.addEventListener("abort", onAbort, { once: true });
    const work = this.#work();
    work.catch(() => undefined); // after the end nobody else listens
    const ended = new Promise<CellOutcome>((resolve) => {
      this.#end.signal.addEventListener("abort", () => resolve(this.#ended()), { once: true });
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#settled.abort();
      this.#end.abort();
    }
  }

  /** Resolves when the next cell may be sent: no interrupt of this one can hit it any more. */
  async quiet(): Promise<void> {
    if (!this.#interrupting && this.#cuts === 0) return;
    await this.#interrupting;
    await sleep(QUIET_MS);
  }

  /** What to say when it is over before the kernel said anything. */
  #ended(): CellOutcome {
    if (this.#shutDown) return this.#outcome({ status: "died", detail: SHUT_DOWN });
    return this.#outcome({ status: "aborted", kernelAlive: !this.#inFlight && !this.#mayHaveRun });
  }

  async #work(): Promise<CellOutcome> {
    while (true) {
      if (this.#end.signal.aborted) return this.#ended();
      const outcome = await this.#follow(await this.#send());
      if (outcome) return outcome;
    }
  }

  #outcome(reply: ExecutionReply, cwd?: string): CellOutcome {
    return { reply, ...(cwd === undefined ? {} : { cwd }) };
  }

  async #send(): Promise<StreamEnd> {
    const { headChars: head, tailChars: tail } = this.#sandbox.settings;
    const request = { nonce: this.#facts.nonce, cell: this.#id, from: this.#next, head, tail };
    this.#inFlight = true;
    const end = await streamCell(this.#sandbox, {
      source: cellSource(this.#cell, request),
      cell: this.#id,
      signal: this.#end.signal,
      onBatch: (seq, items) => this.#take(seq, items),
    });
    this.#inFlight = false;
    return end;
  }

  #take(seq: number, items: readonly Item[]): void {
    if (seq < this.#next || this.#end.signal.aborted) return; // it was seen before, or nobody listens any more
    this.#next = seq + 1;
    this.#fruitless = 0;
    for (const item of items) if (isOutput(item)) this.#options.onOutput(item);
  }

  /** What follows from the end of one request: an outcome, or undefined for one more request. */
  async #follow(end: StreamEnd): Promise<CellOutcome | undefined> {
    switch (end.kind) {
      case "done":
        return this.#done(end.item as DoneItem);
      case "error":
        return this.#failed(end.name, end.value);
      case "refused":
        return this.#refused(end.refusal);
      case "cut":
        return this.#cut(end.cause);
    }
  }

  #done(item: DoneItem): CellOutcome {
    const { status, error, code, message, cwd, interrupted } = item;
    const files = parseChangedFiles(item.files);
    const told = files && { files };
    if (status === "refused") {
      if (code === "INTERNAL") return this.#gone("replaced by another one");
      throw new AppError(code as ErrorCode, message ?? "The cell was refused");
    }
    if (status === "aborted" || (this.#interrupting && interrupted)) {
      return this.#outcome({ status: "aborted", kernelAlive: true, ...(error ? { error } : {}), ...told }, cwd);
    }
    if (status !== "error" || !error) return this.#outcome({ status: "ok", ...told }, cwd);
    return this.#outcome({ status, error: interrupted && this.#cuts > 0 ? byTheCut(error) : error, ...told }, cwd);
  }

  /** The kernel is not there (any more); `started: false` where the cell surely did not run. */
  #gone(detail: string): CellOutcome {
    if (this.#options.signal.aborted) return this.#outcome({ status: "aborted", kernelAlive: false });
    return this.#outcome({ status: "died", detail, ...(this.#mayHaveRun ? {} : { started: false }) });
  }

  async #failed(name: string, value: string): Promise<CellOutcome | undefined> {
    if (name === NO_RUNNER.name && value.includes(NO_RUNNER.value)) {
      return this.#gone(await deathOf(this.#sandbox, this.#facts));
    }
    if (name === "KeyboardInterrupt") {
      return this.#outcome(this.#interrupting ? { status: "aborted", kernelAlive: true } : { status: "ok" });
    }
    this.#mayHaveRun = true;
    if (name === "ContextRestarting") return this.#gone(await deathOf(this.#sandbox, this.#facts));
    return this.#cut(new Error(`${name}: ${value}`));
  }

  async #refused(refusal: Refusal): Promise<CellOutcome | undefined> {
    this.#fruitless += 1;
    if (refusal.kind === "gone" || refusal.kind === "denied") {
      const alive = this.#fruitless <= 2 && (await this.#sandbox.renew());
      return alive ? undefined : this.#gone(GONE);
    }
    if (refusal.kind === "failed" || this.#fruitless >= MAX_FRUITLESS) {
      if (this.#mayHaveRun) return this.#gone(LOST);
      throw unreachable(refusal, undefined);
    }
    await sleep(refusal.afterMs, this.#end.signal);
    return undefined;
  }

  async #cut(cause: unknown): Promise<CellOutcome | undefined> {
    if (!this.#end.signal.aborted) {
      this.#sandbox.settings.log(`The stream of a cell was cut after ${this.#next} batches: ${String(cause)}`);
    }
    this.#mayHaveRun = true;
    this.#cuts += 1;
    this.#fruitless += 1;
    if (this.#fruitless >= MAX_FRUITLESS) return this.#gone(LOST);
    await sleep(QUIET_MS, this.#end.signal);
    return undefined;
  }

  async #stop(): Promise<void> {
    if (!this.#inFlight && !this.#mayHaveRun) return this.#end.abort();
    this.#interrupting = interruptUntil(this.#sandbox, this.#facts, this.#settled.signal);
    await sleep(this.#sandbox.settings.graceMs, this.#settled.signal);
    this.#end.abort();
  }
}

/** Some servers interrupt the cell of a client that they lost; then the code did not fail by itself. */
function byTheCut(error: PythonError): PythonError {
  const why = "the connection to the sandbox was lost, which interrupted the code";
  return { ...error, message: error.message || why, traceback: `${error.traceback}\n(${why})` };
}
