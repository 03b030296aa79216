import type { KernelFiles } from "../core/backend.ts";
import { AppError } from "../core/errors.ts";
import type { SessionRecord } from "../core/session.ts";
import { sliceIndices } from "../core/slice.ts";
import { countBlocks } from "../store/ranges.ts";
import type { CellOptions } from "./cells.ts";
import type { Caller, ServiceContext } from "./context.ts";
import { deleteHistory, type History, type Pulse, readHistory, readPulse } from "./history.ts";
import { type InstallRequest, type InstallResult, installPackages, type KernelFor } from "./install.ts";
import { type Acquired, createKernels } from "./kernels.ts";
import { createLiveSessions, type LiveSession } from "./live.ts";
import {
  abandon,
  type CreateOptions,
  checkSessionId,
  createSession,
  deleteSession,
  listSessions,
  resetSession,
  type SessionInfo,
} from "./manage.ts";
import { turnOf } from "./pending.ts";
import { emptySlice, type RerunOptions, type RerunResult, rerunBlocks, type Slice } from "./rerun.ts";
import { notFound, type RunResult, type RunSpec, rememberKernel, requireSession, runBlock } from "./run.ts";

/** All that a caller can do with sessions; each method throws AppError for what it refuses. */
export type SessionService = {
  create(caller: Caller, options: CreateOptions): Promise<SessionRecord>;
  list(caller: Caller): Promise<SessionInfo[]>;
  /** @throws AppError SESSION_NOT_FOUND, INVALID_SESSION_ID. */
  find(caller: Caller, id: string): Promise<SessionRecord>;
  /** `clear` empties the history too. */
  reset(caller: Caller, id: string, clear: boolean): Promise<SessionRecord>;
  remove(caller: Caller, id: string): Promise<void>;
  run(caller: Caller, id: string, spec: RunSpec, options: CellOptions): Promise<RunResult>;
  /** The chosen blocks' code joined by newlines, to be run as one new block. @throws AppError EMPTY_SLICE. */
  joinBlocks(caller: Caller, id: string, slice: Slice): Promise<string>;
  rerun(caller: Caller, id: string, options: RerunOptions): Promise<RerunResult>;
  /** Stops what runs. @returns false when nothing ran. */
  interrupt(caller: Caller, id: string): Promise<boolean>;
  history(caller: Caller, id: string, slice: Slice): Promise<History>;
  /** How the session stands, at the cost of one small read. @throws AppError SESSION_NOT_FOUND, INVALID_SESSION_ID. */
  pulse(caller: Caller, id: string): Promise<Pulse>;
  deleteHistory(
    caller: Caller,
    id: string,
    start: number,
    end?: number,
  ): Promise<{ deleted: number; remaining: number }>;
  install(caller: Caller, request: InstallRequest): Promise<InstallResult>;
  /** The session's file system; starts its kernel when it has none. */
  files(caller: Caller, id: string): Promise<KernelFiles>;
  /** Lets what runs end, for `graceMs`, then interrupts it, then ends all kernels. */
  close(graceMs: number): Promise<void>;
};

export function createSessionService(context: ServiceContext): SessionService {
  const sessions = createLiveSessions(context.limits.maxQueue, context.now);
  const kernels = createKernels(context, sessions);

  /** @throws AppError SESSION_NOT_FOUND, INVALID_SESSION_ID. */
  async function known({ owner }: Caller, id: string): Promise<LiveSession> {
    const before = sessions.peek(owner, checkSessionId(id));
    const record = await context.store.readSession(owner, id);
    // Another process has deleted the session, and may have made a new one of the same id.
    const outlived = before && before === sessions.peek(owner, id) && before.createdAt !== record?.createdAt;
    if (outlived && !before.deleted) abandon(context, kernels, sessions, before);
    const live = record && sessions.get(owner, record);
    if (!live || live.deleted) throw notFound(id);
    return live;
  }

  /** Runs `task` when the session's turn comes, across processes where several share the store. */
  async function inTurn<T>(caller: Caller, id: string, signal: AbortSignal, task: (live: LiveSession) => Promise<T>) {
    const live = await known(caller, id);
    const { locks } = context;
    const run = async (): Promise<T> => {
      if (live.deleted) throw notFound(id);
      return task(live);
    };
    return live.queue.run(locks ? () => locks.run(turnOf(caller.owner, id), run, signal) : run, signal);
  }

  /**
   * The session's kernel for something else than a run, which does not wait for one. A fresh remote kernel is started in
   * the session's turn and remembered, so that no other process starts another.
   */
  const kernelFor: KernelFor = async (caller, id, signal) => {
    const live = await known(caller, id);
    const record = await requireSession(context, caller.owner, id);
    await live.starting?.catch(() => undefined);
    const found = context.backend.supports.attach
      ? ((await kernels.find(live, record)) ?? (await inTurn(caller, id, signal, () => startRemembered(caller, live))))
      : await kernels.acquire(live, record);
    live.lost ??= found.lost; // Only a run tells what was lost.
    return found.kernel;
  };

  async function startRemembered(caller: Caller, live: LiveSession): Promise<Acquired> {
    const acquired = await kernels.acquire(live, await requireSession(context, caller.owner, live.id));
    await rememberKernel(context, live, acquired);
    return acquired;
  }

  return {
    create: (caller, options) => createSession(context, kernels, sessions, caller, options),
    list: (caller) => listSessions(context, sessions, caller),
    find: (caller, id) => requireSession(context, caller.owner, checkSessionId(id)),
    reset: async (caller, id, clear) => resetSession(context, kernels, await known(caller, id), clear),
    remove: async (caller, id) => deleteSession(context, kernels, sessions, await known(caller, id)),
    async run(caller, id, spec, options) {
      checkRun(context, spec, options);
      return inTurn(caller, id, options.signal, (live) => runBlock(context, kernels, live, caller, spec, options));
    },
    async joinBlocks(caller, id, slice) {
      const record = await requireSession(context, caller.owner, checkSessionId(id));
      const length = countBlocks(record);
      const [from, to] = sliceIndices(length, slice.start, slice.end);
      if (from === to) throw emptySlice(length);
      const { entries } = await readHistory(context, await known(caller, id), { start: from, end: to });
      return entries.map(({ block }) => (block.path === undefined ? block.code : runnableFile(block.path))).join("\n");
    },
    async rerun(caller, id, options) {
      checkTimeout(context, options.timeout);
      return inTurn(caller, id, options.signal, (live) => rerunBlocks(context, kernels, live, caller, options));
    },
    async interrupt(caller, id) {
      const live = await known(caller, id);
      live.running?.stop("cancelled");
      return live.running !== undefined;
    },
    history: async (caller, id, slice) => readHistory(context, await known(caller, id), slice),
    pulse: async (caller, id) => readPulse(context, await known(caller, id)),
    deleteHistory: async (caller, id, start, end) => deleteHistory(context, await known(caller, id), start, end),
    install: (caller, request) => installPackages(context, kernelFor, sessions, caller, request),
    files: async (caller, id) => (await kernelFor(caller, id, new AbortController().signal)).files,
    async close(graceMs) {
      const running = [...sessions.all()].filter((live) => live.queue.length > 0);
      const idle = (): Promise<unknown> => Promise.all(running.map((live) => live.queue.idle()));
      await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, graceMs))]);
      for (const live of running) live.running?.stop("shutdown");
      await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, 2500))]);
      await kernels.close();
    },
  };
}

/** Python that runs a file block's file in the session's namespace. */
function runnableFile(path: string): string {
  const literal = JSON.stringify(path);
  return `exec(compile(open(${literal}, 'rb').read(), ${literal}, 'exec'))`;
}

function checkRun(context: ServiceContext, spec: RunSpec, options: CellOptions): void {
  checkTimeout(context, options.timeout);
  const bytes = new TextEncoder().encode(spec.code).length;
  const { maxCodeBytes } = context.limits;
  if (bytes > maxCodeBytes) {
    throw new AppError(
      "TOO_LARGE",
      `The code has ${bytes} bytes, more than the limit of ${maxCodeBytes}; run it as a file`,
    );
  }
}

function checkTimeout({ limits }: ServiceContext, timeout: number | undefined): void {
  if (timeout === undefined || (timeout > 0 && timeout <= limits.maxTimeout)) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    `timeout must be seconds above 0 and at most ${limits.maxTimeout}, not ${String(timeout)}`,
  );
}
