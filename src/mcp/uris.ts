import { MAX_PATH_CHARS } from "../core/changed-files.ts";
import type { Slice } from "../sessions/rerun.ts";

/** The resource URIs of the contract. Session ids need no escaping: their alphabet is safe in a URI. */

export const SESSIONS_URI = "repl://sessions";

export function historyUri(id: string, format: string, slice: Slice): string {
  const query = [
    ...(slice.start === undefined ? [] : [`start=${slice.start}`]),
    ...(slice.end === undefined ? [] : [`end=${slice.end}`]),
  ];
  return `${SESSIONS_URI}/${id}/history.${format}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

export function scriptUri(id: string): string {
  return `${SESSIONS_URI}/${id}/script.py`;
}

/**
 * Each segment is escaped, slashes stay: `/tmp/a b.txt` ends in `files//tmp/a%20b.txt`. Bytes of a name that are not UTF-8,
 * which Python shows as lone surrogates, are escaped as the bytes that they are.
 */
export function fileUri(id: string, path: string): string {
  return `${SESSIONS_URI}/${id}/files/${path.split("/").map(escapeSegment).join("/")}`;
}

const FIRST_ESCAPED_BYTE = 0xdc00;

function escapeSegment(segment: string): string {
  return segment.replace(/\p{Surrogate}|[^\p{Surrogate}]+/gu, (part) => {
    const byte = part.charCodeAt(0) - FIRST_ESCAPED_BYTE;
    if (!/^\p{Surrogate}$/u.test(part)) return encodeURIComponent(part);
    return byte >= 0x80 && byte <= 0xff ? `%${byte.toString(16).toUpperCase()}` : "%EF%BF%BD";
  });
}

/** @returns The path that `fileUri` escaped; undefined for what is not escaped well, or can be no path. */
export function unescapePath(escaped: string): string | undefined {
  if (escaped.length > 3 * MAX_PATH_CHARS || /%(?![0-9a-f]{2})/i.test(escaped)) return undefined;
  return escaped.replace(/(?:%[0-9a-f]{2})+/gi, unescapeBytes);
}

function unescapeBytes(bytes: string): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    // Not UTF-8 in all: a character as long as there is one, else a byte.
    const length = [3, 6, 9, 12].find((size) => decoded(bytes.slice(at, at + size)) !== undefined);
    text += decoded(bytes.slice(at, at + (length ?? 0))) || loneByte(bytes.slice(at + 1, at + 3));
    at += length ?? 3;
  }
  return text;
}

function loneByte(hex: string): string {
  return String.fromCharCode(FIRST_ESCAPED_BYTE + Number.parseInt(hex, 16));
}

function decoded(escaped: string): string | undefined {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

export function outputUri(id: string, index: number): string {
  return `${SESSIONS_URI}/${id}/blocks/${index}/output`;
}
