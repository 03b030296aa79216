import type { Output, PythonError } from "../../core/execution.ts";

/** The MIME type under which the runner in the kernel sends its batches. */
export const BATCH_MIME = "application/vnd.edge-python-repl+json";

/** How the runner says that a cell, or the warm-up, ended. */
export type DoneItem = {
  readonly type: "done";
  readonly status: "ok" | "error" | "aborted" | "refused";
  readonly error?: PythonError;
  readonly code?: string;
  readonly message?: string;
  readonly cwd: string;
  /** A SIGINT reached the code. */
  readonly interrupted?: boolean;
  /** What it made or changed; unchecked, as the kernel says it. */
  readonly files?: unknown;
};

export type ReadyItem = {
  readonly type: "ready";
  readonly python: string;
  readonly executable: string;
  readonly user: string;
  readonly pid: number;
  readonly cwd: string;
  /** The id of the kernel at the Jupyter server, for interrupts. */
  readonly kernel: string;
  /** Where a watcher leaves the wait status of a kernel that died. */
  readonly deathNote: string;
};

export type Item = Output | DoneItem | ReadyItem;

/** One line of the answer to POST /execute, as far as it matters. */
export type Event =
  | { readonly type: "batch"; readonly cell: string; readonly seq: number; readonly items: readonly Item[] }
  /** An error outside the runner: of IPython, of the server, or of a kernel that ended. */
  | { readonly type: "error"; readonly name: string; readonly value: string }
  | { readonly type: "end" }
  | { readonly type: "other" };

const OTHER: Event = { type: "other" };

/** @throws SyntaxError for a line that is not JSON. */
export function eventOf(line: string): Event {
  const message = JSON.parse(line) as Record<string, unknown>;
  switch (message.type) {
    case "result":
      return batchOf(message.extra);
    case "error":
      return { type: "error", name: String(message.name), value: String(message.value) };
    case "end_of_execution":
      return { type: "end" };
    default:
      return OTHER;
  }
}

function batchOf(extra: unknown): Event {
  const text = (extra as Record<string, unknown> | undefined)?.[BATCH_MIME];
  if (typeof text !== "string") return OTHER;
  const { cell, seq, items } = JSON.parse(text) as { cell: string; seq: number; items: Item[] };
  return { type: "batch", cell, seq, items };
}

/** Is it output, and not an item about the cell itself? */
export function isOutput(item: Item): item is Output {
  return item.type === "stream" || item.type === "display_data" || item.type === "execute_result";
}
