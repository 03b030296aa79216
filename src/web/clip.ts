import type { DisplayOutput, MimeBundle, Output, StreamOutput } from "../core/execution.ts";
import type { Block } from "../core/session.ts";
import { cutText } from "../render/index.ts";
import { TABLE_TYPE } from "../render/table.ts";

/** What one block may bring onto a page; its whole output has an address of its own. */
const MAX_CODE_CHARS = 100_000;
const MAX_STREAM_CHARS = 100_000;
const MAX_TEXT_CHARS = 100_000;
const MAX_RICH_CHARS = 1024 * 1024;

const PICTURE = /^image\//;
const RICH = new Set<string>(["text/html", TABLE_TYPE]);

/** @returns The block with as much of its code and output as a page can show. Pictures stay: a page only links them. */
export function clipBlock(block: Block): Block {
  const { code, error } = block;
  return {
    ...block,
    code: cut(code, MAX_CODE_CHARS),
    outputs: clipDisplays(clipStreams(block.outputs)),
    error: error && {
      ...error,
      message: error.message.slice(0, 1000),
      traceback: cut(error.traceback, MAX_TEXT_CHARS),
    },
  };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : cutText([{ text, dropped: 0 }], { maxChars }).text;
}

/** Head and tail of all that was printed. */
function clipStreams(outputs: readonly Output[]): readonly Output[] {
  const printed = outputs.reduce((sum, output) => sum + (output.type === "stream" ? output.text.length : 0), 0);
  if (printed <= MAX_STREAM_CHARS) return outputs;
  const headEnd = MAX_STREAM_CHARS / 2;
  const tailStart = printed - MAX_STREAM_CHARS / 2;
  let position = 0;
  let dropped = 0;
  return outputs.flatMap((output): Output[] => {
    if (output.type !== "stream") return [output];
    const { text } = output;
    const start = position;
    position += text.length;
    const head = text.slice(0, Math.max(0, headEnd - start));
    const tail = text.slice(Math.max(head.length, tailStart - start));
    const kept: StreamOutput[] = head === "" ? [] : [{ ...output, text: head }];
    dropped += text.length - head.length - tail.length + (head === "" ? (output.dropped ?? 0) : 0);
    if (tail === "") return kept;
    const { dropped: _before, ...rest } = output;
    kept.push(dropped > 0 ? { ...rest, text: tail, dropped } : { ...rest, text: tail });
    dropped = 0;
    return kept;
  });
}

/** Tables and HTML as long as there is room for them, then the text that stands for them. */
function clipDisplays(outputs: readonly Output[]): Output[] {
  let room = MAX_RICH_CHARS;
  return outputs.map((output) => {
    if (output.type === "stream") return output;
    const rich = Object.entries(output.data).filter(([type]) => RICH.has(type));
    const size = Math.max(0, ...rich.map(([, content]) => content.length));
    const fits = size <= room;
    if (fits) room -= size;
    return { ...output, data: clipBundle(output.data, fits) } satisfies DisplayOutput;
  });
}

function clipBundle(data: MimeBundle, rich: boolean): MimeBundle {
  const entries = Object.entries(data).filter(([type]) => rich || !RICH.has(type));
  if (entries.length === 0) return { "text/plain": "Too large for the page" };
  return Object.fromEntries(
    entries.map(([type, text]) => [type, RICH.has(type) || PICTURE.test(type) ? text : cut(text, MAX_TEXT_CHARS)]),
  );
}
