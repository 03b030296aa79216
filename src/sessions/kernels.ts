import type { Kernel, KernelOptions } from "../core/backend.ts";
import { AppError } from "../core/errors.ts";
import { isRequirement } from "../core/requirement.ts";
import type { SessionRecord } from "../core/session.ts";
import { ending } from "./cells.ts";
import type { ServiceContext } from "./context.ts";
import type { LiveSession, LiveSessions } from "./live.ts";
import { createSpend } from "./spend.ts";
import { createStarts } from "./starts.ts";

/** A kernel to run in, and why the variables of the one before it are gone (undefined: they are not, or there were none). */
export type Acquired = { readonly kernel: Kernel; readonly epoch: number; readonly lost: string | undefined };

export type Kernels = {
  /** The session's kernel: the live one, the one found again by its ref, or a fresh one. */
  acquire(live: LiveSession, record: SessionRecord): Promise<Acquired>;
  /** As `acquire`, but undefined in place of a fresh one. */
  find(live: LiveSession, record: SessionRecord): Promise<Acquired | undefined>;
  /** Ends the kernel of the session, wherever it lives; the next run starts a fresh one without a word about it. */
  drop(live: LiveSession, record: SessionRecord | undefined): Promise<void>;
  /** Ends what this process started. */
  close(): Promise<void>;
};

export function createKernels(context: ServiceContext, sessions: LiveSessions): Kernels {
  const { backend, limits } = context;
  const timers = new Map<LiveSession, ReturnType<typeof setTimeout>>();
  const spend = createSpend(context);
  const starts = createStarts(backend.supports.attach ? undefined : limits.startsPerOwner);

  function adopt(live: LiveSession, kernel: Kernel, epoch: number, used: boolean): void {
    Object.assign(live, { kernel, epoch, used, starting: undefined });
    kernel.died.then((detail) => {
      spend?.ended(live, kernel);
      if (live.kernel !== kernel) return;
      live.kernel = undefined;
      if (live.used) live.lost = `the interpreter ${ending(detail)}`;
    });
  }

  function start(live: LiveSession, record: SessionRecord): Promise<Kernel> {
    const epoch = Math.max(record.epoch, live.epoch) + 1;
    live.starting ??= startFresh(live, record, epoch).finally(() => {
      live.starting = undefined;
    });
    return live.starting;
  }

  async function startFresh(live: LiveSession, record: SessionRecord, epoch: number): Promise<Kernel> {
    const others = makeRoom(context, sessions, live);
    const kernel = await starts(live.owner, async () =>
      backend.startKernel({ ...(await optionsOf(context, record, live.owner, epoch)), others }),
    );
    adopt(live, kernel, epoch, false);
    if (live.deleted) await kernel.shutdown();
    return kernel;
  }

  async function attach(live: LiveSession, record: SessionRecord): Promise<boolean> {
    if (!backend.supports.attach || !record.kernelRef) return false;
    const kernel = await backend.attachKernel(
      record.kernelRef,
      await optionsOf(context, record, live.owner, record.epoch),
    );
    if (kernel) adopt(live, kernel, record.epoch, true);
    return kernel !== undefined;
  }

  function watchIdle(live: LiveSession): void {
    if (limits.idleSeconds === 0) return;
    clearTimeout(timers.get(live));
    const timer = setTimeout(() => expire(live), limits.idleSeconds * 1000);
    (timer as { unref?: () => void }).unref?.();
    timers.set(live, timer);
  }

  function expire(live: LiveSession): void {
    timers.delete(live);
    if (live.queue.length > 0) {
      watchIdle(live);
      return;
    }
    const kernel = live.kernel;
    if (!kernel) return;
    if (live.used) live.lost = `the session expired after ${limits.idleSeconds} s idle`;
    live.kernel = undefined;
    spend?.ended(live, kernel);
    end(kernel);
  }

  function acquired(live: LiveSession, lost: string | undefined): Acquired {
    if (!live.kernel) throw new AppError("BACKEND_UNAVAILABLE", "The interpreter ended while it started; try again");
    spend?.began(live, live.kernel);
    return { kernel: live.kernel, epoch: live.epoch, lost };
  }

  /** Another process has replaced or reset the kernel that this one knew: it has ended that one, and told why. */
  function leaveOvertaken(live: LiveSession, record: SessionRecord): void {
    const { kernel } = live;
    const overtaken = record.epoch > live.epoch || (record.epoch === live.epoch && record.kernelRef === null);
    if (!backend.supports.attach || !overtaken) return;
    Object.assign(live, { kernel: undefined, lost: undefined, used: false });
    if (kernel) spend?.ended(live, kernel);
  }

  /** Another process cannot end a kernel of this one, so that its reset comes to it with the next call. */
  function leaveReset(live: LiveSession, record: SessionRecord): void {
    const { kernel } = live;
    if (backend.supports.attach || !kernel || live.epoch > (record.resetEpoch ?? 0)) return;
    const lost = live.used ? "the session was reset in another server process" : undefined;
    Object.assign(live, { kernel: undefined, lost, used: false });
    end(kernel);
  }

  function end(kernel: Kernel): void {
    kernel.shutdown().catch((error: unknown) => context.log("kernel shutdown failed", { error: String(error) }));
  }

  /** Resolves to undefined when the session has no kernel; `live.lost` then says why its variables are gone. */
  async function find(live: LiveSession, record: SessionRecord): Promise<Acquired | undefined> {
    if (spend) await spend.check(live.owner);
    watchIdle(live);
    leaveOvertaken(live, record);
    leaveReset(live, record);
    if (live.kernel) return acquired(live, live.lost ?? record.lost ?? undefined);
    // A kernel of another process: one of this process that is gone has left its reason, or was told already.
    if (live.lost || !record.kernelRef || live.epoch >= record.epoch || live.starting) return undefined;
    if (await attach(live, record)) return acquired(live, record.lost ?? undefined);
    live.lost = lostElsewhere(context);
    return undefined;
  }

  return {
    find,
    async acquire(live, record) {
      const found = await find(live, record);
      if (found) return found;
      const lost = live.lost ?? record.lost ?? undefined;
      await start(live, record);
      return acquired(live, lost);
    },
    async drop(live, record) {
      clearTimeout(timers.get(live));
      timers.delete(live);
      const kernel = live.kernel ?? (await live.starting?.catch(() => undefined));
      Object.assign(live, { kernel: undefined, starting: undefined, lost: undefined, used: false });
      if (kernel) spend?.ended(live, kernel);
      if (kernel) await kernel.shutdown();
      else if (record?.kernelRef) await backend.discardKernel(record.kernelRef);
    },
    async close() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await backend.close();
    },
  };
}

/** Why a kernel that this process never knew cannot be found. */
function lostElsewhere({ backend, locks }: ServiceContext): string {
  if (backend.supports.attach) return "the sandbox expired or was ended";
  return locks ? "the server was restarted, or another one has them" : "the server was restarted";
}

async function optionsOf(
  context: ServiceContext,
  record: SessionRecord,
  owner: string,
  epoch: number,
): Promise<KernelOptions> {
  const cwd = record.cwd ?? context.defaultCwd;
  const stored = context.backend.supports.sharedPackages ? [] : await context.store.readPackages(owner);
  // They become arguments of an installer: an option, in a store edited by hand, must not.
  const packages = stored.filter(isRequirement);
  return { owner, sessionId: record.id, epoch, packages, ...(cwd === undefined ? {} : { cwd }) };
}

/**
 * Returns how many live kernels the owner has besides this one.
 * @throws AppError LIMIT_REACHED when the owner, or the server, has as many as it may.
 */
function makeRoom(context: ServiceContext, sessions: LiveSessions, live: LiveSession): number {
  const { maxKernels, maxKernelsPerOwner } = context.limits;
  const now = context.now();
  let all = 0;
  let own = 0;
  for (const other of sessions.all()) {
    if (other === live || !(other.starting || isLive(other.kernel, now))) continue;
    all += 1;
    if (other.owner === live.owner) own += 1;
  }
  if (own >= maxKernelsPerOwner) {
    throw new AppError(
      "LIMIT_REACHED",
      `You have ${own} live interpreters, the most you may have; delete_session ends one that is not needed`,
    );
  }
  // How many remote ones there are in all is bounded by their own service.
  if (all >= maxKernels && !context.backend.supports.attach) {
    throw new AppError("LIMIT_REACHED", `The server runs ${all} interpreters, the most it may; try again later`);
  }
  return own;
}

/** One whose lease has passed, unused, is gone though nobody was told. */
function isLive(kernel: Kernel | undefined, now: number): boolean {
  return kernel !== undefined && (kernel.endsAt ?? Number.POSITIVE_INFINITY) > now;
}
