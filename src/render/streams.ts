import type { StreamName } from "../core/execution.ts";
import type { Block } from "../core/session.ts";
import { foldCarriageReturns } from "../core/terminal.ts";
import { cutText, type Part } from "./cut.ts";
import { displayText, resultOf } from "./output-text.ts";
import { wellFormed } from "./text.ts";

export type SplitStreams = {
  readonly stdout: string;
  readonly stderr: string;
  /** The value of the last expression as text, null when it had none. */
  readonly result: string | null;
};

/** @returns What a block printed to each stream, and its value; each of them keeps head and tail within `maxChars`. */
export function splitStreams(block: Block, maxChars?: number): SplitStreams {
  const result = resultOf(block);
  const cut = (parts: readonly Part[]): string => cutText(parts, { maxChars }).text;
  return {
    stdout: cut(partsOf(block, "stdout")),
    stderr: cut(partsOf(block, "stderr")),
    result: result === undefined ? null : cut([{ text: displayText(result.data), dropped: 0 }]),
  };
}

function partsOf(block: Block, name: StreamName): Part[] {
  const parts: { text: string; dropped: number }[] = [];
  for (const output of block.outputs) {
    if (output.type !== "stream" || output.name !== name) continue;
    const last = parts.at(-1);
    if (last !== undefined && !output.dropped) last.text += output.text;
    else parts.push({ text: output.text, dropped: output.dropped ?? 0 });
  }
  return parts.map(({ text, dropped }) => ({ text: wellFormed(foldCarriageReturns(text)), dropped }));
}
