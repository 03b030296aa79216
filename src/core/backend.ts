import type { Cell, ExecutionReply, Output } from "./execution.ts";

/** What only a backend reads: enough, as plain JSON, to find a kernel again. */
export type KernelRef = Readonly<Record<string, unknown>>;

export type KernelOptions = {
  readonly owner: string;
  readonly sessionId: string;
  /** Counts the kernels of the session, from 1. */
  readonly epoch: number;
  /** Absent: the backend's own default folder. */
  readonly cwd?: string;
  /** Requirements the owner installed, in order; for backends whose kernels share no environment. */
  readonly packages: readonly string[];
  /** Interpreters that the owner has already; absent: none. */
  readonly others?: number;
};

export type ExecuteOptions = {
  /** When it fires the cell is interrupted and, after the backend's grace period, killed with its children. */
  readonly signal: AbortSignal;
  /**
   * When the caller will stop the cell; a backend with leases makes sure that the kernel lives that long. Absent: nobody
   * knows, and leases are renewed meanwhile.
   */
  readonly timeoutMs?: number;
  /** Called in order, never after the returned promise has settled. Must not throw. */
  readonly onOutput: (output: Output) => void;
};

export type FileEntry = {
  readonly name: string;
  readonly path: string;
  readonly kind: "file" | "folder" | "other";
  /** Bytes. */
  readonly size: number;
  /** Unix seconds. */
  readonly modified: number;
};

/** The session's file system. Relative paths start at the kernel's current directory. */
export interface KernelFiles {
  /** @throws AppError FILE_NOT_FOUND, FILE_UNREADABLE, PATH_NOT_ALLOWED, TOO_LARGE (more than `limit` bytes). */
  read(path: string, limit: number): Promise<{ readonly path: string; readonly data: Uint8Array }>;
  /** Writes whole or not at all, making missing folders. @throws AppError FILE_NOT_WRITABLE, PATH_NOT_ALLOWED. */
  write(path: string, data: Uint8Array): Promise<{ readonly path: string; readonly replaced: boolean }>;
  /** Entries of a folder sorted by name, at most `limit`. @throws AppError FILE_NOT_FOUND, PATH_NOT_ALLOWED. */
  list(path: string, limit: number): Promise<readonly FileEntry[]>;
}

export type InstallOptions = {
  /** For whom; only where owners have environments of their own. */
  readonly owner?: string;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
};

/** `installed`: `name version` of what is new; `replaced`: names of distributions that had another version before. */
export type InstallReply = { readonly installed: readonly string[]; readonly replaced: readonly string[] };

export interface Kernel {
  readonly ref: KernelRef;
  /** Fires once when the kernel is gone by itself, with the reason in a few words (`killed by SIGALRM`). */
  readonly died: Promise<string>;
  /** Unix milliseconds at which it ends, or is put to sleep, unless it is used; absent: it lives on. */
  readonly endsAt?: number;
  /**
   * Runs one cell; the caller never runs two at once.
   * @throws AppError FILE_NOT_FOUND, FILE_UNREADABLE, PATH_NOT_ALLOWED for a cell with a bad `path` (nothing ran),
   *   BACKEND_UNAVAILABLE when the backend could not be reached.
   */
  execute(cell: Cell, options: ExecuteOptions): Promise<ExecutionReply>;
  /** Ends the kernel and all its child processes; idempotent; a running cell replies `died`. */
  shutdown(): Promise<void>;
  readonly files: KernelFiles;
  /** @throws AppError INSTALL_FAILED with the installer's last lines, CANCELLED. */
  install(requirements: readonly string[], options: InstallOptions): Promise<InstallReply>;
}

/** What a backend's kernels can do; each flag guards checks of the contract suite. */
export type Supports = {
  /** A kernel can be found again by its ref after the server restarted. */
  readonly attach: boolean;
  /** A cell can be stopped with its variables kept. */
  readonly interrupt: boolean;
  readonly files: boolean;
  /** Kernels share one Python environment: one install serves all. */
  readonly sharedPackages: boolean;
  /** Kernels are cheap enough to start with the session rather than at its first cell. */
  readonly eagerStart: boolean;
  /** Printed text of threads and children that comes between two cells is kept for the next one. */
  readonly lateOutput: boolean;
};

export interface Backend {
  readonly name: string;
  readonly supports: Supports;
  /** @throws AppError INVALID_CWD, BACKEND_UNAVAILABLE, LIMIT_REACHED. */
  startKernel(options: KernelOptions): Promise<Kernel>;
  /** Resolves to undefined when the kernel is gone, an ordinary event. @throws AppError BACKEND_UNAVAILABLE. */
  attachKernel(ref: KernelRef, options: KernelOptions): Promise<Kernel | undefined>;
  /** Ends a kernel that this process may not have attached. Idempotent. */
  discardKernel(ref: KernelRef): Promise<void>;
  /** Installs for all kernels at once, without one; present where `supports.sharedPackages`. Errors as `Kernel.install`. */
  install?(requirements: readonly string[], options: InstallOptions): Promise<InstallReply>;
  /** Removes what is kept for a session beyond its kernels, when it ends for good; present where something is. */
  forgetSession?(owner: string, sessionId: string): Promise<void>;
  /** Ends what this process owns; idempotent. */
  close(): Promise<void>;
}
