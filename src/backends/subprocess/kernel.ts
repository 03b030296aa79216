import type {
  ExecuteOptions,
  InstallOptions,
  InstallReply,
  Kernel,
  KernelFiles,
  KernelRef,
} from "../../core/backend.ts";
import type { ChangedFiles } from "../../core/changed-files.ts";
import { type Deferred, deferred } from "../../core/deferred.ts";
import { AppError } from "../../core/errors.ts";
import type { Cell, ExecutionReply } from "../../core/execution.ts";
import { FrameError } from "./frames.ts";
import { createKernelFiles, type FileQuestion } from "./kernel-files.ts";
import { Monitor } from "./monitor.ts";
import type { DiedFrame, Fields, MonitorFrame, ReadyFrame, ReplyFrame } from "./protocol.ts";
import { RunningCell } from "./running-cell.ts";

export type KernelSettings = {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Inside a sandbox process ids mean nothing to us. */
  readonly sandboxed: boolean;
  /** Time for interrupted code to stop, and for an idle kernel to end, in milliseconds. */
  readonly graceMs: number;
  /** Bytes of a cell's printed text that are kept: the first and the last. */
  readonly headBytes: number;
  readonly tailBytes: number;
  readonly log: (line: string) => void;
  readonly install: (requirements: readonly string[], options: InstallOptions) => Promise<InstallReply>;
};

const START_MS = 30_000;
const FILE_MS = 60_000;
/** Beyond the grace period the monitor has this long to answer before we kill it. */
const ANSWER_MS = 1500;
/** A killed process that the system does not end within this time is left to it. */
const REAP_MS = 2000;

/** One monitor with its kernel. */
export class SubprocessKernel implements Kernel {
  readonly died: Promise<string>;
  readonly files: KernelFiles;
  readonly #settings: KernelSettings;
  readonly #monitor: Monitor;
  readonly #ready: Deferred<ReadyFrame> = deferred();
  readonly #died: Deferred<string> = deferred();
  readonly #ended: Deferred<void> = deferred();
  readonly #requests = new Map<number, Deferred<Fields>>();
  #kernelPid: number | undefined;
  #cell: RunningCell | undefined;
  #lastId = 0;
  #gone: string | undefined;
  #closing: Promise<void> | undefined;
  #reaper: NodeJS.Timeout | undefined;

  private constructor(settings: KernelSettings) {
    this.#settings = settings;
    this.died = this.#died.promise;
    this.files = createKernelFiles((question) => this.#ask(question));
    this.#monitor = new Monitor({
      command: settings.command,
      cwd: settings.cwd,
      env: settings.env,
      log: settings.log,
      onFrame: (frame) => this.#receive(frame),
      onEnd: (detail) => this.#end(detail),
    });
  }

  /**
   * Resolves when the kernel can take cells.
   * @throws AppError BACKEND_UNAVAILABLE.
   */
  static async start(settings: KernelSettings): Promise<SubprocessKernel> {
    try {
      const kernel = new SubprocessKernel(settings);
      await kernel.#awaitReady();
      return kernel;
    } catch (error) {
      settings.log(`Python could not be started: ${error instanceof Error ? error.message : String(error)}`);
      throw new AppError("BACKEND_UNAVAILABLE", "Python could not be started; the server's log has the cause", {
        cause: error,
      });
    }
  }

  get ref(): KernelRef {
    return { pid: this.#kernelPid ?? null };
  }

  /** Resolves when the process has ended, whatever the reason. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get alive(): boolean {
    return this.#gone === undefined && this.#closing === undefined;
  }

  async execute(cell: Cell, options: ExecuteOptions): Promise<ExecutionReply> {
    if (this.#cell) throw new TypeError("A kernel runs one cell at a time");
    if (!this.alive) return { status: "died", detail: this.#gone ?? "shut down", started: false };
    if (options.signal.aborted) return { status: "aborted", kernelAlive: true };
    const { graceMs, headBytes, tailBytes } = this.#settings;
    const id = this.#nextId();
    this.#send({ op: "execute", id, ...cell, head: headBytes, tail: tailBytes });
    const running = new RunningCell(id, options, {
      interrupt: () => this.#monitor.send({ op: "interrupt", id, grace: graceMs / 1000 }),
      kill: () => this.#kill("killed because its monitor did not answer"),
      limitMs: graceMs + ANSWER_MS,
    });
    this.#cell = running;
    this.#monitor.hold();
    try {
      return await running.reply;
    } finally {
      this.#cell = undefined;
      this.#monitor.release();
    }
  }

  shutdown(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  install(requirements: readonly string[], options: InstallOptions): Promise<InstallReply> {
    return this.#settings.install(requirements, options);
  }

  async #awaitReady(): Promise<void> {
    const limit = setTimeout(() => this.#kill(`not ready within ${START_MS / 1000} s`), START_MS);
    try {
      const { pid } = await this.#ready.promise;
      this.#kernelPid = this.#settings.sandboxed ? undefined : pid;
    } finally {
      clearTimeout(limit);
      this.#monitor.release();
    }
  }

  async #close(): Promise<void> {
    const { graceMs } = this.#settings;
    const timers = [
      setTimeout(() => this.#monitor.kill(this.#kernelPid), graceMs + ANSWER_MS),
      setTimeout(() => this.#end("shut down"), graceMs + ANSWER_MS + REAP_MS),
    ];
    this.#monitor.hold();
    this.#monitor.send({ op: "shutdown", grace: graceMs / 1000 });
    await this.#ended.promise;
    this.#monitor.release();
    for (const timer of timers) clearTimeout(timer);
  }

  #receive(frame: MonitorFrame): void {
    if (frame.type === "ready") this.#ready.resolve(frame);
    else if (frame.type === "reply") this.#answer(frame);
    else if (frame.type === "died") this.#childDied(frame);
    else if (frame.id !== this.#cell?.id) return;
    else if (frame.type === "done") this.#cell.done(frame);
    else this.#cell.output(frame);
  }

  #childDied(frame: DiedFrame): void {
    // The monitor kills what is left of the tree and ends; that must not take for ever.
    this.#reaper = setTimeout(() => this.#monitor.kill(undefined), this.#settings.graceMs + ANSWER_MS).unref();
    this.#lose(frame.detail, frame.aborted, frame.files);
  }

  #answer(frame: ReplyFrame): void {
    const request = this.#requests.get(frame.id);
    this.#requests.delete(frame.id);
    if (frame.error) request?.reject(new AppError(frame.error.code, frame.error.message));
    else request?.resolve(frame.value);
  }

  async #ask(question: FileQuestion): Promise<Fields> {
    if (!this.alive) throw kernelGone();
    const id = this.#nextId();
    const answer: Deferred<Fields> = deferred();
    const limit = setTimeout(() => {
      answer.reject(new AppError("BACKEND_UNAVAILABLE", `No answer about the file within ${FILE_MS / 1000} s`));
    }, FILE_MS);
    this.#requests.set(id, answer);
    this.#monitor.hold();
    try {
      this.#send({ ...question, id });
      return await answer.promise;
    } finally {
      clearTimeout(limit);
      this.#requests.delete(id);
      this.#monitor.release();
    }
  }

  #send(frame: Parameters<Monitor["send"]>[0]): void {
    try {
      this.#monitor.send(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      throw new AppError("TOO_LARGE", "The code or file is too large to be passed to Python", { cause: error });
    }
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #kill(detail: string): void {
    this.#monitor.kill(this.#kernelPid);
    this.#lose(detail, false);
  }

  #lose(detail: string, stopped: boolean, files?: ChangedFiles): void {
    if (this.#gone !== undefined) return;
    this.#gone = this.#closing ? "shut down" : detail;
    this.#ready.reject(new Error(`The worker was ${detail}`));
    this.#cell?.lost(this.#gone, stopped, files);
    for (const request of this.#requests.values()) request.reject(kernelGone());
    if (!this.#closing) this.#died.resolve(detail);
  }

  #end(detail: string): void {
    clearTimeout(this.#reaper);
    this.#lose(detail, false);
    this.#ended.resolve();
  }
}

function kernelGone(): AppError {
  return new AppError("BACKEND_UNAVAILABLE", "The session's interpreter has ended; run code to start a new one");
}
