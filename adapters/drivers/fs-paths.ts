import { join } from "node:path";

/**
 * How a key becomes the place of a file, and back: `o:local:s:a:record` lies at `o/local/s/a/record.json`, and the
 * numbered `o:local:s:a:b:12345` in `o/local/s/a/b/12.log`, with all of that thousand.
 *
 * A folder never has a dot in its name and a file always has one, so the keys `a` and `a:b` live side by side. What is
 * not `a-z 0-9 _ -` is written as `%hh`, which keeps names apart on file systems that are blind to case. A name that is
 * too long is cut to folders that end in `+`.
 */

/** The value itself; and a value that was replaced before, which counts where both are there. */
export const PLAIN = ".json";
export const PAIR = ".pair";
const LOG = ".log";
const PER_LOG = 1_000;

/** File systems stop at 255 bytes a name. */
const MAX_NAME = 180;

/** The key's path below `root`, without the suffix of its file. */
export function pathOf(root: string, key: string): string {
  return join(root, ...segmentsOf(key).flatMap(names));
}

/** The log of a value whose last segment is a number as a program writes it, and which of its values it is. */
export function logOf(root: string, key: string): { readonly path: string; readonly slot: number } | undefined {
  const segments = segmentsOf(key);
  const number = numberOf(segments.pop() ?? "");
  if (number === undefined) return undefined;
  const name = `${Math.floor(number / PER_LOG)}${LOG}`;
  return { path: join(root, ...segments.flatMap(names), name), slot: number % PER_LOG };
}

/** The first number of the log with that file name; undefined when it is no log. */
export function firstOf(name: string): number | undefined {
  const thousand = name.endsWith(LOG) ? numberOf(name.slice(0, -LOG.length)) : undefined;
  return thousand === undefined ? undefined : thousand * PER_LOG;
}

/** The names of the segments of a key. */
export function namesOf(key: string): string[] {
  return segmentsOf(key).map(escapeName);
}

/** A name of `a-z 0-9 _ - %` for any text; different texts give different names, of any length. */
export function escapeName(text: string): string {
  return text.replace(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x100 ? `%${hex(code, 2)}` : `%u${hex(code, 4)}`;
  });
}

/** The key segment of an escaped name; undefined when no segment has it. */
export function unescapeName(name: string): string | undefined {
  const text = name.replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? "", 16)),
  );
  return escapeName(text) === name ? text : undefined;
}

/** `isFolderPart` tells a folder whose name goes on in its entries. */
export function isFolderPart(name: string): boolean {
  return name.endsWith("+");
}

function segmentsOf(key: string): string[] {
  return key.split(":").filter((segment) => segment !== "");
}

function numberOf(text: string): number | undefined {
  const number = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

function names(segment: string): string[] {
  const name = escapeName(segment);
  if (name.length <= MAX_NAME) return [name];
  const parts: string[] = [];
  for (let start = 0; start < name.length; start += MAX_NAME) parts.push(name.slice(start, start + MAX_NAME));
  return parts.map((part, index) => (index < parts.length - 1 ? `${part}+` : part));
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
