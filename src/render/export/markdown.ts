import type { Output } from "../../core/execution.ts";
import type { Block } from "../../core/session.ts";
import { stripAnsi } from "../../core/terminal.ts";
import { cutText } from "../cut.ts";
import { filesLine } from "../files.ts";
import { outputParts } from "../output-text.ts";
import { dataUri, type Picture, pictureOf } from "../pictures.ts";
import { cellText, isNumeric, parseTable, TABLE_TYPE, type Table } from "../table.ts";
import { counted, wellFormed, withoutEndBreaks } from "../text.ts";
import { type Entry, noteOf } from "../transcript.ts";
import { type ExportedHistory, timeOf } from "./history.ts";

/** Larger tables stay text. */
const MAX_TABLE_ROWS = 100;
const MAX_TABLE_COLUMNS = 30;

/** Code and output in fences that nothing inside can close, pictures as data URIs, data frames as tables. */
export function exportMarkdown(history: ExportedHistory): string {
  const { sessionId, createdAt, backend, entries } = history;
  const facts = [counted(entries.length, "block"), backend, `created ${timeOf(createdAt)}`];
  const parts = [`# Session ${escaped(sessionId)}`, escaped(facts.join(" · ")), ...entries.flatMap(blockParts)];
  return `${parts.join("\n\n")}\n`;
}

function blockParts({ number, block }: Entry): string[] {
  const ends = [noteOf(block), filesLine(block)].filter((line) => line !== "");
  return [
    `## \\[${number}\\]`,
    ...(block.code.trim() === "" ? [] : [fenced(block.code, "python")]),
    ...outputsOf(block),
    ...ends.map((line) => `*${escaped(line)}*`),
  ];
}

/** Runs of text in one fence each, between the pictures and tables. */
function outputsOf(block: Block): string[] {
  const parts: string[] = [];
  let texts: Output[] = [];
  const flush = (error: Block["error"]): void => {
    const { text } = cutText(outputParts({ ...block, outputs: texts, error }), {});
    if (text.trim() !== "") parts.push(fenced(stripAnsi(text), "text"));
    texts = [];
  };
  for (const output of block.outputs) {
    const rich = output.type === "stream" ? undefined : richOf(output.data);
    if (rich === undefined) {
      texts.push(output);
      continue;
    }
    flush(null);
    parts.push(rich);
  }
  flush(block.error);
  return parts;
}

function richOf(data: Readonly<Record<string, string>>): string | undefined {
  const picture = pictureOf(data);
  if (picture !== undefined) return image(picture);
  const table = parseTable(data[TABLE_TYPE] ?? "");
  const fits = table !== undefined && table.total <= MAX_TABLE_ROWS && table.columns.length <= MAX_TABLE_COLUMNS;
  return fits && table.columns.length > 0 ? tableText(table) : undefined;
}

function image(picture: Picture): string {
  return `![${escaped(picture.alt)}](${dataUri(picture)})`;
}

function tableText({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ name }) => escaped(name))),
    line(columns.map((column) => (isNumeric(column) ? "---:" : "---"))),
    ...rows.map((row) => line(columns.map((_, index) => escaped(cellText(row[index]))))),
  ].join("\n");
}

/** A fence longer than every run of backticks inside. */
function fenced(text: string, language: string): string {
  const clean = wellFormed(text).replaceAll("\0", "␀").replace(/\r\n?/g, "\n");
  let longest = 2;
  for (const [run] of clean.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${withoutEndBreaks(clean)}\n${fence}`;
}

/** One line of text that means nothing to Markdown or HTML. */
function escaped(text: string): string {
  return wellFormed(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]()#+!|<>&~$]/g, (char) => (char === "<" ? "&lt;" : char === "&" ? "&amp;" : `\\${char}`));
}
