import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/**
 * A file for a value that is replaced often. It holds two copies; a write goes over the older one, so that a kill, a
 * loss of power or a reader at the wrong moment finds one that is whole. Unlike a temporary file that is renamed it
 * makes and frees no inode, which takes ten times as long, and longer still on file systems where many were freed lately.
 *
 *   pair1 <size>\n                        size: bytes between the starts of the copies
 *   <counter> <length> <checksum>\n<text> the first copy, of which the higher counter holds
 *   …                                     the second, `size` bytes later
 *
 * Only one process at a time may write.
 */

const PREFACE = "pair1 ";
const PREFACE_BYTES = 16;
const HEADER_BYTES = 48;
const MIN_SIZE = 2_048;
const CHECKSUM_DIGITS = 20;
const COUNTER_DIGITS = 15;

/** Values beyond this are not worth two copies. */
export const MAX_PAIR_BYTES = 65_536;

type Copy = { readonly counter: number; readonly start: number; readonly text: Buffer };
type Pair = { readonly size: number; readonly latest: Copy };

/** The text of the file; undefined when no copy is whole. @throws The error of the file system. */
export function readPair(path: string): string | undefined {
  return parse(readFileSync(path))?.latest.text.toString("utf8");
}

/** The bytes of a new file with `text`, and room for it to grow. */
export function newPair(text: string): Buffer {
  const copy = encode(1, text);
  const size = Math.max(MIN_SIZE, 2 ** Math.ceil(Math.log2(copy.length * 1.5)));
  const preface = `${PREFACE}${size}`.padEnd(PREFACE_BYTES - 1);
  return Buffer.concat([Buffer.from(`${preface}\n`), copy]);
}

/**
 * Replaces the text of the file at `path`. Returns false, with nothing changed, when the text is too long for it or the
 * file is no whole pair. @throws The error of the file system; the old text is still there then.
 */
export function rewritePair(path: string, text: string): boolean {
  const file = openSync(path, "r+");
  try {
    const bytes = Buffer.allocUnsafe(fstatSync(file).size);
    const pair = parse(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)));
    if (pair === undefined) return false;
    const copy = encode(pair.latest.counter + 1, text);
    if (copy.length > pair.size) return false;
    const start = pair.latest.start === PREFACE_BYTES ? PREFACE_BYTES + pair.size : PREFACE_BYTES;
    const written = writeSync(file, copy, 0, copy.length, start);
    if (written < copy.length) throw new Error(`Only ${written} of ${copy.length} bytes could be written`);
    return true;
  } finally {
    closeSync(file);
  }
}

function parse(bytes: Buffer): Pair | undefined {
  const preface = bytes.toString("latin1", 0, PREFACE_BYTES);
  const size = Number(preface.slice(PREFACE.length));
  if (!preface.startsWith(PREFACE) || !(size >= MIN_SIZE)) return undefined;
  const starts = [PREFACE_BYTES, PREFACE_BYTES + size];
  const newestFirst = starts.sort((a, b) => counterAt(bytes, b) - counterAt(bytes, a));
  for (const start of newestFirst) {
    const latest = parseCopy(bytes, start, size);
    if (latest !== undefined) return { size, latest };
  }
  return undefined;
}

/** What the copy says its counter is, before anything is known of it. */
function counterAt(bytes: Buffer, start: number): number {
  return Number(bytes.toString("latin1", start, start + COUNTER_DIGITS)) || 0;
}

function parseCopy(bytes: Buffer, start: number, size: number): Copy | undefined {
  const header = bytes.toString("latin1", start, start + HEADER_BYTES);
  const [counter = "", length = "", checksum = ""] = header.trimEnd().split(" ");
  const text = bytes.subarray(start + HEADER_BYTES, start + Math.min(size, HEADER_BYTES + Number(length)));
  if (text.length !== Number(length) || checksumOf(counter, text) !== checksum) return undefined;
  return { counter: Number(counter), start, text };
}

function encode(counter: number, value: string): Buffer {
  const text = Buffer.from(value);
  const digits = String(counter).padStart(COUNTER_DIGITS, "0");
  const header = `${digits} ${text.length} ${checksumOf(digits, text)}`.padEnd(HEADER_BYTES - 1);
  return Buffer.concat([Buffer.from(`${header}\n`), text]);
}

function checksumOf(counter: string, text: Buffer): string {
  return createHash("sha256").update(counter).update(text).digest("hex").slice(0, CHECKSUM_DIGITS);
}
