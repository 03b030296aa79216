import type { ChangedFiles } from "../core/changed-files.ts";
import type { Block } from "../core/session.ts";
import { grouped, wellFormed } from "./text.ts";

/** Of a longer path the end is shown: it holds the name. */
const SHOWN_CHARS = 200;

/** @returns `Files: plot.png (12.3 kB), data.csv (1.1 kB) and 31 more`; empty for a block that left none. */
export function filesLine({ files }: Block): string {
  return files === undefined ? "" : `Files: ${listOf(files)}`;
}

function listOf({ changed, more }: ChangedFiles): string {
  const named = changed.map(({ path, size }) => `${shownPath(path)} (${sizeOf(size)})`).join(", ");
  return more > 0 ? `${named} and ${grouped(more)} more` : named;
}

/** @returns The path on one line, in characters that can be seen and do not reorder their neighbours. */
export function shownPath(path: string): string {
  const end = path.length > SHOWN_CHARS ? `…${path.slice(-SHOWN_CHARS).replace(/^[\udc00-\udfff]/, "")}` : path;
  return wellFormed(end).replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escapeOf);
}

function escapeOf(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** @returns `12 B`, `12.3 kB`, `4.0 GB`. */
function sizeOf(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.95 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
