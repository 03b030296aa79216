import type { DisplayOutput, Output, StreamOutput } from "./execution.ts";

export type OutputBufferOptions = {
  /** Characters (UTF-16 units) of printed text to keep: half from the start, the rest from the end. */
  readonly maxChars: number;
  /** Characters of all display bundles together. Default 20 MiB. */
  readonly maxDisplayChars?: number;
  /** Display bundles to keep. Default 50. */
  readonly maxDisplays?: number;
};

export type OutputSnapshot = {
  readonly outputs: readonly Output[];
  /** Characters of text that were left out, here or by the backend. */
  readonly truncatedChars: number;
};

/** The output of one cell, bounded while it is produced. */
export interface OutputBuffer {
  /** Time is linear in the text, memory bounded by the options, whatever the size and number of pieces. */
  push(output: Output): void;
  /** What is kept, in order, adjacent pieces of one stream merged; `dropped` stands on the first piece after a cut. */
  snapshot(): OutputSnapshot;
  /** The last `maxChars` characters of printed text, or what came after a cut. */
  tail(maxChars: number): string;
}

const MAX_DISPLAY_CHARS = 20 * 1024 * 1024;
const MAX_DISPLAYS = 50;
/** Text is stored in pieces of about this length: the unit in which the tail forgets. */
const PIECE_CHARS = 8192;
/** Streams that alternate could make one piece per character, so each half keeps at most this many. */
const MAX_PIECES = 5000;

type Piece = { readonly stream: Pick<StreamOutput, "name" | "late">; text: string; dropped: number };
type Placed = { readonly display: () => DisplayOutput };
type Entry = Piece | Placed;

/** @returns An empty buffer for one cell. */
export function createOutputBuffer(options: OutputBufferOptions): OutputBuffer {
  const text = new HeadAndTail(Math.max(0, options.maxChars));
  const displays = new DisplayLimit(options);
  return {
    push: (output) => {
      if (output.type === "stream") return text.print(output);
      const { place, print } = displays.admit(output);
      for (const display of place) text.place({ display });
      if (print !== undefined) text.printLine(print);
    },
    snapshot: () => {
      const { outputs, dropped } = text.snapshot();
      return { outputs, truncatedChars: dropped + displays.truncatedChars };
    },
    tail: (maxChars) => text.tail(maxChars),
  };
}

/** Printed text, of which only head and tail stay, and displays at their places, which all stay. */
class HeadAndTail {
  readonly #maxChars: number;
  readonly #maxPieces: number;
  readonly #head: Entry[] = [];
  /** Displays whose surrounding text was forgotten. */
  readonly #middle: Placed[] = [];
  readonly #tail: Entry[] = [];
  #headOpen: boolean;
  #headChars = 0;
  #tailChars = 0;
  /** Characters between head and tail. */
  #forgotten = 0;
  #lastChar = "\n";

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
    this.#maxPieces = MAX_PIECES + Math.ceil(maxChars / PIECE_CHARS);
    this.#headOpen = maxChars >= 2;
  }

  print(output: StreamOutput): void {
    if (output.text === "" && !output.dropped) return;
    this.#lastChar = output.text.at(-1) ?? this.#lastChar;
    const rest = this.#headOpen ? this.#fillHead(output) : output;
    if (rest === undefined) return;
    const start = tailStart(rest.text, rest.text.length - this.#tailBudget);
    const kept = start > 0 ? detach(rest.text.slice(start)) : rest.text;
    append(this.#tail, start > 0 ? { ...rest, text: kept, dropped: (rest.dropped ?? 0) + start } : rest);
    this.#tailChars += kept.length;
    this.#forget();
  }

  /** Prints text on lines of its own. */
  printLine(text: string): void {
    const start = this.#lastChar === "\n" ? "" : "\n";
    this.print({ type: "stream", name: "stdout", text: `${start}${text}\n` });
  }

  place(entry: Placed): void {
    (this.#headOpen ? this.#head : this.#tail).push(entry);
  }

  snapshot(): { outputs: Output[]; dropped: number } {
    const merged = new Merger();
    for (const entry of [...this.#head, ...this.#middle]) merged.add(entry, 0);
    merged.owe(this.#forgotten);
    let excess = this.#tailChars - this.#tailBudget;
    for (const entry of this.#tail) {
      const skip = "display" in entry ? 0 : Math.max(0, Math.min(excess, entry.text.length));
      excess -= skip;
      merged.add(entry, skip);
    }
    return merged.finish();
  }

  tail(maxChars: number): string {
    return lastChars(this.#forgotten > 0 ? this.#tail : [...this.#head, ...this.#tail], maxChars);
  }

  get #tailBudget(): number {
    return this.#maxChars - this.#headChars;
  }

  /** Puts into the head what it has room for and returns the rest, or undefined when nothing is left. */
  #fillHead(output: StreamOutput): StreamOutput | undefined {
    const { text } = output;
    const room = Math.floor(this.#maxChars / 2) - this.#headChars;
    const end = headEnd(text, room);
    this.#headOpen = end === text.length && end < room && this.#head.length < this.#maxPieces;
    if (end === 0 && text !== "") return output;
    append(this.#head, end < text.length ? { ...output, text: detach(text.slice(0, end)) } : output);
    this.#headChars += end;
    return end < text.length ? { ...output, dropped: 0, text: text.slice(end) } : undefined;
  }

  /** Forgets whole pieces from the front; the exact cut is left to the snapshot. */
  #forget(): void {
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      const chars = "display" in first ? 0 : first.text.length;
      const needed = this.#tailChars <= this.#tailBudget || this.#tailChars - chars < this.#tailBudget;
      if (needed && this.#tail.length <= this.#maxPieces) return;
      this.#tail.shift();
      this.#tailChars -= chars;
      if ("display" in first) this.#middle.push(first);
      else this.#forgotten += first.dropped + chars;
    }
  }
}

/** Joins neighbours of one stream and puts what was left out on the first text after it. */
class Merger {
  readonly #outputs: (DisplayOutput | { stream: Piece["stream"]; parts: string[]; dropped: number })[] = [];
  #owed = 0;
  #dropped = 0;

  owe(chars: number): void {
    this.#owed += chars;
    this.#dropped += chars;
  }

  /** Adds an entry without the first `skip` characters of its text. */
  add(entry: Entry, skip: number): void {
    if ("display" in entry) {
      this.#outputs.push(entry.display());
      return;
    }
    const start = tailStart(entry.text, skip, this.#owed > 0);
    this.owe(entry.dropped + start);
    if (start === entry.text.length) return;
    const text = start > 0 ? entry.text.slice(start) : entry.text;
    const last = this.#outputs.at(-1);
    if (this.#owed === 0 && last !== undefined && "parts" in last && sameStream(last.stream, entry.stream)) {
      last.parts.push(text);
      return;
    }
    this.#outputs.push({ stream: entry.stream, parts: [text], dropped: this.#owed });
    this.#owed = 0;
  }

  finish(): { outputs: Output[]; dropped: number } {
    if (this.#owed > 0) this.#outputs.push({ stream: { name: "stdout" }, parts: [], dropped: this.#owed });
    const outputs = this.#outputs.map((output): Output => {
      if (!("parts" in output)) return output;
      const mark = output.dropped > 0 ? { dropped: output.dropped } : {};
      return { type: "stream", ...output.stream, text: output.parts.join(""), ...mark };
    });
    return { outputs, dropped: this.#dropped };
  }
}

/** Decides which display bundles are kept; of the others the plain text stays, and one sentence counts them. */
class DisplayLimit {
  readonly #maxTextChars: number;
  readonly #maxCount: number;
  readonly #maxTotal: number;
  #count = 0;
  #total = 0;
  #left = 0;
  #hadResult = false;
  /** Characters cut from plain texts. */
  truncatedChars = 0;

  constructor(options: OutputBufferOptions) {
    this.#maxTextChars = options.maxChars;
    this.#maxCount = options.maxDisplays ?? MAX_DISPLAYS;
    this.#maxTotal = options.maxDisplayChars ?? MAX_DISPLAY_CHARS;
  }

  /** @returns What to place here, and text to print where there is no room for the display itself. */
  admit(output: DisplayOutput): { place: Placed["display"][]; print?: string } {
    const { "text/plain": whole, ...rich } = output.data;
    const plain = whole === undefined ? undefined : shorten(whole, this.#maxTextChars);
    this.truncatedChars += plain?.dropped ?? 0;
    const data = plain === undefined ? rich : { ...rich, "text/plain": plain.text };
    const size = Object.values(data).reduce((sum, value) => sum + value.length, 0);
    const isResult = output.type === "execute_result" && !this.#hadResult;
    this.#hadResult ||= isResult;
    if (this.#count < this.#maxCount && this.#total + size <= this.#maxTotal) {
      this.#count++;
      this.#total += size;
      return { place: [() => ({ type: output.type, data })] };
    }
    const place: Placed["display"][] = ++this.#left === 1 ? [() => this.#notice()] : [];
    if (plain === undefined) return { place };
    if (!isResult) return { place, print: plain.text };
    return { place: [...place, () => ({ type: output.type, data: { "text/plain": plain.text } })] };
  }

  #notice(): DisplayOutput {
    const what = this.#left === 1 ? "1 display was" : `${grouped(this.#left)} displays were`;
    const limit = `a block keeps ${grouped(this.#maxCount)} of them with ${grouped(this.#maxTotal)} characters`;
    return { type: "display_data", data: { "text/plain": `(${what} omitted, except for their text: ${limit})` } };
  }
}

/** Head and tail of a text with one line between them that counts what is missing. */
function shorten(text: string, maxChars: number): { text: string; dropped: number } {
  if (text.length <= maxChars) return { text, dropped: 0 };
  const end = headEnd(text, Math.floor(maxChars / 2));
  const start = tailStart(text, text.length - (maxChars - end));
  const mark = `\n… ${grouped(start - end)} characters omitted …\n`;
  return { text: [text.slice(0, end), mark, text.slice(start)].join(""), dropped: start - end };
}

function append(entries: Entry[], output: StreamOutput): void {
  const last = entries.at(-1);
  const { text, name, late, dropped = 0 } = output;
  const open =
    last !== undefined && "text" in last && dropped === 0 && last.text.length < PIECE_CHARS ? last : undefined;
  if (open === undefined || !sameStream(open.stream, output)) {
    entries.push({ stream: late ? { name, late } : { name }, text, dropped });
    return;
  }
  open.text += text;
  if (open.text.length >= PIECE_CHARS) open.text = detach(open.text);
}

function sameStream(one: Piece["stream"], other: Piece["stream"]): boolean {
  return one.name === other.name && (one.late ?? false) === (other.late ?? false);
}

function lastChars(entries: readonly Entry[], chars: number): string {
  const parts: string[] = [];
  let room = chars;
  for (let index = entries.length - 1; index >= 0 && room > 0; index--) {
    const entry = entries[index];
    if (entry === undefined || "display" in entry) continue;
    const start = tailStart(entry.text, entry.text.length - room);
    parts.unshift(entry.text.slice(start));
    room -= entry.text.length;
  }
  return parts.join("");
}

/** Where the head ends when it may hold `room` characters: never after a high surrogate that ends the room. */
function headEnd(text: string, room: number): number {
  const end = Math.min(text.length, room);
  return end > 0 && end === room && isHigh(text.charCodeAt(end - 1)) ? end - 1 : end;
}

/** Where the tail starts when `skip` characters go: after a cut, the second half of a surrogate pair goes too. */
function tailStart(text: string, skip: number, afterCut = false): number {
  const start = Math.max(0, Math.min(skip, text.length));
  return (afterCut || start > 0) && isLow(text.charCodeAt(start)) ? start + 1 : start;
}

const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/** The same text in memory of its own: a slice would keep all of its parent alive, a sum the tree of its parts. */
function detach(text: string): string {
  const middle = text.length >> 1;
  return [text.slice(0, middle), text.slice(middle)].join("");
}

const grouped = (count: number): string => count.toLocaleString("en-US");
