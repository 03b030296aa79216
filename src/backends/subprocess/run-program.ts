import { spawn } from "node:child_process";
import { killGroup } from "./process-tree.ts";

export type ProgramOptions = {
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; past them the program is stopped. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  readonly onOutput: (chunk: Uint8Array) => void;
};

export type ProgramEnd =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "killed" | "timeout" | "aborted" }
  | { readonly kind: "not started"; readonly error: Error };

/** Time to clean up between an interrupt and the kill. */
const GRACE_MS = 2000;

/**
 * Runs a program to its end with an empty stdin, both outputs as one, in a process group of its own, which is
 * interrupted and then killed when the time is over or the signal fires. Never rejects.
 */
export function runProgram(command: readonly [string, ...string[]], options: ProgramOptions): Promise<ProgramEnd> {
  const [program, ...args] = command;
  return new Promise((resolve) => {
    // The root folder: a file beside the server must not stand in for a module that the program imports.
    const child = spawn(program, args, {
      cwd: "/",
      env: { ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let stopped: "timeout" | "aborted" | undefined;
    let killer: NodeJS.Timeout | undefined;
    const stop = (why: "timeout" | "aborted"): void => {
      if (stopped || child.pid === undefined) return;
      stopped = why;
      const pid = child.pid;
      killGroup(pid, "SIGINT");
      killer = setTimeout(() => killGroup(pid), GRACE_MS);
    };
    const abort = (): void => stop("aborted");
    const limit = setTimeout(() => stop("timeout"), options.limitMs);
    const settle = (end: ProgramEnd): void => {
      clearTimeout(limit);
      clearTimeout(killer);
      options.signal?.removeEventListener("abort", abort);
      // What the program left running in its group goes with it.
      if (stopped && child.pid !== undefined) killGroup(child.pid);
      resolve(stopped ? { kind: stopped } : end);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", options.onOutput);
    child.on("error", (error) => settle({ kind: "not started", error }));
    child.on("close", (code) => settle(code === null ? { kind: "killed" } : { kind: "exit", code }));
    options.signal?.addEventListener("abort", abort, { once: true });
    if (options.signal?.aborted) abort();
  });
}

/** Runs a program for its text output, at most `maxBytes` of it; undefined when it failed. */
export async function askProgram(
  command: readonly [string, ...string[]],
  options: { readonly env: Readonly<Record<string, string>>; readonly limitMs: number },
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  const end = await runProgram(command, { ...options, onOutput: (chunk) => chunks.push(chunk) });
  return end.kind === "exit" && end.code === 0 ? Buffer.concat(chunks).toString("utf8") : undefined;
}
