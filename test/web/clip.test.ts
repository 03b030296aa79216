import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Output } from "../../src/core/execution.ts";
import { clipBlock } from "../../src/web/clip.ts";
import { pictureResponse } from "../../src/web/documents.ts";
import { fingerprint } from "../../src/web/fingerprint.ts";
import { block, printed, shown, value, warned } from "../fixtures/render/blocks.ts";

const textOf = (outputs: readonly Output[]): string =>
  outputs.map((output) => (output.type === "stream" ? output.text : "")).join("");
const droppedIn = (outputs: readonly Output[]): number =>
  outputs.reduce((sum, output) => sum + (output.type === "stream" ? (output.dropped ?? 0) : 0), 0);

describe("a block that is clipped for a page", () => {
  it("is as it was when it is small", () => {
    const small = block("f()", [printed("a"), warned("b"), printed("c", { dropped: 5 }), value("d")]);
    assert.deepEqual(clipBlock(small), small);
  });

  it("keeps head and tail of what was printed, and counts what is missing once", () => {
    const before = [
      printed("h".repeat(40_000)),
      warned("w".repeat(40_000)),
      printed("m".repeat(100_000), { dropped: 7 }),
      value("v"),
      printed("t".repeat(60_000)),
    ];
    const { outputs } = clipBlock(block("f()", before));
    const text = textOf(outputs);
    assert.equal(text, "h".repeat(40_000) + "w".repeat(10_000) + "t".repeat(50_000));
    assert.equal(droppedIn(outputs), 240_000 - 100_000 + 7);
    assert.deepEqual(
      outputs.map((output) => (output.type === "stream" ? output.name : output.type)),
      ["stdout", "stderr", "execute_result", "stdout"],
    );
  });

  it("keeps every display at its place, so that pictures can be found by their number", () => {
    const big = "x".repeat(700_000);
    const outputs = [
      shown({ "text/html": big, "text/plain": "one" }),
      shown({ "image/png": "AAAA", "text/html": big, "text/plain": "two" }),
      shown({ "application/vnd.dataresource+json": big }),
    ];
    assert.deepEqual(
      clipBlock(block("f()", outputs)).outputs.map((output) =>
        output.type === "stream" ? [] : Object.keys(output.data),
      ),
      [["text/html", "text/plain"], ["image/png", "text/plain"], ["text/plain"]],
    );
  });

  it("is bounded in its code, its texts and its traceback", () => {
    const long = "l\n".repeat(500_000);
    const error = { name: "E", message: long, traceback: long };
    const clipped = clipBlock(block(long, [value(long)], { status: "error", error }));
    assert.ok(JSON.stringify(clipped).length < 500_000);
    assert.match(clipped.code, /characters omitted/);
    assert.match(clipped.error?.traceback ?? "", /characters omitted/);
  });
});

describe("a picture", () => {
  it("of 20 MB is sent as what it is, without delay", async () => {
    const content = Buffer.alloc(20 * 1024 * 1024, 7).toString("base64");
    const entry = { block: block("f()", [printed("p"), shown({ "image/png": content })]), index: 0, inMemory: true };
    const begun = performance.now();
    const response = pictureResponse(entry, 0);
    assert.ok(performance.now() - begun < 3000);
    assert.equal((await response.arrayBuffer()).byteLength, 20 * 1024 * 1024);
  });

  it("that is an SVG is sent where its script has no power", async () => {
    const svg = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    const response = pictureResponse(
      { block: block("f()", [shown({ "image/svg+xml": svg })]), index: 0, inMemory: true },
      0,
    );
    assert.equal(await response.text(), svg);
    assert.equal(response.headers.get("content-type"), "image/svg+xml; charset=utf-8");
    assert.match(response.headers.get("content-security-policy") ?? "", /^default-src 'none';.* sandbox;/);
  });
});

describe("fingerprint", () => {
  it("tells texts apart and is short", () => {
    const names = new Set(Array.from({ length: 5000 }, (_, n) => fingerprint(`block ${n}`)));
    assert.ok(names.size >= 4999);
    assert.match(fingerprint(""), /^[0-9a-z]{1,7}$/);
  });
});
