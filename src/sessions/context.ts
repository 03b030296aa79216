import type { Backend } from "../core/backend.ts";
import type { RecoveryPolicy } from "../core/session.ts";
import type { HistoryStore } from "../store/history-store.ts";
import type { Locks } from "../store/locks.ts";

/** Limits of the service; all are told in the errors they cause. */
export type Limits = {
  /** Seconds a call may run without a `timeout` of its own; 0: the ceiling. */
  readonly timeout: number;
  /** Ceiling over every timeout, in seconds. */
  readonly maxTimeout: number;
  /** Seconds after which an unused kernel ends; 0: never. */
  readonly idleSeconds: number;
  readonly maxSessions: number;
  readonly maxKernels: number;
  readonly maxKernelsPerOwner: number;
  /** Local interpreters of an owner that may be starting at once; absent: all. */
  readonly startsPerOwner?: number;
  /** Minutes of remote sandboxes of an owner per day; absent or 0: no limit. */
  readonly sandboxMinutes?: number;
  readonly maxQueue: number;
  readonly maxCodeBytes: number;
  readonly maxBlocks: number;
  readonly maxHistoryBytes: number;
  /** Characters of output that a block keeps. */
  readonly blockChars: number;
};

export type ServiceContext = {
  readonly store: HistoryStore;
  /** Present when other processes may run calls of the same session: orders them. */
  readonly locks?: Locks;
  readonly backend: Backend;
  readonly limits: Limits;
  readonly recovery: RecoveryPolicy;
  readonly allowUrls: boolean;
  readonly defaultCwd?: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: (event: string, detail?: Readonly<Record<string, unknown>>) => void;
  /** Keeps the runtime awake for work that outlives a reply (`waitUntil` on Workers). */
  readonly defer?: (work: Promise<unknown>) => void;
};

/** Who calls: `owner` keys the data; `name` is the token's, recorded with each block. */
export type Caller = {
  readonly owner: string;
  readonly name?: string;
  /** Id of the HTTP request, for the log. */
  readonly request?: string;
};

/** Why a cell was told to stop; the `reason` of its AbortSignal. */
export type StopReason = "timeout" | "cancelled" | "reset" | "deleted" | "shutdown";
