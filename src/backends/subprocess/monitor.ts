import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { encodeFrame, FrameError, FrameReader } from "./frames.ts";
import { LineSplitter } from "./lines.ts";
import { killTree } from "./process-tree.ts";
import { type MonitorFrame, parseMonitorFrame, type ServerFrame } from "./protocol.ts";

export type MonitorOptions = {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Lines that the monitor wrote about faults of ours. */
  readonly log: (line: string) => void;
  readonly onFrame: (frame: MonitorFrame) => void;
  /** Once, after the last frame, with the way the monitor ended in a few words. */
  readonly onEnd: (detail: string) => void;
};

/** How long output may go on after the process has ended, for descendants that hold its pipe. */
const DRAIN_MS = 1000;
const MAX_LOG_LINE = 2000;

/** The process on the other end of the frames. It keeps the event loop alive only while it is held. */
export class Monitor {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #options: MonitorOptions;
  readonly #reader = new FrameReader();
  #holds = 1;
  #drain: NodeJS.Timeout | undefined;
  #ended = false;

  /** @throws Error when the system cannot start a process; most failures come to `onEnd` instead. */
  constructor(options: MonitorOptions) {
    this.#options = options;
    const [program, ...args] = options.command;
    // A session of its own: no controlling terminal, and signals to the server's group do not reach it.
    this.#child = spawn(program, args, { cwd: options.cwd, env: { ...options.env }, stdio: "pipe", detached: true });
    this.#listen();
  }

  send(frame: ServerFrame): void {
    if (!this.#ended && this.#child.stdin.writable) this.#child.stdin.write(encodeFrame(frame));
  }

  /** Keeps the event loop alive until `release` is called as often. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds === 1) this.#setRef("ref");
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) this.#setRef("unref");
  }

  /** Kills the monitor and everything below it at once. */
  kill(kernelPid: number | undefined): void {
    if (this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      killTree(this.#child.pid, kernelPid);
    }
  }

  #listen(): void {
    const child = this.#child;
    const faults = new LineSplitter(this.#options.log, MAX_LOG_LINE);
    child.stdout.on("data", (chunk: Uint8Array) => this.#read(chunk));
    child.stderr.on("data", (chunk: Uint8Array) => faults.push(chunk));
    child.stderr.on("end", () => faults.end());
    // Writing to a monitor that is gone is no fault: its end is told by `exit`.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
    child.on("error", (error) => {
      if (child.pid === undefined) this.#end(`not started: ${error.message}`);
      else this.#options.log(`A worker process failed: ${error.message}`);
    });
    child.on("exit", () => {
      this.#drain = setTimeout(() => this.#end(describeExit(child)), DRAIN_MS);
    });
    child.on("close", () => this.#end(describeExit(child)));
  }

  #read(chunk: Uint8Array): void {
    if (this.#ended) return;
    try {
      for (const value of this.#reader.push(chunk)) this.#options.onFrame(parseMonitorFrame(value));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#options.log(`A worker broke the protocol: ${error.message}`);
      this.kill(undefined);
      this.#end("stopped because it broke the protocol");
    }
  }

  #end(detail: string): void {
    clearTimeout(this.#drain);
    if (this.#ended) return;
    this.#ended = true;
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    this.#options.onEnd(detail);
  }

  #setRef(action: "ref" | "unref"): void {
    this.#child[action]();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) callIfPresent(stream, action);
  }
}

/** Pipes of child processes are sockets, which the types do not tell. */
function callIfPresent(stream: object, action: "ref" | "unref"): void {
  const method: unknown = Reflect.get(stream, action);
  if (typeof method === "function") method.call(stream);
}

function describeExit(child: ChildProcessWithoutNullStreams): string {
  return child.signalCode === null ? `ended with exit code ${child.exitCode}` : `killed by ${child.signalCode}`;
}
