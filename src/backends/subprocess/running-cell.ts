import type { ExecuteOptions } from "../../core/backend.ts";
import type { ChangedFiles } from "../../core/changed-files.ts";
import { type Deferred, deferred } from "../../core/deferred.ts";
import { AppError } from "../../core/errors.ts";
import type { ExecutionReply } from "../../core/execution.ts";
import type { DoneFrame, OutputFrame } from "./protocol.ts";

export type StopMeans = {
  readonly interrupt: () => void;
  /** The last resort, when the monitor has not stopped the cell within `limitMs`. */
  readonly kill: () => void;
  readonly limitMs: number;
};

/** The cell that a kernel runs: passes its output on and settles its reply once. */
export class RunningCell {
  readonly id: number;
  readonly #options: ExecuteOptions;
  readonly #stop: StopMeans;
  readonly #reply: Deferred<ExecutionReply> = deferred();
  readonly #abort = (): void => this.#interrupt();
  #timer: NodeJS.Timeout | undefined;
  #overdue = false;
  #settled = false;

  constructor(id: number, options: ExecuteOptions, stop: StopMeans) {
    this.id = id;
    this.#options = options;
    this.#stop = stop;
    options.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Rejects with an AppError when the cell was refused. */
  get reply(): Promise<ExecutionReply> {
    return this.#reply.promise;
  }

  output(frame: OutputFrame): void {
    if (this.#settled) return;
    const { id: _, ...output } = frame;
    this.#options.onOutput(output);
  }

  done(frame: DoneFrame): void {
    if (!this.#settle()) return;
    if (frame.status === "refused") this.#reply.reject(new AppError(frame.code, frame.message));
    else this.#reply.resolve(toReply(frame));
  }

  /** The kernel is gone; `stopped` when that was done to stop this cell. */
  lost(detail: string, stopped: boolean, files?: ChangedFiles): void {
    if (!this.#settle()) return;
    const aborted = stopped || this.#overdue;
    const told = files && { files };
    this.#reply.resolve(
      aborted ? { status: "aborted", kernelAlive: false, ...told } : { status: "died", detail, ...told },
    );
  }

  #interrupt(): void {
    this.#stop.interrupt();
    this.#timer = setTimeout(() => {
      this.#overdue = true;
      this.#stop.kill();
    }, this.#stop.limitMs);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#abort);
    return true;
  }
}

function toReply(frame: Exclude<DoneFrame, { status: "refused" }>): ExecutionReply {
  const files = frame.files && { files: frame.files };
  if (frame.status === "ok") return { status: "ok", ...files };
  if (frame.status === "error") return { status: "error", error: frame.error, ...files };
  return { status: "aborted", kernelAlive: true, ...(frame.error ? { error: frame.error } : {}), ...files };
}
