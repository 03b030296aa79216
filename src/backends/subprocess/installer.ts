import type { InstallOptions, InstallReply } from "../../core/backend.ts";
import { type Deferred, deferred } from "../../core/deferred.ts";
import { AppError } from "../../core/errors.ts";
import { compareDistributions, readDistributions } from "./distributions.ts";
import type { Environment } from "./environment.ts";
import { LineSplitter } from "./lines.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";

export type Installer = {
  /** @throws AppError INSTALL_FAILED, CANCELLED. */
  install(requirements: readonly string[], options: InstallOptions): Promise<InstallReply>;
  /** Stops what is being installed. */
  close(): void;
};

export type InstallerOptions = {
  readonly environment: () => Promise<Environment>;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds that one installation may take. */
  readonly limitMs: number;
  /** Installs in place of what this file does. */
  readonly perform?: (environment: Environment, requirements: readonly string[], call: InstallOptions) => Promise<void>;
};

type Command = readonly [string, ...string[]];

const MAX_LINE = 1000;
/** Lines that are kept to explain a failure. */
const KEPT_LINES = 50;
const TOLD_LINES = 3;

/** Installs into the environment that all kernels share, one installation at a time. */
export function createInstaller(options: InstallerOptions): Installer {
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  return {
    async install(requirements, call) {
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const before = last;
      const done: Deferred<void> = deferred();
      last = before.then(() => done.promise);
      try {
        await awaitTurn(before, signal);
        return await installNow(options, requirements, { ...call, signal });
      } finally {
        done.resolve();
      }
    },
    close: () => closing.abort(),
  };
}

async function installNow(
  options: InstallerOptions,
  requirements: readonly string[],
  call: InstallOptions,
): Promise<InstallReply> {
  const environment = await options.environment();
  if (environment.readOnly !== undefined) throw failed(requirements, environment.readOnly);
  const { importPaths, packagePaths } = environment;
  const visible = await readDistributions(importPaths);
  const before = await readDistributions(packagePaths);
  const hasPip = environment.hasPip || before.has("pip");
  if (options.perform) await options.perform(environment, requirements, call);
  else await installDirectly(options, { ...environment, hasPip }, requirements, call);
  return compareDistributions(visible, before, await readDistributions(packagePaths));
}

async function installDirectly(
  options: InstallerOptions,
  environment: Environment,
  requirements: readonly string[],
  call: InstallOptions,
): Promise<void> {
  const command = await chooseCommand(options, environment, requirements, call);
  await runInstaller(options, command, requirements, call);
}

async function chooseCommand(
  options: InstallerOptions,
  environment: Environment,
  requirements: readonly string[],
  call: InstallOptions,
): Promise<Command> {
  const { python, uv } = environment;
  if (!environment.hasPip && uv !== undefined) {
    return [uv, "pip", "install", "--no-progress", "--color", "never", "--python", python, "--", ...requirements];
  }
  if (!environment.hasPip)
    await runInstaller(options, [python, "-m", "ensurepip", "--default-pip"], requirements, call);
  const quiet = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--no-color"];
  return [python, "-m", "pip", "install", ...quiet, "--", ...requirements];
}

/** Runs one command of an installation to its end. @throws AppError INSTALL_FAILED with its last lines, CANCELLED. */
export async function runInstaller(
  options: Pick<InstallerOptions, "env" | "limitMs">,
  command: Command,
  requirements: readonly string[],
  call: InstallOptions,
): Promise<void> {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => {
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    call.onProgress(line);
  }, MAX_LINE);
  const end = await runProgram(command, {
    env: { ...options.env, PYTHONUTF8: "1", PYTHONINSPECT: "", PIP_USER: "0", PIP_ROOT_USER_ACTION: "ignore" },
    limitMs: options.limitMs,
    signal: call.signal,
    onOutput: (chunk) => splitter.push(chunk),
  });
  splitter.end();
  if (end.kind === "exit" && end.code === 0) return;
  if (end.kind === "aborted") throw cancelled();
  throw failed(requirements, explain(end, lines, options.limitMs));
}

function explain(end: ProgramEnd, lines: readonly string[], limitMs: number): string {
  if (end.kind === "not started") return `the installer could not be started (${end.error.message})`;
  if (end.kind === "timeout") return `not done within ${limitMs / 1000} s`;
  // pip marks its reasons with ERROR:, uv with error: and then cause: or hint:.
  const marked = lines.filter((line) => /^(?:error\b|.*\berror:|\s*(?:cause|hint):)/i.test(line));
  const last = (marked.length > 0 ? marked : lines).slice(-TOLD_LINES);
  const told = last.map((line) => line.trim()).join("; ");
  return told === "" ? "the installer said nothing" : told;
}

export function failed(requirements: readonly string[], why: string): AppError {
  return new AppError("INSTALL_FAILED", `Installing ${requirements.join(", ")} failed: ${why}`);
}

function cancelled(): AppError {
  return new AppError("CANCELLED", "The installation was cancelled");
}

/** @throws AppError CANCELLED as soon as the signal fires, however long the turn takes. */
async function awaitTurn(turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const abort: Deferred<never> = deferred();
  const onAbort = (): void => abort.reject(cancelled());
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await Promise.race([turn, abort.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
