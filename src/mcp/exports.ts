import type { CallToolResult } from "@modelcontextprotocol/server";
import { AppError } from "../core/errors.ts";
import { exportHistory, scriptOf } from "../render/export/index.ts";
import type { History } from "../sessions/history.ts";
import type { Slice } from "../sessions/rerun.ts";
import { jsonReply, type ToolContext } from "./tool.ts";
import { historyUri, scriptUri } from "./uris.ts";

export const EXPORT_FORMATS = ["txt", "md", "ipynb", "html", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MIME_TYPES: Readonly<Record<ExportFormat | "py", string>> = {
  txt: "text/plain",
  md: "text/markdown",
  ipynb: "application/x-ipynb+json",
  html: "text/html",
  json: "application/json",
  py: "text/x-python",
};

/** The format a file name asks for by its suffix; `txt` when it asks for none. */
export function formatOf(path: string | undefined): ExportFormat {
  const suffix = path?.toLowerCase().match(/\.([a-z]+)$/)?.[1];
  return EXPORT_FORMATS.find((format) => format === suffix) ?? "txt";
}

export function exported(format: ExportFormat, { record, entries }: History): string {
  return exportHistory(format, {
    sessionId: record.id,
    createdAt: record.createdAt,
    backend: record.backend,
    entries: entries.map(({ block, index }) => ({ block, number: index + 1 })),
  });
}

export function script({ entries }: History, includeFailed: boolean): ReturnType<typeof scriptOf> {
  return scriptOf(
    entries.map(({ block, index }) => ({ block, number: index + 1 })),
    { includeFailed },
  );
}

type Target = Slice & { readonly path?: string | undefined };

export async function exportReply(
  id: string,
  format: ExportFormat,
  target: Target,
  context: ToolContext,
): Promise<CallToolResult> {
  const history = await nonEmpty(id, target, context);
  const written = await write(id, target.path, exported(format, history), context);
  const uri = historyUri(id, format, target);
  const facts = { session_id: id, ...written, blocks_exported: history.entries.length, format, uri };
  return withLink(jsonReply(facts), `history.${format}`, uri, MIME_TYPES[format]);
}

export async function scriptReply(
  id: string,
  target: Target & { readonly includeFailed: boolean },
  context: ToolContext,
): Promise<CallToolResult> {
  const history = await nonEmpty(id, target, context);
  const { text, saved, skipped } = script(history, target.includeFailed);
  const written = await write(id, target.path, text, context);
  const uri = scriptUri(id);
  const facts = { session_id: id, ...written, blocks_saved: saved, blocks_left_out: skipped, uri };
  return withLink(jsonReply(facts), "script.py", uri, MIME_TYPES.py);
}

/** An empty history exports as an empty file, but a slice that selects nothing of a longer one is a mistake. */
async function nonEmpty(id: string, slice: Slice, { caller, service }: ToolContext): Promise<History> {
  const history = await service.history(caller, id, slice);
  if (history.entries.length > 0 || history.total === 0) return history;
  throw new AppError("EMPTY_SLICE", `start and end select none of the ${history.total} blocks; positions count from 0`);
}

async function write(id: string, path: string | undefined, text: string, { caller, service }: ToolContext) {
  if (path === undefined) return { path: null, replaced: false };
  const files = await service.files(caller, id);
  return files.write(path, new TextEncoder().encode(text));
}

function withLink(reply: CallToolResult, name: string, uri: string, mimeType: string): CallToolResult {
  return { ...reply, content: [...reply.content, { type: "resource_link", uri, name, mimeType }] };
}
