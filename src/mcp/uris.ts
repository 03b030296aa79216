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

/** Each segment is escaped, slashes stay: `/tmp/a b.txt` ends in `files//tmp/a%20b.txt`. */
export function fileUri(id: string, path: string): string {
  return `${SESSIONS_URI}/${id}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function outputUri(id: string, index: number): string {
  return `${SESSIONS_URI}/${id}/blocks/${index}/output`;
}
