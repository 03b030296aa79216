import type { Block } from "../core/session.ts";
import { type CutText, cutText } from "./cut.ts";
import { filesLine } from "./files.ts";
import { outputParts } from "./output-text.ts";
import { grouped, linesOf, wellFormed } from "./text.ts";

/** A block and the 1-based position at which it is shown. */
export type Entry = { readonly number: number; readonly block: Block };

export type ReplyOptions = {
  /** false leaves the code out. Default true. */
  readonly echo?: boolean | undefined;
  /** Characters of a block's output, and of its code, to keep. Default 64 KiB. */
  readonly maxChars?: number | undefined;
  /** Where the whole output of the block at this 0-based position can be read; told where the output is cut. */
  readonly link?: ((index: number) => string) | undefined;
};

export type TranscriptOptions = ReplyOptions & {
  /** Characters of output of all blocks together; long outputs are cut before short ones. Default: no limit. */
  readonly totalChars?: number | undefined;
};

const REPLY_CHARS = 64 * 1024;
/** However many blocks share a limit, each may show this much. */
const MIN_BLOCK_CHARS = 200;

/**
 * One block as the reply shows it: `[n] code`, output, then a sentence on what happened to it, and its files.
 * `truncatedChars` counts the output that is left out here, not what the block itself lacks.
 */
export function renderReply(block: Block, number: number, options: ReplyOptions = {}): CutText {
  const { echo = true, maxChars = REPLY_CHARS, link } = options;
  const parts = outputParts(block);
  const cut = cutText(parts, { maxChars, link: link && (() => link(number - 1)) });
  const lines = [
    echo ? echoOf(block.code, number, maxChars) : "",
    withoutLastBreak(cut.text),
    noteOf(block),
    filesLine(block),
  ];
  const text = lines.filter((line, index) => line !== "" || (index === 1 && cut.text !== "")).join("\n");
  return { text: text === "" ? `[${number}]` : text, truncatedChars: cut.truncatedChars };
}

/** Blocks separated by a blank line; empty when there are none. */
export function renderTranscript(entries: readonly Entry[], options: TranscriptOptions = {}): string {
  const { totalChars, maxChars = REPLY_CHARS } = options;
  const share = totalChars === undefined ? maxChars : Math.min(maxChars, fairShare(entries, totalChars));
  return entries
    .map(({ block, number }) => renderReply(block, number, { ...options, maxChars: share }).text)
    .join("\n\n");
}

/** The whole output of a block, uncut, each line with its end. */
export function renderOutput(block: Block): string {
  return cutText(outputParts(block), {}).text;
}

/** `[n] first line`, later lines under it. */
function echoOf(code: string, number: number, maxChars: number): string {
  const mark = `[${number}] `;
  const [first = "", ...rest] = linesOf(cutCode(wellFormed(code).trimEnd(), maxChars));
  const indented = rest.map((line) => (line === "" ? "" : " ".repeat(mark.length) + line));
  return [first === "" ? mark.trimEnd() : mark + first, ...indented].join("\n");
}

function cutCode(code: string, maxChars: number): string {
  if (code.length <= maxChars) return code;
  const head = code.slice(0, Math.floor(maxChars / 2)).replace(/[\ud800-\udbff]$/, "");
  const tail = code.slice(code.length - Math.floor(maxChars / 2)).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n… ${grouped(code.length - head.length - tail.length)} characters of code omitted …\n${tail}`;
}

/** Blocks end without a line break, whether or not their output did. */
function withoutLastBreak(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** @returns The sentence on time, death or state that stands under a block, in parentheses; else empty. */
export function noteOf(block: Block): string {
  const note = block.note ?? DEFAULT_NOTES[block.status];
  return note === undefined ? "" : `(${wellFormed(note)})`;
}

const DEFAULT_NOTES: Partial<Record<Block["status"], string>> = {
  running: "Still running",
  interrupted: "The server ended while this block ran",
};

/** The most characters each block may show so that all together stay within `total`. */
function fairShare(entries: readonly Entry[], total: number): number {
  const lengths = entries.map(({ block }) => outputParts(block).reduce((sum, part) => sum + part.text.length, 0));
  lengths.sort((one, other) => one - other);
  let left = total;
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return Math.max(MIN_BLOCK_CHARS, share);
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}
