import assert from "node:assert/strict";
import { test } from "node:test";
import type { Output } from "../../src/core/execution.ts";
import type { Block } from "../../src/core/session.ts";
import { rerunReply } from "../../src/mcp/reply.ts";

const settings = { structured: "full", echo: true, replyChars: 64 * 1024 } as const;

function entryOf(index: number, outputs: readonly Output[]) {
  const block: Block = {
    sequence: index,
    kind: "code",
    code: `step_${index}()`,
    status: "ok",
    outputs,
    error: null,
    state: "kept",
    epoch: 1,
    startedAt: 0,
    durationMs: 1,
    truncatedChars: 0,
  };
  return { block, index, same: true };
}

const printed = (chars: number): Output => ({
  type: "stream",
  name: "stdout",
  text: `${"x".repeat(99)}\n`.repeat(chars / 100),
});
const picture = (chars: number): Output => ({ type: "display_data", data: { "image/png": "A".repeat(chars) } });

test("a rerun of a long history has a bounded reply, with its summary", () => {
  const entries = Array.from({ length: 3000 }, (_, index) => entryOf(index, [printed(10_000)]));
  const { content, structuredContent } = rerunReply("s", { entries, notRun: 0, kernelAlive: true }, settings);
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  assert.ok(text.length < 70_000, `${text.length} characters`);
  assert.match(text, /^\[1\] step_0\(\)/);
  assert.match(text, /characters omitted/);
  assert.match(text, /Ran 3000 blocks in a fresh interpreter: 3000 succeeded, 0 with other output$/);
  assert.ok(JSON.stringify(structuredContent).length < 3_000_000);
});

test("pictures of a rerun come up to a limit, and those left out are counted", () => {
  const entries = Array.from({ length: 30 }, (_, index) => entryOf(index, [picture(1024 * 1024)]));
  const { content } = rerunReply("s", { entries, notRun: 0, kernelAlive: true }, settings);
  assert.equal(content.filter(({ type }) => type === "image").length, 19);
  assert.match(content[0]?.type === "text" ? content[0].text : "", /11 pictures are left out/);
});

test("a rerun of few blocks is shown whole", () => {
  const entries = [entryOf(0, [printed(500), picture(100)])];
  const { content } = rerunReply("s", { entries, notRun: 0, kernelAlive: true }, settings);
  assert.deepEqual(
    content.map(({ type }) => type),
    ["text", "image"],
  );
  assert.doesNotMatch(content[0]?.type === "text" ? content[0].text : "omitted", /omitted|left out/);
});
