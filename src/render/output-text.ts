import type { DisplayOutput, MimeBundle, Output, StreamOutput } from "../core/execution.ts";
import type { Block } from "../core/session.ts";
import { foldCarriageReturns } from "../core/terminal.ts";
import type { Part } from "./cut.ts";
import { counted, wellFormed } from "./text.ts";

export const LATE_MARK = "(late output of earlier blocks)";
export const OWN_MARK = "(output of this block)";

/** Types whose content a reader can take as text, best first. */
const TEXT_TYPES = ["text/plain", "text/markdown", "text/latex", "application/json"];

/**
 * The output of a block as a terminal would show it: what was printed, the text of displays, then the value or the
 * traceback. Each of them starts on a line of its own.
 */
export function outputParts(block: Block): Part[] {
  const text = new TextBuilder();
  let late = false;
  for (const output of merged(block.outputs)) {
    if (output.type !== "stream") {
      text.line(ownMark(late));
      late = false;
      text.line(displayText(output.data));
      continue;
    }
    const isLate = output.late === true;
    if (isLate !== late) text.line(isLate ? LATE_MARK : ownMark(late));
    late = isLate;
    text.printed(output);
  }
  if (block.error !== null) {
    text.line(ownMark(late));
    text.line(wellFormed(block.error.traceback));
  }
  return text.parts;
}

const ownMark = (afterLate: boolean): string => (afterLate ? OWN_MARK : "");

/** Both streams write to one terminal: neighbours are one text unless something is missing between them. */
function merged(outputs: readonly Output[]): Output[] {
  const result: Output[] = [];
  for (const output of outputs) {
    const last = result.at(-1);
    const joins =
      output.type === "stream" &&
      !output.dropped &&
      last?.type === "stream" &&
      (last.late ?? false) === (output.late ?? false);
    if (joins) result[result.length - 1] = { ...last, text: last.text + output.text };
    else result.push(output);
  }
  return result;
}

/** @returns The text that stands for a display: its plain text, else the best type that reads as text. */
export function displayText(data: MimeBundle): string {
  for (const type of TEXT_TYPES) {
    const content = data[type];
    if (content !== undefined) return wellFormed(content);
  }
  const [type, content = ""] = Object.entries(data)[0] ?? [];
  return type === undefined ? "" : `(${type}, ${counted(content.length, "character")})`;
}

/** @returns The value of the block's last expression, or undefined. */
export function resultOf(block: Block): DisplayOutput | undefined {
  return block.outputs.findLast((output): output is DisplayOutput => output.type === "execute_result");
}

class TextBuilder {
  readonly parts: Part[] = [];
  #atLineStart = true;

  printed({ text, dropped = 0 }: StreamOutput): void {
    const folded = wellFormed(foldCarriageReturns(text));
    if (folded === "" && dropped === 0) return;
    this.parts.push({ text: folded, dropped });
    if (folded !== "" || dropped > 0) this.#atLineStart = folded === "" || folded.endsWith("\n");
  }

  /** Text on lines of its own; nothing for empty text. */
  line(text: string): void {
    if (text === "") return;
    const end = text.endsWith("\n") ? "" : "\n";
    this.parts.push({ text: `${this.#atLineStart ? "" : "\n"}${text}${end}`, dropped: 0 });
    this.#atLineStart = true;
  }
}
