import assert from "node:assert/strict";
import type { ChangedFiles } from "../../src/core/changed-files.ts";
import type { ExecutionReply, MimeBundle, Output, PythonError, StreamName } from "../../src/core/execution.ts";
import {
  type BundleMatch,
  type CellResult,
  type ErrorMatch,
  type OutputMatch,
  outputsOf,
  type TextMatch,
} from "./backend-steps.ts";

/** Printed text that stands together, or one display. */
type Piece =
  | { kind: "stream"; name: StreamName; text: string; dropped: number; late: boolean }
  | { kind: "display" | "result"; data: MimeBundle };

/** Printed characters that a backend may keep of one cell. */
const MOST_KEPT = 2 * 1024 * 1024;

export function compareOutputs(outputs: readonly Output[], result: CellResult): void {
  const wanted = outputsOf(result);
  const quiet = outputs.filter((output) => output.type !== "stream" || output.name !== result.noise);
  const noise = join(outputs.filter((output) => !quiet.includes(output)));
  for (const piece of noise) if (piece.kind === "stream") compareBound(piece, "");
  const pieces = join(quiet);
  for (const [index, match] of wanted.entries()) {
    const piece = pieces[index];
    assert.ok(piece, `Output ${index + 1} is missing: ${JSON.stringify(match)}`);
    compareOutput(piece, match);
  }
  assert.deepEqual(pieces.slice(wanted.length), [], "There is more output than wanted");
}

export function compareReply({ files, ...reply }: ExecutionReply, result: CellResult): void {
  compareFiles(files, result);
  if (result.error) {
    assert.equal(reply.status, "error", `The status is ${JSON.stringify(reply)}`);
    if (reply.status === "error") compareError(reply.error, result.error);
  } else if (result.aborted) {
    assert.equal(reply.status, "aborted", `The status is ${JSON.stringify(reply)}`);
    if (reply.status === "aborted") assert.equal(reply.kernelAlive, result.aborted === "kept", "kernelAlive is wrong");
  } else if (result.died !== undefined) {
    assert.equal(reply.status, "died", `The status is ${JSON.stringify(reply)}`);
    if (reply.status === "died") {
      compareText(reply.detail, result.died, "detail");
      assert.equal(reply.started, result.started, "started is wrong");
    }
  } else {
    assert.deepEqual(reply, { status: "ok" });
  }
}

function compareFiles(files: ChangedFiles | undefined, { files: wanted, moreFiles = 0 }: CellResult): void {
  if (!wanted) return;
  const told = (files?.changed ?? []).map(({ path, size }) => [path, size]);
  assert.deepEqual(told, Object.entries(wanted), `The files are ${JSON.stringify(files)}`);
  assert.equal(files?.more ?? 0, moreFiles, "The count of files that are not named is wrong");
  if (files) assert.match(files.folder, /^\//, "The folder of the files is not absolute");
}

function compareError(error: PythonError, wanted: ErrorMatch): void {
  assert.equal(error.name, wanted.name);
  compareText(error.message, wanted.message, "message");
  assert.doesNotMatch(error.traceback, /\u001b|\n$/, "The traceback has colours or a final newline");
  const exact = typeof wanted.traceback === "string";
  compareText(exact ? withoutCarets(error.traceback) : error.traceback, wanted.traceback, "traceback");
}

export function withoutCarets(traceback: string): string {
  return traceback
    .split("\n")
    .filter((line) => !/^[ |]+[~^]+[ ~^]*$/.test(line))
    .join("\n");
}

function compareOutput(piece: Piece, match: OutputMatch): void {
  if ("display" in match) compareDisplay(piece, "display", match.display);
  else if ("result" in match) compareDisplay(piece, "result", match.result);
  else compareStream(piece, match);
}

type StreamMatch = Exclude<OutputMatch, { display: BundleMatch } | { result: BundleMatch }>;

function compareStream(piece: Piece, match: StreamMatch): void {
  const name = streamOf(match);
  assert.ok(piece.kind === "stream", `Wanted ${name}, got ${JSON.stringify(piece).slice(0, 300)}`);
  assert.equal(piece.name, name, `${JSON.stringify(piece.text.slice(0, 300))} came on the other stream`);
  if ("cut" in match) compareCut(piece, match);
  else if ("flood" in match) compareFlood(piece, match);
  else {
    compareText(piece.text, "stdout" in match ? match.stdout : match.stderr, name);
    assert.equal(piece.dropped, 0, "Text was left out");
    assert.equal(piece.late, match.late ?? false, "late is wrong");
  }
}

function compareDisplay(piece: Piece, kind: "display" | "result", bundle: BundleMatch): void {
  assert.ok(piece.kind === kind, `Wanted a ${kind}, got ${JSON.stringify(piece).slice(0, 300)}`);
  for (const [type, content] of Object.entries(bundle)) {
    if (content === null) assert.equal(piece.data[type], undefined, `There is a ${type}`);
    else compareText(piece.data[type] ?? `no ${type}`, content, type);
  }
}

function streamOf(match: StreamMatch): StreamName {
  if ("cut" in match) return match.cut;
  if ("flood" in match) return match.flood;
  return "stdout" in match ? "stdout" : "stderr";
}

type StreamPiece = Extract<Piece, { kind: "stream" }>;

function compareCut(piece: StreamPiece, match: Extract<OutputMatch, { cut: StreamName }>): void {
  compareBound(piece, match.begins);
  assert.equal(piece.text.slice(-match.ends.length), match.ends);
  assert.ok(piece.dropped > 0, "Nothing was left out");
  assert.equal(piece.text.length + piece.dropped, match.length, "Kept and dropped characters do not add up");
}

function compareFlood(piece: StreamPiece, match: Extract<OutputMatch, { flood: StreamName }>): void {
  compareBound(piece, match.begins);
  assert.match(piece.text.slice(-1000), match.ends);
}

function compareBound(piece: StreamPiece, begins: string): void {
  assert.ok(piece.text.length <= MOST_KEPT, `${piece.text.length} characters were kept`);
  assert.equal(piece.text.slice(0, begins.length), begins);
}

function compareText(text: string, wanted: TextMatch, what: string): void {
  if (typeof wanted === "string") assert.equal(text, wanted, `${what} is ${JSON.stringify(text.slice(0, 3000))}`);
  else assert.match(text, wanted.like, `${what} is ${JSON.stringify(text.slice(0, 3000))}`);
}

function join(outputs: readonly Output[]): Piece[] {
  const pieces: Piece[] = [];
  for (const output of outputs) {
    if (output.type !== "stream") {
      pieces.push({ kind: output.type === "display_data" ? "display" : "result", data: output.data });
      continue;
    }
    const last = pieces.at(-1);
    const late = output.late ?? false;
    const dropped = output.dropped ?? 0;
    if (last?.kind === "stream" && last.name === output.name && last.late === late) {
      last.text += output.text;
      last.dropped += dropped;
    } else {
      pieces.push({ kind: "stream", name: output.name, text: output.text, dropped, late });
    }
  }
  return pieces;
}
