import { readSync } from "node:fs";

/**
 * The lines of a log of up to a thousand values. A removed value has `-` in its header and spaces for its text.
 *
 *   log1 <id>\n              so that a file that took another one's place is noticed
 *   +012 000000000345\n      a value: its number within the thousand, and the bytes of its text
 *   <text>\n                 one line that begins with neither `+` nor `-`: as a JSON string where it must be
 *   …
 *
 * No text can be taken for a header, so what is whole is found again behind anything that is damaged.
 */
export type Place = { readonly slot: number; readonly start: number; readonly bytes: number };

export const HEADER_BYTES = 18;
export const HEAD_BYTES = 42;

const HEADER = /^([+-])(\d{3}) (\d{12})\n$/;
const LINE_END = 10;
const CHUNK_BYTES = 65_536;

/** The first line of a new log. */
export function newHead(): Buffer {
  return Buffer.from(`log1 ${crypto.randomUUID()}\n`);
}

export function encodeRecord(slot: number, text: string): Buffer {
  const isPlain = !/^["+-]/.test(text) && !text.includes("\n");
  const line = isPlain ? text : JSON.stringify(text);
  const bytes = Buffer.byteLength(line);
  const record = Buffer.allocUnsafe(lengthOf({ bytes }));
  record.write(headerOf("+", { slot, bytes }), "latin1");
  record.write(line, HEADER_BYTES);
  record[record.length - 1] = LINE_END;
  return record;
}

/** What goes over the record at `place` to remove it. */
export function encodeRemoved(place: Place): Buffer {
  return Buffer.concat([Buffer.from(headerOf("-", place)), Buffer.alloc(place.bytes, " ")]);
}

export function lengthOf({ bytes }: Pick<Place, "bytes">): number {
  return HEADER_BYTES + bytes + 1;
}

/** The bytes of the record at `place`; undefined when there is none, or not of this value any more. */
export function readRecord(file: number, place: Place): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(lengthOf(place));
  if (readSync(file, bytes, 0, bytes.length, place.start) < bytes.length) return undefined;
  const isWhole = bytes.toString("latin1", 0, HEADER_BYTES) === headerOf("+", place) && bytes.at(-1) === LINE_END;
  // Once more: who removes it changes the header first, perhaps while the text was being read.
  return isWhole && isLive(file, place) ? bytes : undefined;
}

export function decodeRecord(record: Buffer): string {
  const line = record.toString("utf8", HEADER_BYTES, record.length - 1);
  if (!line.startsWith('"')) return line;
  try {
    return JSON.parse(line);
  } catch {
    return line; // Edited by hand: what it means is for the caller to see.
  }
}

/** Is there a header of the value at `place`, and the value not removed? */
export function isLive(file: number, place: Place): boolean {
  return readHeader(file, place) === headerOf("+", place);
}

/** The same, be the value removed or not. */
export function isThere(file: number, place: Place): boolean {
  return readHeader(file, place).slice(1) === headerOf("+", place).slice(1);
}

function readHeader(file: number, { start }: Place): string {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  return header.toString("latin1", 0, readSync(file, header, 0, HEADER_BYTES, start));
}

/**
 * Calls `found` for each live value from `start`, the begin of a line, to `size`, in order. Returns where it ended:
 * before `size` when the last record is not whole.
 */
export function scanLog(file: number, start: number, size: number, found: (place: Place) => void): number {
  const view = newView(file, size);
  for (let at = start; at < size; ) {
    const [, sign, slot, bytes] = HEADER.exec(view.header(at)) ?? [];
    const text = at + HEADER_BYTES;
    const end = text + Number(bytes);
    if (sign !== undefined && view.isLine(text, end)) {
      if (sign === "+") found({ slot: Number(slot), start: at, bytes: Number(bytes) });
      at = end + 1;
      continue;
    }
    const lineEnd = view.lineEnd(at);
    if (lineEnd === undefined) return at;
    if (sign !== undefined && view.lineEnd(text) === undefined) return at;
    at = lineEnd + 1;
  }
  return size;
}

/** Looks into the file by chunks; texts longer than one are passed over. */
function newView(file: number, size: number) {
  let chunk = Buffer.alloc(0);
  let begin = 0;
  const load = (at: number, bytes: number): void => {
    if (at >= begin && at + bytes <= begin + chunk.length) return;
    const next = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, size - at)));
    chunk = next.subarray(0, readSync(file, next, 0, next.length, at));
    begin = at;
  };
  return {
    header(at: number): string {
      load(at, HEADER_BYTES);
      return chunk.toString("latin1", at - begin, at - begin + HEADER_BYTES);
    },
    /** Is there a line end at `end`, and none before it as far as that costs no further read? */
    isLine(start: number, end: number): boolean {
      if (end >= size) return false;
      const from = end - start < CHUNK_BYTES ? start : end;
      load(from, end + 1 - from);
      return chunk.indexOf(LINE_END, from - begin) === end - begin;
    },
    lineEnd(start: number): number | undefined {
      for (let at = start; at < size; at = begin + chunk.length) {
        load(at, 1);
        const found = chunk.indexOf(LINE_END, at - begin);
        if (found >= 0) return begin + found;
        if (chunk.length === 0) return undefined; // It was cut meanwhile.
      }
      return undefined;
    },
  };
}

function headerOf(sign: "+" | "-", { slot, bytes }: Pick<Place, "slot" | "bytes">): string {
  return `${sign}${String(slot).padStart(3, "0")} ${String(bytes).padStart(12, "0")}\n`;
}
