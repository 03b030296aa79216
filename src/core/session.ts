import type { KernelRef } from "./backend.ts";
import type { ChangedFiles } from "./changed-files.ts";
import type { Output, PythonError } from "./execution.ts";

/** `running` becomes `interrupted` when the server ended before the block did. */
export type BlockStatus = "running" | "ok" | "error" | "timeout" | "cancelled" | "died" | "interrupted";

/** One entry of a session's history: code plus what came of it. */
export type Block = {
  /** Never reused within a session; the shown number is a position, not this. */
  readonly sequence: number;
  readonly kind: "code" | "file";
  /** For a file block: `exec('name.py')`. */
  readonly code: string;
  /** File blocks only: the path as the caller gave it. */
  readonly path?: string;
  readonly status: BlockStatus;
  readonly outputs: readonly Output[];
  readonly error: PythonError | null;
  /** Did the variables survive this block? */
  readonly state: "kept" | "lost";
  /** One sentence for the reader about state, timeouts or deaths. */
  readonly note?: string;
  /** The kernel it ran in; a block is part of the present state while this equals the session's epoch. */
  readonly epoch: number;
  /** Unix seconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Characters of output that were not kept. */
  readonly truncatedChars: number;
  /** What it made or changed in its working folder; no part of its output. */
  readonly files?: ChangedFiles;
  /** Name of the token that ran it, with authentication. */
  readonly by?: string;
};

export type RecoveryPolicy = "fresh" | "replay";

export type SessionRecord = {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly cwd: string | null;
  readonly backend: string;
  readonly recovery: RecoveryPolicy | null;
  readonly kernelRef: KernelRef | null;
  /** Counts kernels; 0 before the first. */
  readonly epoch: number;
  /** Kernels up to this epoch were ended by a reset, also those of other processes. */
  readonly resetEpoch?: number;
  readonly nextSequence: number;
  /** Half-open ranges of the sequence numbers that are still in history, ascending. */
  readonly live: readonly (readonly [number, number])[];
  /** The block in flight: written before the code runs, so that a crash leaves it to be found. */
  readonly pending: Block | null;
  /** Why the variables of the last kernel are gone, until a run has told the caller; null when they are not. */
  readonly lost: string | null;
  /** About how many characters the history holds. */
  readonly historyChars?: number;
};
