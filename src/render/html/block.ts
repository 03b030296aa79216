import type { Block } from "../../core/session.ts";
import { filesLine } from "../files.ts";
import { withoutEndBreaks } from "../text.ts";
import { type Entry, noteOf } from "../transcript.ts";
import { escapeHtml, textHtml } from "./escape.ts";
import { highlightPython } from "./highlight.ts";
import { errorHtml, type OutputOptions, outputsHtml, preHtml } from "./output.ts";

export type BlockHtmlOptions = Pick<OutputOptions, "pictureUrl"> & {
  /** false marks a block whose variables are not part of the present state. */
  readonly inMemory?: boolean | undefined;
  /** Trusted HTML for the block's head, such as buttons. */
  readonly actions?: string | undefined;
};

const STATUS_WORDS: Partial<Record<Block["status"], string>> = {
  running: "running",
  timeout: "timed out",
  cancelled: "cancelled",
  died: "interpreter died",
  interrupted: "interrupted",
};

/**
 * One block as an `article`: its number, state and time, highlighted code, and output.
 * Needs `STYLES`; works without scripts. `data-sequence` and `data-status` are for scripts of a live page.
 */
export function renderBlockHtml({ number, block }: Entry, options: BlockHtmlOptions = {}): string {
  const label = `block ${number}`;
  const { status, sequence, error } = block;
  const outputs = outputsHtml(block.outputs, { label, pictureUrl: options.pictureUrl });
  const failure = error === null ? "" : errorHtml(error, label);
  const note = status === "running" ? "" : noteOf(block);
  const noteHtml = note === "" ? "" : `<p class="note">${textHtml(note.slice(1, -1))}</p>`;
  const files = filesLine(block);
  const filesHtml = files === "" ? "" : `<p class="files">${textHtml(files)}</p>`;
  const output = outputs + failure + noteHtml + filesHtml;
  return (
    `<article class="block${options.inMemory === false ? " gone" : ""}" id="b${number}" aria-label="Block ${number}" ` +
    `data-status="${status}" data-sequence="${sequence}">${headHtml(number, block, options)}` +
    `<div class="body">${codeHtml(block, label)}${output === "" ? "" : `<div class="output">${output}</div>`}</div></article>`
  );
}

function headHtml(number: number, block: Block, { inMemory, actions = "" }: BlockHtmlOptions): string {
  const word = STATUS_WORDS[block.status];
  const chips = [
    ...(word === undefined ? [] : [`<span class="chip ${block.status}">${word}</span>`]),
    ...(inMemory === false
      ? ['<span class="chip" title="rerun_code restores its variables">not in memory</span>']
      : []),
  ];
  const time =
    block.status === "running" ? "" : `<span class="time">${escapeHtml(durationOf(block.durationMs))}</span>`;
  return `<header><a class="number" href="#b${number}">[${number}]</a>${chips.join("")}${time}${actions}</header>`;
}

function codeHtml(block: Block, label: string): string {
  const code = withoutEndBreaks(block.code);
  if (code === "") return "";
  return preHtml("code", `code of ${label}`, code, `<code>${highlightPython(code)}</code>`);
}

/** @returns `< 1 ms`, `12 ms`, `3.4 s`, `2 min 5 s`. */
export function durationOf(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
