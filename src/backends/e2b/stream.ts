import { INTERPRETER_PORT } from "./address.ts";
import { type Event, eventOf, type Item } from "./events.ts";
import { readChunks, readLines } from "./lines.ts";
import { type Refusal, refusalOf } from "./proxy-answer.ts";
import type { RemoteSandbox } from "./sandbox.ts";

/** How one request for a cell ended. */
export type StreamEnd =
  /** The runner said how the cell, or the warm-up, ended. */
  | { readonly kind: "done"; readonly item: Item }
  /** The request was not served; nothing of it ran. */
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Nobody knows what ran: no answer, a stream without its end, or silence. */
  | { readonly kind: "cut"; readonly cause: unknown }
  /** An error outside the runner. */
  | { readonly kind: "error"; readonly name: string; readonly value: string };

/** A line of more than this is not of a runner that keeps its bounds. */
const MAX_LINE_BYTES = 96 * 1024 * 1024;

export type StreamRequest = {
  readonly source: string;
  /** Names the cell whose batches are wanted. */
  readonly cell: string;
  readonly signal: AbortSignal;
  readonly onBatch: (seq: number, items: readonly Item[]) => void;
};

/** Sends one cell to the code interpreter and reads its stream to the end. Never rejects. */
export async function streamCell(sandbox: RemoteSandbox, request: StreamRequest): Promise<StreamEnd> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error("No answer came")), sandbox.settings.silenceMs);
  try {
    const response = await sandbox.fetch({
      port: INTERPRETER_PORT,
      method: "POST",
      path: "/execute",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code: request.source }),
      signal: AbortSignal.any([request.signal, silent.signal]),
    });
    clearTimeout(timer);
    if (!response.ok) return { kind: "refused", refusal: await refusalOf(response) };
    if (!response.body) return { kind: "cut", cause: new Error("The answer has no body") };
    return await readStream(response.body, sandbox.settings.silenceMs, request);
  } catch (cause) {
    return { kind: "cut", cause };
  } finally {
    clearTimeout(timer);
  }
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  request: StreamRequest,
): Promise<StreamEnd> {
  let last: Item | undefined;
  let failure: Extract<Event, { type: "error" }> | undefined;
  for await (const line of readLines(readChunks(body, silenceMs), MAX_LINE_BYTES)) {
    const event = eventOf(line);
    if (event.type === "error") failure ??= event;
    if (event.type === "end") {
      if (last) return { kind: "done", item: last };
      return failure
        ? { ...failure, kind: "error" }
        : { kind: "cut", cause: new Error("The cell ended without a word") };
    }
    if (event.type !== "batch" || event.cell !== request.cell) continue;
    request.onBatch(event.seq, event.items);
    last = event.items.findLast((item) => item.type === "done" || item.type === "ready") ?? last;
  }
  return { kind: "cut", cause: new Error("The stream ended without its last line") };
}
