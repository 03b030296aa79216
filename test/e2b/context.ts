import { randomUUID } from "node:crypto";
import {
  type KernelCommand,
  type KernelMessage,
  type KernelProcess,
  newKernelId,
  startKernelProcess,
} from "./kernel-process.ts";
import { resultLine } from "./result-line.ts";

/** One line of the answer to POST /execute. */
export type Line = Record<string, unknown> & { readonly type: string };

type Execution = { readonly push: (line: Line | null) => void; accepted: boolean; errored: boolean };

export type ContextOptions = {
  readonly kernel: KernelCommand;
  readonly env: Record<string, string>;
  readonly restartDelayMs: number;
  readonly keepaliveMs: number;
  readonly readEnvs: (token: string | undefined) => Record<string, unknown>;
};

/** A code context: one kernel, its lock, and the translation of Jupyter's messages to the lines of the answer. */
export class Context {
  readonly id = newKernelId();
  readonly language: string;
  readonly cwd: string;
  private readonly options: ContextOptions;
  private readonly executions = new Map<string, Execution>();
  private kernel: KernelProcess | undefined;
  private lock: Promise<void> = Promise.resolve();
  private prefixSent = false;
  private closed = false;
  busy = false;
  /** How often a kernel was started. */
  starts = 0;

  constructor(language: string, cwd: string, options: ContextOptions) {
    this.language = language;
    this.cwd = cwd;
    this.options = options;
  }

  async start(): Promise<void> {
    const process = startKernelProcess(this.options.kernel, {
      cwd: this.cwd,
      env: { ...this.options.env, STAND_IN_KERNEL: this.id },
      onMessage: (message) => this.receive(message),
      onExit: () => this.kernelEnded(process),
    });
    this.kernel = process;
    this.busy = false;
    this.starts += 1;
    await process.ready;
  }

  /** As the real server does it: the kernel is new, running cells end with UnexpectedEndOfExecution. */
  async restart(): Promise<void> {
    this.failAll(
      "UnexpectedEndOfExecution",
      "Connection to the execution was closed before the execution was finished",
    );
    this.killKernel();
    await this.start();
  }

  close(): void {
    this.closed = true;
    this.failAll(
      "UnexpectedEndOfExecution",
      "Connection to the execution was closed before the execution was finished",
    );
    this.killKernel();
  }

  interrupt(): void {
    this.kernel?.interrupt();
  }

  /** Queues behind the other cells of this context; yields lines until the cell ends or `signal` fires. */
  async *execute(code: string, token: string | undefined, signal: AbortSignal): AsyncGenerator<Line> {
    const release = await this.acquire();
    try {
      if (signal.aborted) return;
      const id = randomUUID();
      const lines = new LineQueue(this.options.keepaliveMs, signal);
      this.executions.set(id, { push: (line) => lines.push(line), accepted: false, errored: false });
      try {
        this.kernel?.execute(id, this.withPrefix(code, token));
        yield* lines.drain();
      } finally {
        this.executions.delete(id);
      }
    } finally {
      release();
    }
  }

  private async acquire(): Promise<() => void> {
    const before = this.lock;
    let release: () => void = () => undefined;
    this.lock = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }

  /** The first cell of a context gets the sandbox's variables as Python source, unquoted as in the real server. */
  private withPrefix(code: string, token: string | undefined): string {
    if (this.prefixSent) return code;
    this.prefixSent = true;
    const indent = /^[ \t]*/.exec(code.split("\n").find((line) => line.trim()) ?? "")?.[0] ?? "";
    const pairs = Object.entries(this.options.readEnvs(token));
    return `${pairs.map(([key, value]) => `${indent}import os; os.environ['${key}'] = '${value}'`).join("\n")}\n\n${code}`;
  }

  private receive(message: KernelMessage): void {
    if (message.msg === "status") this.busy = message.execution_state === "busy";
    const execution = message.parent === null ? undefined : this.executions.get(message.parent);
    if (!execution) return;
    const line = lineOf(message, execution);
    if (line) execution.push(line);
    if (message.msg === "status" && message.execution_state === "idle" && execution.accepted) execution.push(null);
  }

  private kernelEnded(process: KernelProcess): void {
    if (this.closed || this.kernel !== process) return;
    setTimeout(() => {
      if (this.closed || this.kernel !== process) return;
      this.failAll("ContextRestarting", "Context was restarted");
      this.start().catch(() => undefined); // told by the next cell, which finds no kernel
    }, this.options.restartDelayMs);
  }

  private killKernel(): void {
    const kernel = this.kernel;
    this.kernel = undefined;
    kernel?.kill();
  }

  private failAll(name: string, value: string): void {
    for (const execution of this.executions.values()) {
      execution.push({ type: "error", name, value, traceback: "" });
      execution.push(null);
    }
  }
}

function lineOf(message: KernelMessage, execution: Execution): Line | undefined {
  switch (message.msg) {
    case "execute_input":
      execution.accepted = true;
      return { type: "number_of_executions", execution_count: message.execution_count };
    case "stream":
      return { type: String(message.name), text: message.text, timestamp: new Date().toISOString() };
    case "display_data":
    case "execute_result":
      return resultLine(message.data as Record<string, unknown>, message.msg === "execute_result");
    case "error": {
      if (execution.errored) return undefined;
      execution.errored = true;
      const traceback = (message.traceback as string[]).join("");
      return { type: "error", name: message.ename, value: message.evalue, traceback };
    }
    default:
      return undefined;
  }
}

/** Lines in order, with a keepalive after each silence; null ends it. */
class LineQueue {
  private readonly waiting: (Line | null)[] = [];
  private readonly keepaliveMs: number;
  private readonly signal: AbortSignal;
  private wake: () => void = () => undefined;

  constructor(keepaliveMs: number, signal: AbortSignal) {
    this.keepaliveMs = keepaliveMs;
    this.signal = signal;
    signal.addEventListener("abort", () => this.wake());
  }

  push(line: Line | null): void {
    this.waiting.push(line);
    this.wake();
  }

  async *drain(): AsyncGenerator<Line> {
    while (!this.signal.aborted) {
      const line = this.waiting.shift();
      if (line === null) return;
      if (line !== undefined) yield line;
      else if (await this.silence()) yield { type: "keepalive" };
    }
  }

  private silence(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(true), this.keepaliveMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });
  }
}
