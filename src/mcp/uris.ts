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

export function outputUri(id: string, index: number): string {
  return `${SESSIONS_URI}/${id}/blocks/${index}/output`;
}
