import type { MimeBundle, Output, StreamOutput } from "../../core/execution.ts";
import type { Block } from "../../core/session.ts";
import { foldCarriageReturns } from "../../core/terminal.ts";
import { cutMark } from "../cut.ts";
import { LATE_MARK, OWN_MARK } from "../output-text.ts";
import { linesOf } from "../text.ts";
import { type Entry, noteOf } from "../transcript.ts";
import type { ExportedHistory } from "./history.ts";
import { toJson } from "./json.ts";

/** A Jupyter notebook of format 4.5, one code cell for each block. */
export function exportNotebook(history: ExportedHistory): string {
  const notebook = {
    cells: history.entries.map(cellOf),
    metadata: {
      kernelspec: { display_name: "Python 3", language: "python", name: "python3" },
      language_info: {
        codemirror_mode: { name: "ipython", version: 3 },
        file_extension: ".py",
        mimetype: "text/x-python",
        name: "python",
        pygments_lexer: "ipython3",
      },
      "edge-python-repl": { session_id: history.sessionId, created_at: history.createdAt, backend: history.backend },
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
  return toJson(notebook, 1);
}

function cellOf({ number, block }: Entry): Record<string, unknown> {
  return {
    cell_type: "code",
    execution_count: block.status === "running" ? null : number,
    id: `block-${block.sequence}`,
    metadata: { "edge-python-repl": factsOf(block) },
    outputs: [...streamsMarked(block.outputs).map((output) => outputOf(output, number)), ...endOf(block)],
    source: sourceLines(block.kind === "file" ? runMagic(block.path ?? block.code) : block.code),
  };
}

/** What a cell of a notebook has no field for. */
function factsOf({ status, durationMs, files }: Block): Record<string, unknown> {
  return { status, duration_ms: durationMs, ...(files === undefined ? {} : { files }) };
}

/** IPython's way to run a file in the notebook's own namespace. */
function runMagic(path: string): string {
  return `%run -i ${JSON.stringify(path)}`;
}

function outputOf(output: Output, number: number): Record<string, unknown> {
  if (output.type === "stream") {
    return { name: output.name, output_type: "stream", text: sourceLines(foldCarriageReturns(output.text)) };
  }
  const data = bundleOf(output.data);
  if (output.type === "display_data") return { data, metadata: {}, output_type: "display_data" };
  return { data, execution_count: number, metadata: {}, output_type: "execute_result" };
}

/** Says in the text itself what a notebook has no field for: what came late and what is missing. */
function streamsMarked(outputs: readonly Output[]): Output[] {
  return outputs.flatMap((output, index): Output[] => {
    if (output.type !== "stream") return [output];
    const before = outputs[index - 1];
    const wasLate = before?.type === "stream" && before.late === true;
    const marks: string[] = [];
    if (output.late === true && !wasLate) marks.push(LATE_MARK);
    if (output.late !== true && wasLate) marks.push(OWN_MARK);
    if (output.dropped) marks.push(cutMark(output.dropped));
    const text = marks.map((mark) => `${mark}\n`).join("") + output.text;
    const atLineStart = before?.type !== "stream" || before.text.endsWith("\n");
    return text === "" ? [] : [marked(output, marks.length === 0 || atLineStart ? text : `\n${text}`)];
  });
}

const marked = (output: StreamOutput, text: string): Output => ({ type: "stream", name: output.name, text });

function endOf({ error, ...block }: Block): Record<string, unknown>[] {
  const ends: Record<string, unknown>[] = [];
  if (error !== null) {
    const { name: ename, message: evalue, traceback } = error;
    ends.push({ ename, evalue, output_type: "error", traceback: linesOf(traceback) });
  }
  const note = noteOf({ error, ...block });
  if (note !== "") ends.push({ name: "stderr", output_type: "stream", text: [`${note}\n`] });
  return ends;
}

/** JSON types hold JSON in a notebook, all other types text. */
function bundleOf(data: MimeBundle): Record<string, unknown> {
  const entries = Object.entries(data).map(([type, content]): [string, unknown] => {
    if (/^application\/(?:.*\+)?json$/.test(type)) return [type, jsonOr(content)];
    return [type, type.startsWith("image/") && type !== "image/svg+xml" ? content : sourceLines(content)];
  });
  return Object.fromEntries(entries);
}

function jsonOr(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

/** Lines with their ends, as Jupyter stores text. */
function sourceLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}
