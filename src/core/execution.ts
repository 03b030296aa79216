import type { ChangedFiles } from "./changed-files.ts";

/** What one cell is, and what comes of running it. Vocabulary as in Jupyter's messaging protocol. */

/** MIME type → content: text types as they are, JSON types as JSON text, all others base64. */
export type MimeBundle = Readonly<Record<string, string>>;

export type StreamName = "stdout" | "stderr";

/** Printed text. `dropped` characters were left out right before `text`; `late` text was written between two cells. */
export type StreamOutput = {
  readonly type: "stream";
  readonly name: StreamName;
  readonly text: string;
  readonly late?: boolean;
  readonly dropped?: number;
};

export type DisplayOutput = { readonly type: "display_data" | "execute_result"; readonly data: MimeBundle };

export type Output = StreamOutput | DisplayOutput;

/** A Python exception. `traceback` is the whole text as CPython prints it, without a final newline. */
export type PythonError = { readonly name: string; readonly message: string; readonly traceback: string };

/**
 * One piece of code to run.
 * `number` is the 1-based position shown to the user; tracebacks of later cells name it.
 * With `path` the kernel runs that file of its own file system and `code` is only what history shows.
 */
export type Cell = { readonly code: string; readonly number: number; readonly path?: string };

/**
 * How a cell ended. `aborted`: the signal fired; `kernelAlive` tells whether the variables survived.
 * `died`: the kernel is gone; `detail` names the signal or exit code in a few words. `started: false`: it was gone
 * before, so that the cell surely did not run and may be run on a fresh kernel. `files`: what it made or changed in its
 * working folder, absent when that is nothing or nobody is left to tell.
 */
export type ExecutionReply = { readonly files?: ChangedFiles } & (
  | { readonly status: "ok" }
  | { readonly status: "error"; readonly error: PythonError }
  | { readonly status: "aborted"; readonly kernelAlive: boolean; readonly error?: PythonError }
  | { readonly status: "died"; readonly detail: string; readonly started?: false }
);
