import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { lineSplitter } from "./json-lines.ts";

/** A message of a kernel: Jupyter's type and content, and the id of the request it belongs to. */
export type KernelMessage = { readonly msg: string; readonly parent: string | null } & Record<string, unknown>;

export type KernelCommand = { readonly python: string; readonly ipython: boolean };

export type KernelProcess = {
  /** Resolves to the process id of the interpreter that runs user code. */
  readonly ready: Promise<number>;
  execute(id: string, code: string): void;
  interrupt(): void;
  kill(): void;
};

/** Starts `kernel.py`, or `bridge.py` with the real ipykernel, as the leader of its own process group. */
export function startKernelProcess(
  command: KernelCommand,
  options: {
    cwd: string;
    env: Record<string, string>;
    onMessage: (message: KernelMessage) => void;
    onExit: () => void;
  },
): KernelProcess {
  const script = fileURLToPath(new URL(`./kernel/${command.ipython ? "bridge.py" : "kernel.py"}`, import.meta.url));
  const child = spawn(command.python, ["-u", script, "-f", `/stand-in/kernel-${options.env.STAND_IN_KERNEL}.json`], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ["ignore", "ignore", process.env.STAND_IN_DEBUG ? "inherit" : "ignore", "pipe", "pipe"],
  });
  let pid = 0;
  const ready = new Promise<number>((resolve, reject) => {
    const split = lineSplitter((line) => {
      const message = JSON.parse(line) as KernelMessage;
      if (message.msg !== "hello") return options.onMessage(message);
      pid = Number(message.pid);
      resolve(pid);
    });
    (child.stdio[4] as Readable).on("data", split);
    child.once("exit", () => reject(new Error("The kernel ended before it was ready")));
    child.once("error", reject);
  });
  ready.catch(() => undefined);
  child.once("exit", () => options.onExit());
  const input = child.stdio[3] as Writable;
  input.on("error", () => undefined); // a dead kernel is told by "exit"
  return {
    ready,
    execute: (id, code) => void input.write(`${JSON.stringify({ id, code })}\n`),
    interrupt: () => signalGroup(pid, "SIGINT"),
    kill: () => killChild(child, pid),
  };
}

function killChild(child: ChildProcess, pid: number): void {
  if (child.pid) signalGroup(child.pid, "SIGKILL");
  if (pid && pid !== child.pid) signalGroup(pid, "SIGKILL");
}

/** Signals a process group that this stand-in started; a group that is gone is fine. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export const newKernelId = (): string => randomUUID();
