import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { decodeBase64, encodeBase64, mimeTypeOf } from "../../core/media.ts";
import { args, defineTool, jsonReply, type Tool } from "../tool.ts";
import { fileUri } from "../uris.ts";

/** Bytes that one call reads when it does not say, and at most. */
const READ_BYTES = 256 * 1024;
export const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 1000;

const path = z
  .string({ error: "must be text" })
  .describe("Path in the session's file system; relative to its current folder");

const entry = z.object({
  name: z.string(),
  path: z.string(),
  kind: z.enum(["file", "folder", "other"]),
  size: z.int().describe("Bytes"),
  modified: z.number().describe("Unix seconds"),
});

export const listFiles = defineTool({
  name: "list_files",
  title: "List a session's files",
  description: "Shows the files and folders in a folder of a session, by default its current one.",
  scope: "repl:read",
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ session_id: args.session, path: path.optional() }),
  output: { session_id: z.string(), files: z.array(entry), total: z.int() },
  run: async ({ session_id, path }, { caller, service }) => {
    const files = await (await service.files(caller, session_id)).list(path ?? ".", MAX_ENTRIES);
    return jsonReply({ session_id, files, total: files.length });
  },
});

export const readFile = defineTool({
  name: "read_file",
  title: "Read a file of a session",
  description:
    "Returns a file of a session: text as text, pictures as pictures, anything else as base64. " +
    "Use it to fetch what code has written; a file over max_bytes is an error.",
  scope: "repl:read",
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session,
    path,
    max_bytes: z
      .int({ error: "must be a whole number" })
      .min(1, `must be from 1 to ${MAX_FILE_BYTES}`)
      .max(MAX_FILE_BYTES, `must be from 1 to ${MAX_FILE_BYTES}`)
      .optional()
      .describe(`Bytes to accept, at most ${MAX_FILE_BYTES}; default ${READ_BYTES}`),
  }),
  output: {
    session_id: z.string(),
    path: z.string(),
    size: z.int().describe("Bytes"),
    mime_type: z.string(),
    encoding: z.enum(["text", "base64", "image"]),
    content: z.string().optional(),
    uri: z.string(),
  },
  run: async ({ session_id, path, max_bytes }, { caller, service }) => {
    const files = await service.files(caller, session_id);
    const file = await files.read(path, max_bytes ?? READ_BYTES);
    return fileReply(session_id, file.path, file.data);
  },
});

function fileReply(id: string, path: string, data: Uint8Array): CallToolResult {
  const mimeType = mimeTypeOf(path, data);
  const facts = {
    status: "ok",
    session_id: id,
    path,
    size: data.byteLength,
    mime_type: mimeType,
    uri: fileUri(id, path),
  };
  const link: ContentBlock = { type: "resource_link", uri: facts.uri, name: path.split("/").at(-1) ?? path, mimeType };
  if (/^image\/(png|jpeg|gif|webp)$/.test(mimeType)) {
    const image: ContentBlock = { type: "image", data: encodeBase64(data), mimeType };
    return { content: [image, link], structuredContent: { ...facts, encoding: "image" } };
  }
  const text = asText(data);
  const content = text ?? encodeBase64(data);
  const encoding = text === undefined ? "base64" : "text";
  return { content: [{ type: "text", text: content }, link], structuredContent: { ...facts, encoding, content } };
}

/** Undefined for bytes that are not UTF-8 text. */
function asText(data: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

export const writeFile = defineTool({
  name: "write_file",
  title: "Write a file of a session",
  description:
    "Puts a file into a session's file system, for code to read: text, or bytes as base64. " +
    "Missing folders are made; an existing file is replaced whole.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    session_id: args.session,
    path,
    content: z.string({ error: "must be text" }).describe("The whole content"),
    encoding: z
      .enum(["text", "base64"], { error: "must be text or base64" })
      .optional()
      .describe("What content is; default text, written as UTF-8"),
  }),
  output: { session_id: z.string(), path: z.string(), size: z.int(), replaced: z.boolean(), uri: z.string() },
  run: async ({ session_id, path, content, encoding }, { caller, service }) => {
    const data = encoding === "base64" ? decodeBase64(content) : new TextEncoder().encode(content);
    if (!data)
      throw new AppError("INVALID_ARGUMENT", "content is not valid base64; encode the bytes, or set encoding to text");
    if (path === "") throw new AppError("FILE_NOT_WRITABLE", "path is empty; give a file name");
    const written = await (await service.files(caller, session_id)).write(path, data);
    return jsonReply({ session_id, ...written, size: data.byteLength, uri: fileUri(session_id, written.path) });
  },
});

export const fileTools: readonly Tool[] = [listFiles, readFile, writeFile];
