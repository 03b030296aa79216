import { wellFormed } from "../text.ts";
import type { Entry } from "../transcript.ts";
import type { ExportedHistory } from "./history.ts";

/** Everything the history knows, for programs. `version` changes when a reader would have to. */
export function exportJson(history: ExportedHistory): string {
  const { sessionId, createdAt, backend, entries } = history;
  return toJson(
    {
      format: "edge-python-repl-history",
      version: 1,
      session_id: sessionId,
      created_at: createdAt,
      backend,
      blocks: entries.map(recordOf),
    },
    2,
  );
}

function recordOf({ number, block }: Entry): Record<string, unknown> {
  const { kind, code, path, status, state, note, startedAt, durationMs, truncatedChars, outputs, error, files } = block;
  return {
    index: number - 1,
    kind,
    code,
    ...(path === undefined ? {} : { path }),
    status,
    state,
    ...(note === undefined ? {} : { note }),
    started_at: startedAt,
    duration_ms: durationMs,
    truncated_chars: truncatedChars,
    outputs,
    error,
    ...(files === undefined ? {} : { files }),
  };
}

/** JSON text that every reader accepts, with a line break at its end. */
export function toJson(value: unknown, indent: number): string {
  const clean = (_key: string, item: unknown): unknown => (typeof item === "string" ? wellFormed(item) : item);
  return `${JSON.stringify(value, clean, indent)}\n`;
}
