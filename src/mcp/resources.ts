import { type ReadResourceResult, type Resource, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { AppError } from "../core/errors.ts";
import { encodeBase64, mimeTypeOf } from "../core/media.ts";
import { shorten } from "../core/shorten.ts";
import { VIEW_META, VIEW_MIME_TYPE, VIEW_URI, viewPage } from "../mcp-app/page.ts";
import { renderOutput } from "../render/index.ts";
import type { Caller } from "../sessions/context.ts";
import type { SessionService } from "../sessions/service.ts";
import { EXPORT_FORMATS, type ExportFormat, exported, MIME_TYPES, script } from "./exports.ts";
import { MAX_FILE_BYTES } from "./tools/files.ts";
import { historyUri, SESSIONS_URI, scriptUri, unescapePath } from "./uris.ts";

export const RESOURCE_TEMPLATES = [
  ...EXPORT_FORMATS.map((format) => ({
    uriTemplate: `${SESSIONS_URI}/{id}/history.${format}{?start,end}`,
    name: `history.${format}`,
    title: `History of a session as ${format}`,
    mimeType: MIME_TYPES[format],
  })),
  {
    uriTemplate: `${SESSIONS_URI}/{id}/script.py`,
    name: "script.py",
    title: "Code of a session as a Python script",
    mimeType: MIME_TYPES.py,
  },
  {
    uriTemplate: `${SESSIONS_URI}/{id}/files/{+path}`,
    name: "file",
    title: "A file of a session",
    mimeType: "application/octet-stream",
  },
  {
    uriTemplate: `${SESSIONS_URI}/{id}/blocks/{index}/output`,
    name: "output",
    title: "Whole output of one block",
    mimeType: "text/plain",
  },
];

/** The sessions, and two documents of each. */
export async function listResources(service: SessionService, caller: Caller): Promise<Resource[]> {
  const sessions = await service.list(caller);
  return [
    { uri: SESSIONS_URI, name: "sessions", title: "All sessions", mimeType: "application/json" },
    ...sessions.flatMap(({ session_id: id }) => [
      { uri: historyUri(id, "txt", {}), name: `${id} history`, mimeType: MIME_TYPES.txt },
      { uri: scriptUri(id), name: `${id} script`, mimeType: MIME_TYPES.py },
    ]),
  ];
}

type Document = { readonly mimeType: string } & ({ readonly text: string } | { readonly blob: string });

/** @throws ResourceNotFoundError for a URI that names nothing of this caller. */
export async function readResource(service: SessionService, caller: Caller, uri: string): Promise<ReadResourceResult> {
  if (uri === VIEW_URI) {
    return { contents: [{ uri, mimeType: VIEW_MIME_TYPE, text: viewPage(), _meta: VIEW_META }] };
  }
  const document = await readDocument(service, caller, uri).catch((error: unknown) => {
    if (error instanceof AppError && NOT_THERE.has(error.code)) throw notFound(uri);
    throw error;
  });
  if (!document) throw notFound(uri);
  return { contents: [{ uri, ...document }] };
}

function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(shorten(uri, MAX_URI));
}

/** Characters of a resource's address that the error about it repeats. */
const MAX_URI = 300;

const NOT_THERE: ReadonlySet<string> = new Set(["SESSION_NOT_FOUND", "INVALID_SESSION_ID", "FILE_NOT_FOUND"]);

const PATHS = {
  history: /^\/([^/?]+)\/history\.([a-z]+)(\?[^#]*)?$/,
  script: /^\/([^/?]+)\/script\.py$/,
  file: /^\/([^/?]+)\/files\/(.+)$/,
  output: /^\/([^/?]+)\/blocks\/(\d{1,9})\/output$/,
};

async function readDocument(service: SessionService, caller: Caller, uri: string): Promise<Document | undefined> {
  if (uri === SESSIONS_URI) {
    const sessions = await service.list(caller);
    return { mimeType: MIME_TYPES.json, text: JSON.stringify({ sessions, total: sessions.length }) };
  }
  if (!uri.startsWith(`${SESSIONS_URI}/`)) return undefined;
  const rest = uri.slice(SESSIONS_URI.length);
  const [, historyOf, format, query] = PATHS.history.exec(rest) ?? [];
  if (historyOf) return readHistoryDocument(service, caller, historyOf, format, query);
  const [, scriptOf] = PATHS.script.exec(rest) ?? [];
  if (scriptOf) {
    return { mimeType: MIME_TYPES.py, text: script(await service.history(caller, scriptOf, {}), false).text };
  }
  const [, fileOf, path] = PATHS.file.exec(rest) ?? [];
  if (fileOf && path) return readFileDocument(service, caller, fileOf, path);
  const [, outputOf, index] = PATHS.output.exec(rest) ?? [];
  if (!outputOf) return undefined;
  const { entries } = await service.history(caller, outputOf, { start: Number(index), end: Number(index) + 1 });
  return entries[0] && { mimeType: "text/plain", text: renderOutput(entries[0].block) };
}

async function readFileDocument(
  service: SessionService,
  caller: Caller,
  id: string,
  escaped: string,
): Promise<Document | undefined> {
  const path = unescapePath(escaped);
  if (path === undefined) return undefined;
  const { data } = await (await service.files(caller, id)).read(path, MAX_FILE_BYTES);
  return { mimeType: mimeTypeOf(path, data), blob: encodeBase64(data) };
}

async function readHistoryDocument(
  service: SessionService,
  caller: Caller,
  id: string,
  suffix: string | undefined,
  query: string | undefined,
): Promise<Document | undefined> {
  const format: ExportFormat | undefined = EXPORT_FORMATS.find((known) => known === suffix);
  if (!format) return undefined;
  const given = new URLSearchParams(query);
  const slice = { start: position(given.get("start")), end: position(given.get("end")) };
  return { mimeType: MIME_TYPES[format], text: exported(format, await service.history(caller, id, slice)) };
}

function position(text: string | null): number | undefined {
  return text !== null && /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}
