import type { DisplayOutput, Output, StreamOutput } from "../../core/execution.ts";
import { foldCarriageReturns } from "../../core/terminal.ts";
import { cutMark } from "../cut.ts";
import { displayText, LATE_MARK, OWN_MARK } from "../output-text.ts";
import { dataUri, type Picture, pictureOf } from "../pictures.ts";
import { parseTable, TABLE_TYPE } from "../table.ts";
import { withoutEndBreaks } from "../text.ts";
import { ansiHtml } from "./ansi.ts";
import { escapeHtml, textHtml } from "./escape.ts";
import { frameHtml } from "./frame.ts";
import { tableHtml } from "./table.ts";

export type OutputOptions = {
  /** Names the block to people who do not see where an element stands: `block 3`. */
  readonly label: string;
  /** An address for the picture of the output at this position. Default: the picture itself as a data URI. */
  readonly pictureUrl?: ((position: number) => string) | undefined;
};

/** Text that fits everywhere, also on a phone. */
const SMALL_TEXT_CHARS = 600;
const SHORT_LINE_CHARS = 40;

/** @returns The outputs of a block as HTML, in order; nothing of them can act in the page. */
export function outputsHtml(outputs: readonly Output[], options: OutputOptions): string {
  let late = false;
  return outputs
    .map((output, position) => {
      const isLate = output.type === "stream" && output.late === true;
      const mark = isLate === late ? "" : `<p class="mark">${isLate ? LATE_MARK : OWN_MARK}</p>`;
      late = isLate;
      return mark + (output.type === "stream" ? streamHtml(output, options) : displayHtml(output, position, options));
    })
    .join("");
}

function streamHtml({ name, text, dropped = 0 }: StreamOutput, { label }: OutputOptions): string {
  const cut = dropped > 0 ? `<p class="mark">${cutMark(dropped)}</p>` : "";
  const folded = withoutEndBreaks(foldCarriageReturns(text));
  return cut + textBox(name, label, folded);
}

function displayHtml(output: DisplayOutput, position: number, options: OutputOptions): string {
  const { data } = output;
  const picture = pictureOf(data);
  if (picture !== undefined) return pictureHtml(picture, options.pictureUrl?.(position));
  const table = parseTable(data[TABLE_TYPE] ?? "");
  if (table !== undefined && table.columns.length > 0) return tableHtml(table);
  const frame = data["text/html"] === undefined ? undefined : frameHtml(data["text/html"], options.label);
  if (frame !== undefined) return frame;
  const kind = output.type === "execute_result" ? "value" : "shown";
  return textBox(kind, options.label, withoutEndBreaks(richText(data)));
}

/** Text that the object chose for itself says more than its repr. */
function richText(data: DisplayOutput["data"]): string {
  return data["text/markdown"] ?? data["text/latex"] ?? displayText(data);
}

function pictureHtml(picture: Picture, url: string | undefined): string {
  const source = escapeHtml(url ?? dataUri(picture));
  return `<figure><img src="${source}" alt="${escapeHtml(picture.alt)}" loading="lazy"></figure>`;
}

function textBox(kind: string, label: string, text: string): string {
  return text === "" ? "" : preHtml(`text ${kind}`, `${kind} of ${label}`, text, ansiHtml(text));
}

/** @returns A box that scrolls where `text` is large, and can then be reached by keyboard. */
export function preHtml(kind: string, label: string, text: string, html: string): string {
  const scrolls = text.length > SMALL_TEXT_CHARS || text.split("\n").some((line) => line.length > SHORT_LINE_CHARS);
  const reachable = scrolls ? ` role="group" aria-label="${escapeHtml(label)}" tabindex="0"` : "";
  return `<pre class="${kind}"${reachable}>${html}</pre>`;
}

/** @returns An error folded to the line that matters, its traceback inside. */
export function errorHtml(error: { name: string; message: string; traceback: string }, label: string): string {
  const [line = ""] = error.message.split("\n", 1);
  const message = line === "" ? "" : `<span class="message">: ${textHtml(line.slice(0, 300))}</span>`;
  return (
    `<details class="error"><summary><span class="name">${textHtml(error.name)}</span>${message}</summary>` +
    `${textBox("traceback", label, withoutEndBreaks(error.traceback))}</details>`
  );
}
