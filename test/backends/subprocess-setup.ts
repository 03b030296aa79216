import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSubprocessBackend, type SubprocessOptions } from "../../src/backends/subprocess/backend.ts";
import { findPython, type PythonInfo } from "../../src/backends/subprocess/find-python.ts";
import type { Backend, Kernel } from "../../src/core/backend.ts";
import type { ExecutionReply, Output } from "../../src/core/execution.ts";

export const WORKER = fileURLToPath(new URL("../../src/worker/main.py", import.meta.url));

export type TestBackend = {
  readonly backend: Backend;
  /** A fresh folder, where sessions start. */
  readonly folder: string;
  /** What the backend logged: faults of ours. */
  readonly log: readonly string[];
  readonly cleanUp: () => Promise<void>;
};

/** The Python that the tests run: REPL_PYTHON, or the first on PATH. */
export async function testPython(): Promise<PythonInfo> {
  return findPython(process.env);
}

export function testEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith("REPL_")));
}

/**
 * A backend over the real worker in a fresh folder.
 * @param options.ownPackages Installs go to a virtual environment made for this backend.
 */
export async function makeTestBackend(
  options: Partial<SubprocessOptions> & { readonly ownPackages?: boolean } = {},
): Promise<TestBackend> {
  const folder = await mkdtemp(join(tmpdir(), "subprocess-test-"));
  const log: string[] = [];
  const { ownPackages, ...others } = options;
  const found = await testPython();
  const backend = createSubprocessBackend({
    // Marked as not ours to change, so that the backend makes an environment of its own.
    python: ownPackages ? { ...found, externallyManaged: true } : found,
    workerPath: WORKER,
    env: testEnvironment(),
    venvDir: join(folder, "venv"),
    defaultCwd: folder,
    log: (line) => log.push(line),
    ...others,
  });
  const cleanUp = async (): Promise<void> => {
    await backend.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { backend, folder, log, cleanUp };
}

export function startKernel(backend: Backend, cwd?: string): Promise<Kernel> {
  const options = { owner: "test", sessionId: "test", epoch: 1, packages: [] };
  return backend.startKernel(cwd === undefined ? options : { ...options, cwd });
}

export type Ran = { readonly reply: ExecutionReply; readonly outputs: readonly Output[]; readonly text: string };

/** Runs a cell; `text` is what it printed and then its value, as one text. */
export async function run(kernel: Kernel, code: string, signal = new AbortController().signal): Promise<Ran> {
  const outputs: Output[] = [];
  const reply = await kernel.execute({ code, number: 1 }, { signal, onOutput: (output) => outputs.push(output) });
  const text = outputs.map((output) => (output.type === "stream" ? output.text : output.data["text/plain"])).join("");
  return { reply, outputs, text };
}

/** Waits until `condition` holds. @throws AssertionError when it takes more than `limitMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 10_000,
): Promise<void> {
  for (const from = performance.now(); !(await condition()); ) {
    assert.ok(performance.now() - from < limitMs, `${what}: not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits for what nothing else may keep the process alive for. @throws AssertionError after `limitMs`. */
export async function soon<T>(promise: Promise<T>, what: string, limitMs = 10_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `${what}: not within ${limitMs} ms` })),
      limitMs,
    );
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

/** Does the process still run? One that has ended and that nobody has asked for yet does not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/\) [ZX] /.test(stat);
  } catch {
    return false; // No such process is the only reason that can be here.
  }
}

/** The monitors that this process has started and that still run. Linux only. */
export function monitors(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  const pids = children.split(" ").filter((pid) => pid !== "");
  return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(WORKER)).map(Number);
}

export function cwdOf(pid: number): string {
  return readlinkSync(`/proc/${pid}/cwd`);
}

export const execute = promisify(execFile);
