import type { Kernel } from "../core/backend.ts";
import type { OutputBuffer } from "../core/output-buffer.ts";
import type { Block, SessionRecord } from "../core/session.ts";
import type { StopReason } from "./context.ts";
import { createQueue, type Queue } from "./queue.ts";

/** The block that runs right now in this process. */
export type Running = {
  readonly block: Block;
  readonly buffer: OutputBuffer;
  readonly stop: (reason: StopReason) => void;
};

/** What this process knows of a session beyond its record. */
export type LiveSession = {
  readonly key: string;
  readonly owner: string;
  readonly id: string;
  /** Of the record: tells the session from a later one of the same id. */
  readonly createdAt: number;
  readonly queue: Queue;
  kernel: Kernel | undefined;
  /** The kernel that is being started, so that two callers share it. */
  starting: Promise<Kernel> | undefined;
  /** Epoch of `kernel`. */
  epoch: number;
  /** Did a block run in `kernel`? Only then is there state to lose. */
  used: boolean;
  /** Why the last kernel of this process is gone, until a run has told the caller. */
  lost: string | undefined;
  running: Running | undefined;
  /** Sequence of the block that this process has begun and not yet stored as completed. */
  current: number | undefined;
  /** The last sequence whose block this process has stored completed. */
  completed: number;
  /** The last block when the store failed at its end: it is tried again. */
  unsaved: Block | undefined;
  /** Milliseconds since 1970. */
  lastUsed: number;
  /** Characters of output in the last stored block, added to the record at the next one. */
  lastSize: number;
  /** Deletions from history since the last block began. */
  edits: number;
  deleted: boolean;
};

export type LiveSessions = {
  /** Made from the record where there is none. */
  get(owner: string, record: SessionRecord): LiveSession;
  peek(owner: string, id: string): LiveSession | undefined;
  forget(live: LiveSession): void;
  all(): Iterable<LiveSession>;
};

export function createLiveSessions(maxQueue: number, now: () => number): LiveSessions {
  const sessions = new Map<string, LiveSession>();
  const keyOf = (owner: string, id: string): string => `${owner}/${id}`;
  return {
    peek: (owner, id) => sessions.get(keyOf(owner, id)),
    get(owner, { id, createdAt }) {
      const key = keyOf(owner, id);
      const known = sessions.get(key);
      if (known) return known;
      const live = { ...EMPTY, key, owner, id, createdAt, queue: createQueue(maxQueue), lastUsed: now() };
      sessions.set(key, live);
      return live;
    },
    forget(live) {
      if (sessions.get(live.key) === live) sessions.delete(live.key);
    },
    all: () => sessions.values(),
  };
}

/** The kernel is gone and its reply has said so; one that took its place meanwhile, after a reset, is not touched. */
export function forgetKernel(live: LiveSession, kernel: Kernel): void {
  if (live.kernel !== undefined && live.kernel !== kernel) return;
  Object.assign(live, { kernel: undefined, lost: undefined, used: false });
}

const EMPTY = {
  kernel: undefined,
  starting: undefined,
  epoch: 0,
  used: false,
  lost: undefined,
  running: undefined,
  current: undefined,
  completed: -1,
  unsaved: undefined,
  lastSize: 0,
  edits: 0,
  deleted: false,
};
