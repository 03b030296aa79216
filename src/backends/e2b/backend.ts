import type { Backend, KernelOptions } from "../../core/backend.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { warmUpSource } from "./cell-source.ts";
import { type Control, createControl, type SandboxOwner } from "./control.ts";
import type { DoneItem, ReadyItem } from "./events.ts";
import { createKernel, type E2bKernel } from "./kernel.ts";
import { type E2bOptions, type E2bSettings, settingsOf } from "./options.ts";
import { readRef, sandboxIdOf } from "./ref.ts";
import { RemoteSandbox, sleep, unreachable } from "./sandbox.ts";
import { createSeal, type Seal } from "./seal.ts";
import { streamCell } from "./stream.ts";

export type { SandboxMeta } from "./control.ts";
export type { E2bOptions } from "./options.ts";
export { refOwnsSandbox } from "./ref.ts";
export { type SweepOptions, sweepSandboxes } from "./sweep.ts";

/** Setting up the runner takes a second; installing the owner's packages may take minutes. */
const WARM_UP_MS = 60_000;
const WARM_UP_WITH_PACKAGES_MS = 360_000;
const WARM_UP_TRIES = 4;

/** Kernels in E2B sandboxes, one sandbox each. */
export function createE2bBackend(options: E2bOptions): Backend {
  const settings = settingsOf(options);
  const control = createControl(settings);
  const seal = settings.sealKey ? createSeal(settings.sealKey) : undefined;
  const starting = new Map<string, Promise<E2bKernel>>();
  let closed = false;
  return {
    name: "e2b",
    supports: {
      attach: true,
      interrupt: true,
      files: true,
      sharedPackages: false,
      eagerStart: false,
      lateOutput: true,
    },
    async startKernel(kernelOptions) {
      if (closed) throw new AppError("BACKEND_UNAVAILABLE", "The server shuts down; try again in a moment");
      const { owner, sessionId, epoch } = kernelOptions;
      const key = JSON.stringify([owner, sessionId, epoch]);
      const present = starting.get(key);
      if (present) return present;
      const start = startKernel(settings, control, seal, kernelOptions).finally(() => starting.delete(key));
      starting.set(key, start);
      return start;
    },
    async attachKernel(ref) {
      const content = await readRef(ref, seal);
      if (!content) return undefined;
      const { connection, facts, lease, hasTokens } = content;
      const sandbox = new RemoteSandbox(settings, control, connection, lease);
      // Before the run, which stores the new lease with its ref: a renewal beside it would be forgotten.
      const isShort = sandbox.remainingMs < settings.idleSeconds * 1000;
      if ((!hasTokens || isShort) && !(await sandbox.renew())) return undefined;
      return createKernel(sandbox, facts, seal, undefined);
    },
    async discardKernel(ref) {
      const id = sandboxIdOf(ref);
      if (id !== undefined) await control.kill(id);
    },
    // Sandboxes outlive this process on purpose: sessions find them again.
    async close() {
      closed = true;
      await Promise.allSettled(starting.values());
    },
  };
}

async function startKernel(
  settings: E2bSettings,
  control: Control,
  seal: Seal | undefined,
  options: KernelOptions,
): Promise<E2bKernel> {
  if (settings.apiKey === "") {
    throw new AppError("BACKEND_UNAVAILABLE", "There is no E2B API key; set E2B_API_KEY to one of your team's keys");
  }
  const { owner, sessionId, epoch, packages } = options;
  const nonce = crypto.randomUUID();
  const who: SandboxOwner = { owner, session: sessionId, epoch, nonce };
  const asked = settings.now();
  const connection = await control.create(who, settings.leaseMs);
  const lease = { until: asked + settings.leaseMs, length: settings.leaseMs };
  const sandbox = new RemoteSandbox(settings, control, connection, lease);
  try {
    const limitMs = packages.length > 0 ? WARM_UP_WITH_PACKAGES_MS : WARM_UP_MS;
    const source = warmUpSource({ nonce, cwd: options.cwd ?? null, packages });
    const { type: _, cwd, python: __, ...facts } = await warmUp(sandbox, source, nonce, limitMs);
    return await createKernel(sandbox, { ...facts, nonce }, seal, cwd);
  } catch (error) {
    void control
      .kill(connection.sandboxId)
      .catch((cause: unknown) => settings.log(`A sandbox was not ended: ${String(cause)}`));
    throw error;
  }
}

/** Runs the warm-up cell. A new sandbox may not serve its ports at once, so it is sent again where nothing ran. */
async function warmUp(sandbox: RemoteSandbox, source: string, cell: string, limitMs: number): Promise<ReadyItem> {
  const signal = AbortSignal.timeout(limitMs);
  for (let attempt = 1; ; attempt += 1) {
    const end = await streamCell(sandbox, { source, cell, signal, onBatch: () => undefined });
    if (end.kind === "done") return readyOf(end.item as ReadyItem | DoneItem);
    if (end.kind === "error") {
      const told = `${end.name}: ${end.value}`.slice(0, 200);
      throw new AppError("BACKEND_UNAVAILABLE", `The sandbox's interpreter could not be set up (${told})`);
    }
    const refusal = end.kind === "refused" ? end.refusal : lostRefusal(end.cause);
    if (attempt >= WARM_UP_TRIES || signal.aborted) throw unreachable(refusal, end);
    await sleep(refusal.kind === "retry" ? refusal.afterMs : 1_000, signal);
  }
}

function lostRefusal(cause: unknown) {
  return { kind: "retry", afterMs: 500, status: 0, message: `no whole answer came: ${String(cause)}` } as const;
}

function readyOf(item: ReadyItem | DoneItem): ReadyItem {
  if (item.type === "ready") return item;
  throw new AppError(
    (item.code ?? "BACKEND_UNAVAILABLE") as ErrorCode,
    item.message ?? "The interpreter was not set up",
  );
}
