import type { FileEntry, KernelFiles } from "../../core/backend.ts";
import { AppError } from "../../core/errors.ts";
import { type Fields, type FileRequest, fields, number, text } from "./protocol.ts";

/** Bytes of one file that fit, as base64, into one frame. */
export const MAX_FILE_BYTES = 44 * 1024 * 1024;

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
export type FileQuestion = WithoutId<FileRequest>;

/** The session's file system, by questions to the monitor. */
export function createKernelFiles(ask: (question: FileQuestion) => Promise<Fields>): KernelFiles {
  return {
    async read(path, limit) {
      const reply = await ask({ op: "read", path, limit: Math.min(limit, MAX_FILE_BYTES) });
      return { path: text(reply.path), data: new Uint8Array(Buffer.from(text(reply.data), "base64")) };
    },
    async write(path, data) {
      if (data.length > MAX_FILE_BYTES) {
        throw new AppError(
          "TOO_LARGE",
          `${path} would have ${data.length} bytes; at most ${MAX_FILE_BYTES} are allowed`,
        );
      }
      const content = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
      const reply = await ask({ op: "write", path, data: content });
      return { path: text(reply.path), replaced: reply.replaced === true };
    },
    async list(path, limit) {
      const reply = await ask({ op: "list", path, limit });
      if (!Array.isArray(reply.entries)) throw new TypeError("The monitor's list reply has no entries");
      return reply.entries.map(parseEntry);
    },
  };
}

function parseEntry(value: unknown): FileEntry {
  const entry = fields(value);
  const kind = entry.kind === "file" || entry.kind === "folder" ? entry.kind : "other";
  return {
    name: text(entry.name),
    path: text(entry.path),
    kind,
    size: number(entry.size),
    modified: number(entry.modified),
  };
}
