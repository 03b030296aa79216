import type { ExportedHistory } from "./history.ts";
import { exportHtml } from "./html.ts";
import { exportJson } from "./json.ts";
import { exportMarkdown } from "./markdown.ts";
import { exportNotebook } from "./notebook.ts";
import { exportText } from "./text.ts";

export type { ExportedHistory } from "./history.ts";
export { type Script, type ScriptOptions, scriptOf } from "./script.ts";

const EXPORTERS = {
  txt: exportText,
  md: exportMarkdown,
  ipynb: exportNotebook,
  html: exportHtml,
  json: exportJson,
} as const;

export type ExportFormat = keyof typeof EXPORTERS;

/** @returns The history as a document of that format; text that UTF-8 can hold. */
export function exportHistory(format: ExportFormat, history: ExportedHistory): string {
  return EXPORTERS[format](history);
}
