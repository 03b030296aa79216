import { renderTranscript } from "../transcript.ts";
import type { ExportedHistory } from "./history.ts";

/** The transcript as `get_history` shows it, uncut. */
export function exportText({ entries }: ExportedHistory): string {
  const text = renderTranscript(entries, { maxChars: Number.POSITIVE_INFINITY });
  return text === "" ? "" : `${text}\n`;
}
