import { grouped } from "./text.ts";

/** Text, before which `dropped` characters are missing. */
export type Part = { readonly text: string; readonly dropped: number };

export type CutOptions = {
  /** Characters to keep: half from the start, half from the end. Default: all. */
  readonly maxChars?: number | undefined;
  /** Told in the line that stands in the place of the cut: where the whole text is. */
  readonly link?: (() => string) | undefined;
};

export type CutText = {
  readonly text: string;
  /** Characters left out here; not those that were missing before. */
  readonly truncatedChars: number;
};

/** A cut moves by up to this many characters to stand between two lines. */
const LINE_SLACK = 200;

/** @returns The parts as one text; one line in the place of each cut counts what is missing there. */
export function cutText(parts: readonly Part[], { maxChars = Number.POSITIVE_INFINITY, link }: CutOptions): CutText {
  const whole = parts.map((part) => part.text).join("");
  if (whole.length <= maxChars) return { text: withMarks(parts), truncatedChars: 0 };
  const end = headEnd(whole, Math.floor(maxChars / 2));
  const start = tailStart(whole, whole.length - Math.ceil(maxChars / 2));
  const missing = parts.reduce((sum, part) => sum + part.dropped, 0);
  const head = window(parts, 0, end);
  const tail = window(parts, start, whole.length);
  const dropped = missing - [...head, ...tail].reduce((sum, part) => sum + part.dropped, 0);
  const what = missing > 0 ? "what is kept of it" : "the whole output";
  const where = link === undefined ? "" : `; ${what}: ${link()}`;
  const text = withMark(withMarks(head), start - end + dropped, where, withMarks(tail));
  return { text, truncatedChars: start - end };
}

/** The parts between two positions of the whole text. What is missing at `from` belongs to the cut before it. */
function window(parts: readonly Part[], from: number, to: number): Part[] {
  const chosen: Part[] = [];
  let position = 0;
  for (const { text, dropped } of parts) {
    const start = Math.max(from, position);
    const end = Math.min(to, position + text.length);
    const inside = position < to && (position > from || from === 0);
    if (end > start || (inside && dropped > 0)) {
      chosen.push({
        text: text.slice(start - position, Math.max(start, end) - position),
        dropped: inside ? dropped : 0,
      });
    }
    position += text.length;
  }
  return chosen;
}

function withMarks(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) text = part.dropped > 0 ? withMark(text, part.dropped, "", part.text) : text + part.text;
  return text;
}

/** @returns The line that stands in the place of a cut. */
export function cutMark(dropped: number, where = ""): string {
  return `… ${grouped(dropped)} characters omitted${where} …`;
}

function withMark(before: string, dropped: number, where: string, after: string): string {
  const lineBreak = before === "" || before.endsWith("\n") ? "" : "\n";
  return `${before}${lineBreak}${cutMark(dropped, where)}\n${after}`;
}

/** At most `limit`, after a line if one ends nearby, never inside a surrogate pair. */
function headEnd(text: string, limit: number): number {
  const line = text.lastIndexOf("\n", limit - 1) + 1;
  if (line > 0 && limit - line <= Math.min(LINE_SLACK, limit / 2)) return line;
  return limit > 0 && isHigh(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
}

function tailStart(text: string, limit: number): number {
  const line = text.indexOf("\n", limit - 1) + 1;
  if (line > 0 && line < text.length && line - limit <= Math.min(LINE_SLACK, (text.length - limit) / 2)) return line;
  return isHigh(text.charCodeAt(limit - 1)) ? limit + 1 : limit;
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
