import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BwrapOptions, type BwrapSandbox, createBwrapSandbox } from "../../adapters/sandbox-bwrap.ts";
import { createSubprocessBackend } from "../../src/backends/subprocess/backend.ts";
import { findPython } from "../../src/backends/subprocess/find-python.ts";
import type { Backend, Kernel } from "../../src/core/backend.ts";
import { run, WORKER } from "../backends/subprocess-setup.ts";

/** Why no test of the sandbox can run here; undefined where they can. */
export function sandboxRefusal(): string | undefined {
  if (process.platform !== "linux") return "bubblewrap is for Linux";
  if (spawnSync("bwrap", ["--version"]).error) return "bubblewrap is not installed";
  const userNamespace = process.getuid?.() === 0 ? [] : ["--unshare-user"];
  const made = spawnSync("bwrap", [
    ...userNamespace,
    "--unshare-pid",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "true",
  ]);
  return made.status === 0 ? undefined : `bubblewrap cannot make namespaces here: ${String(made.stderr).trim()}`;
}

export type SandboxedBackend = {
  readonly backend: Backend;
  readonly sandbox: BwrapSandbox;
  /** Of the machine: below it are the sessions' homes. */
  readonly state: string;
  /** What the backend logged: faults of ours. */
  readonly log: string[];
  cleanUp(): Promise<void>;
};

/** A backend over the real worker whose kernels are confined. */
export async function makeSandboxedBackend(options: Partial<BwrapOptions> = {}): Promise<SandboxedBackend> {
  const state = await mkdtemp(join(tmpdir(), "sandbox-test-"));
  const log: string[] = [];
  const python = await findPython(process.env);
  const common = { python, workerPath: WORKER, log: (line: string) => void log.push(line) };
  const sandbox = await createBwrapSandbox({
    ...common,
    stateFolder: state,
    hidden: [],
    root: undefined,
    readable: undefined,
    network: false,
    memoryMb: 2048,
    maxProcesses: 256,
    env: process.env,
    ...options,
  });
  const backend = createSubprocessBackend({ ...common, env: {}, venvDir: join(state, "venv"), sandbox });
  const cleanUp = async (): Promise<void> => {
    await backend.close();
    await rm(state, { recursive: true, force: true });
  };
  return { backend, sandbox, state, log, cleanUp };
}

export function start(subject: SandboxedBackend, owner: string, sessionId: string, cwd?: string): Promise<Kernel> {
  const options = { owner, sessionId, epoch: 1, packages: [] };
  return subject.backend.startKernel(cwd === undefined ? options : { ...options, cwd });
}

/** Runs code that must not fail and returns what it showed. */
export async function tell(kernel: Kernel, code: string): Promise<string> {
  const { reply, text } = await run(kernel, code);
  assert.equal(reply.status, "ok", JSON.stringify(reply));
  return text.trimEnd();
}

/** The name of the exception that code ends with. */
export async function failure(kernel: Kernel, code: string): Promise<string> {
  const { reply } = await run(kernel, code);
  return reply.status === "error" ? reply.error.name : reply.status;
}
