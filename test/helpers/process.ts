import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** The folder of the package. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The command that starts our server; other runtimes name theirs in `REPL_TEST_COMMAND`, separated by blanks. */
export const SERVER_COMMAND: readonly [string, ...string[]] = commandOf(process.env.REPL_TEST_COMMAND);

function commandOf(text: string | undefined): [string, ...string[]] {
  const [program, ...args] = text?.split(" ").filter((part) => part !== "") ?? [];
  return program === undefined ? [process.execPath, `${ROOT}/dist/cli.js`] : [program, ...args];
}

export type Environment = Readonly<Record<string, string>>;

/** This process's environment without settings of ours, so that a test says all that it sets. */
export function cleanEnvironment(settings: Environment = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(REPL_|MCP_|E2B_|NODE_TEST|XDG_)/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...settings };
}

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A child process whose output is collected. */
export type Running = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves when the process is gone and its output was read. */
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
};

/** @throws Error when the program cannot be started. */
export async function start(
  command: readonly [string, ...string[]],
  options: SpawnOptions & { readonly env: Record<string, string> },
): Promise<Running> {
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: "pipe", ...options });
  const collected = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      collected[name] += text;
    });
  }
  const exited = new Promise<Exit>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  await once(child, "spawn");
  return {
    child,
    pid: child.pid as number,
    exited,
    stdout: () => collected.stdout,
    stderr: () => collected.stderr,
  };
}

/** Runs a program to its end; a program that runs longer than `limitMs` is killed and the call fails. */
export async function runToEnd(
  command: readonly [string, ...string[]],
  {
    limitMs = 20_000,
    ...options
  }: { readonly env?: Environment; readonly cwd?: string; readonly limitMs?: number } = {},
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const running = await start(command, { ...options, env: cleanEnvironment(options.env) });
  running.child.stdin?.end();
  const exit = await within(running.exited, limitMs, `the end of ${command.join(" ")}`).catch((error: unknown) => {
    running.child.kill("SIGKILL");
    throw error;
  });
  return { ...exit, stdout: running.stdout(), stderr: running.stderr() };
}

/** A loopback port nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("No port was given");
  return address.port;
}

/** @throws Error naming `what` when `promise` has not settled after `limitMs`. */
export function within<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${limitMs} ms for ${what}`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Asks again and again until `probe` gives something other than undefined or false.
 * @throws Error naming `what` after `limitMs`.
 */
export async function until<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  limitMs = 10_000,
): Promise<T> {
  const end = performance.now() + limitMs;
  while (performance.now() < end) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Waited ${limitMs} ms for ${what}`);
}

/** Is there a process with this id? A zombie that nobody has waited for counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true; // It has just ended.
  }
}
