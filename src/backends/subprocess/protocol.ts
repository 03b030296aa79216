import { type ChangedFiles, parseChangedFiles } from "../../core/changed-files.ts";
import { ERROR_CODES, type ErrorCode } from "../../core/errors.ts";
import type { MimeBundle, PythonError, StreamName } from "../../core/execution.ts";
import { FrameError } from "./frames.ts";

/** The frames of src/worker/PROTOCOL.md. */

export type ServerFrame =
  | {
      readonly op: "execute";
      readonly id: number;
      readonly code: string;
      readonly number: number;
      readonly path?: string;
      readonly head: number;
      readonly tail: number;
    }
  | { readonly op: "interrupt"; readonly id: number; readonly grace: number }
  | FileRequest
  | { readonly op: "shutdown"; readonly grace: number };

export type FileRequest = { readonly id: number; readonly path: string } & (
  | { readonly op: "read" | "list"; readonly limit: number }
  | { readonly op: "write"; readonly data: string }
);

export type ReadyFrame = { readonly type: "ready"; readonly pid: number; readonly cwd: string };

export type OutputFrame =
  | {
      readonly type: "stream";
      readonly id: number;
      readonly name: StreamName;
      readonly text: string;
      readonly late?: boolean;
      readonly dropped?: number;
    }
  | { readonly type: "display_data" | "execute_result"; readonly id: number; readonly data: MimeBundle };

type Told = { readonly files?: ChangedFiles };

export type DoneFrame = { readonly type: "done"; readonly id: number } & Told &
  (
    | { readonly status: "ok" }
    | { readonly status: "error"; readonly error: PythonError }
    | { readonly status: "aborted"; readonly error?: PythonError }
    | { readonly status: "refused"; readonly code: ErrorCode; readonly message: string }
  );

export type DiedFrame = { readonly type: "died"; readonly detail: string; readonly aborted: boolean } & Told;

export type ReplyFrame = { readonly type: "reply"; readonly id: number } & (
  | { readonly value: Fields; readonly error?: undefined }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }
);

export type MonitorFrame = ReadyFrame | OutputFrame | DoneFrame | DiedFrame | ReplyFrame;

export type Fields = Readonly<Record<string, unknown>>;

/** @throws FrameError for anything that is no frame of the monitor. */
export function parseMonitorFrame(value: unknown): MonitorFrame {
  const frame = fields(value);
  switch (frame.type) {
    case "stream":
      return parseStream(frame);
    case "display_data":
    case "execute_result":
      return { type: frame.type, id: number(frame.id), data: parseBundle(frame.data) };
    case "done":
      return parseDone(frame);
    case "reply":
      return parseReply(frame);
    case "ready":
      return { type: "ready", pid: number(frame.pid), cwd: text(frame.cwd) };
    case "died":
      return { type: "died", detail: text(frame.detail), aborted: frame.aborted === true, ...parseFiles(frame) };
    default:
      throw new FrameError("A frame has no known type");
  }
}

function parseStream(frame: Fields): OutputFrame {
  if (frame.name !== "stdout" && frame.name !== "stderr") throw new FrameError("A stream frame names no stream");
  return {
    type: "stream",
    id: number(frame.id),
    name: frame.name,
    text: text(frame.text),
    ...(frame.late === true ? { late: true } : {}),
    ...(typeof frame.dropped === "number" && frame.dropped > 0 ? { dropped: frame.dropped } : {}),
  };
}

function parseBundle(value: unknown): MimeBundle {
  const bundle: Record<string, string> = {};
  for (const [type, content] of Object.entries(fields(value))) bundle[type] = text(content);
  return bundle;
}

function parseDone(frame: Fields): DoneFrame {
  const done = { type: "done", id: number(frame.id), ...parseFiles(frame) } as const;
  switch (frame.status) {
    case "ok":
      return { ...done, status: "ok" };
    case "error":
      return { ...done, status: "error", error: parsePythonError(frame.error) };
    case "aborted": {
      const error = frame.error === undefined || frame.error === null ? {} : { error: parsePythonError(frame.error) };
      return { ...done, status: "aborted", ...error };
    }
    case "refused":
      return { ...done, status: "refused", code: errorCode(frame.code), message: text(frame.message) };
    default:
      throw new FrameError("A done frame has no known status");
  }
}

function parseFiles(frame: Fields): Told {
  if (frame.files === undefined) return {};
  const files = parseChangedFiles(frame.files);
  if (!files) throw new FrameError("A frame tells of files that cannot be");
  return { files };
}

function parseReply(frame: Fields): ReplyFrame {
  const reply = { type: "reply", id: number(frame.id) } as const;
  if (frame.error === undefined) return { ...reply, value: frame };
  const error = fields(frame.error);
  return { ...reply, error: { code: errorCode(error.code), message: text(error.message) } };
}

function parsePythonError(value: unknown): PythonError {
  const error = fields(value);
  return { name: text(error.name), message: text(error.message), traceback: text(error.traceback) };
}

export function fields(value: unknown): Fields {
  if (typeof value !== "object" || value === null) throw new FrameError("A frame is no object");
  return value as Fields;
}

export function text(value: unknown): string {
  if (typeof value !== "string") throw new FrameError("A frame lacks a text");
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== "number") throw new FrameError("A frame lacks a number");
  return value;
}

function errorCode(value: unknown): ErrorCode {
  const code = ERROR_CODES.find((known) => known === value);
  if (code === undefined) throw new FrameError("A frame has an unknown error code");
  return code;
}
