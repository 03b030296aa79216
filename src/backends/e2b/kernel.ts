import type {
  ExecuteOptions,
  InstallOptions,
  InstallReply,
  Kernel,
  KernelFiles,
  KernelRef,
} from "../../core/backend.ts";
import { deferred } from "../../core/deferred.ts";
import type { Cell, ExecutionReply } from "../../core/execution.ts";
import { CellRun, GONE, SHUT_DOWN } from "./cell-run.ts";
import { createFiles } from "./files.ts";
import { installInSandbox } from "./install.ts";
import { type KernelFacts, makeRef, sealTokens } from "./ref.ts";
import { type RemoteSandbox, sleep } from "./sandbox.ts";
import type { Seal } from "./seal.ts";

/** A reply waits no longer for the end of a lost sandbox; the end goes on. */
const MOST_KILL_MS = 3_000;

/** A kernel in a sandbox of its own. */
export class E2bKernel implements Kernel {
  readonly files: KernelFiles;
  readonly died: Promise<string>;
  #sandbox: RemoteSandbox;
  readonly #facts: KernelFacts;
  readonly #death = deferred<string>();
  #tokens: string | null;
  #cwd: string | undefined;
  #running: CellRun | undefined;
  /** Resolves when no interrupt of the last cell can hit the next one. */
  #quiet: Promise<void> = Promise.resolve();
  #ended: string | undefined;
  #killing: Promise<void> | undefined;

  /** Use `createKernel`. */
  constructor(sandbox: RemoteSandbox, facts: KernelFacts, tokens: string | null, cwd: string | undefined) {
    this.#sandbox = sandbox;
    this.#facts = facts;
    this.#tokens = tokens;
    this.#cwd = cwd;
    this.died = this.#death.promise;
    this.files = createFiles(sandbox, facts, () => (this.#running ? undefined : this.#cwd));
  }

  get ref(): KernelRef {
    return makeRef(this.#sandbox.connection, this.#facts, this.#sandbox.lease, this.#tokens);
  }

  get endsAt(): number {
    return this.#sandbox.lease.until;
  }

  setTokens(tokens: string | null): void {
    this.#tokens = tokens;
  }

  async execute(cell: Cell, options: ExecuteOptions): Promise<ExecutionReply> {
    if (this.#ended !== undefined) return { status: "died", detail: this.#ended, started: false };
    await this.#quiet;
    if (options.signal.aborted) return { status: "aborted", kernelAlive: true };
    const taken = this.#takeLease(options.timeoutMs);
    const lease = await unlessAborted(options.signal, taken);
    if (lease === ABORTED) {
      void taken.then((late) => late?.release()).catch(() => undefined); // the next cell asks for itself
      return { status: "aborted", kernelAlive: true };
    }
    if (!lease) return this.#lost({ status: "died", detail: GONE, started: false });
    const run = new CellRun(this.#sandbox, this.#facts, cell, options);
    this.#running = run;
    if (this.#ended !== undefined) run.shutDown();
    try {
      const { reply, cwd } = await run.run();
      this.#cwd = cwd ?? this.#cwd;
      return await this.#lost(reply);
    } finally {
      this.#running = undefined;
      this.#quiet = run.quiet();
      lease.release();
    }
  }

  /**
   * Sees to it that the sandbox outlives the cell. Where its time is short but enough it is renewed beside the run;
   * without a limit it is renewed again and again. Resolves to undefined when the sandbox is gone.
   */
  async #takeLease(timeoutMs: number | undefined): Promise<{ release(): void } | undefined> {
    const sandbox = this.#sandbox;
    const { idleSeconds, leaseMarginMs, leaseMs } = sandbox.settings;
    const idleMs = idleSeconds * 1000;
    const needMs = (timeoutMs ?? idleMs) + leaseMarginMs;
    // Twice, since the first may find a renewal under way that is shorter than this cell needs.
    for (let attempt = 0; attempt < 2 && sandbox.remainingMs < needMs; attempt += 1) {
      if (!(await sandbox.renew(needMs + leaseMarginMs))) return undefined; // time passes while it is renewed
    }
    const renew = (): Promise<unknown> =>
      sandbox
        .renew(needMs)
        .catch((error: unknown) => sandbox.settings.log(`A sandbox was not renewed: ${String(error)}`));
    if (sandbox.remainingMs < idleMs) void renew();
    const timer = timeoutMs === undefined ? setInterval(renew, Math.max(1_000, leaseMs / 3)) : undefined;
    return { release: () => clearInterval(timer) };
  }

  /** After a reply that says that the kernel is gone, the sandbox goes too. */
  async #lost(reply: ExecutionReply): Promise<ExecutionReply> {
    const lost = reply.status === "died" || (reply.status === "aborted" && !reply.kernelAlive);
    if (!lost) return reply;
    const detail = reply.status === "died" ? reply.detail : "killed because it did not stop";
    this.#ended ??= detail;
    if (this.#ended !== SHUT_DOWN) this.#death.resolve(this.#ended);
    const killed = this.#kill().catch((error: unknown) =>
      this.#sandbox.settings.log(`A sandbox was not ended: ${String(error)}`),
    );
    await Promise.race([killed, sleep(MOST_KILL_MS)]);
    return reply;
  }

  async shutdown(): Promise<void> {
    this.#ended ??= SHUT_DOWN;
    this.#running?.shutDown();
    await this.#kill();
  }

  #kill(): Promise<void> {
    this.#killing ??= this.#sandbox.kill().catch((error: unknown) => {
      this.#killing = undefined;
      throw error;
    });
    return this.#killing;
  }

  install(requirements: readonly string[], options: InstallOptions): Promise<InstallReply> {
    return installInSandbox(this.#sandbox, this.#facts, requirements, options);
  }
}

const ABORTED = Symbol("aborted");

/** What `work` resolves to, or `ABORTED` as soon as the signal fires. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | typeof ABORTED> {
  if (signal.aborted) return ABORTED;
  const { promise, resolve } = deferred<typeof ABORTED>();
  const stop = (): void => resolve(ABORTED);
  signal.addEventListener("abort", stop, { once: true });
  work.catch(() => undefined); // after the stop nobody else listens
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Makes the kernel object over a sandbox that is set up. */
export async function createKernel(
  sandbox: RemoteSandbox,
  facts: KernelFacts,
  seal: Seal | undefined,
  cwd: string | undefined,
): Promise<E2bKernel> {
  const kernel = new E2bKernel(sandbox, facts, await sealTokens(sandbox.connection, seal), cwd);
  sandbox.onTokens = async (connection) => kernel.setTokens(await sealTokens(connection, seal));
  return kernel;
}
