import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { compareDistributions, readDistributions } from "../../src/backends/subprocess/distributions.ts";
import { FrameError } from "../../src/backends/subprocess/frames.ts";
import { LineSplitter } from "../../src/backends/subprocess/lines.ts";
import { parseMonitorFrame } from "../../src/backends/subprocess/protocol.ts";

function split(chunks: readonly (string | number[])[], maxLength = 100): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), maxLength);
  for (const chunk of chunks) splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : new Uint8Array(chunk));
  splitter.end();
  return lines;
}

describe("lines of a program's output", () => {
  test("end with any line end, also between chunks, and blank ones are left out", () => {
    assert.deepEqual(split(["a\nb\r", "\nc\r\r\n\n d", "e"]), ["a", "b", "c", " de"]);
  });
  test("characters may be cut by chunks, and bytes that are no UTF-8 are replaced", () => {
    assert.deepEqual(split([[0xc3], [0xa9, 0x0a, 0xff, 0x0a, 0xc3]]), ["é", "\ufffd", "\ufffd"]);
  });
  test("a long line is cut, in whatever pieces it comes", () => {
    assert.deepEqual(split(["x".repeat(30), "x".repeat(3000), "\ny"], 40), ["x".repeat(40), "y"]);
  });
});

describe("installed distributions", () => {
  test("are told by the names of their metadata folders; an earlier folder hides a later one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dists-"));
    try {
      const names = ["Foo_Bar-1.0.dist-info", "old-2.0-py3.9.egg-info", "plain.egg-info", "foo_bar", "x-1.dist-infos"];
      for (const name of names) await mkdir(join(folder, "a", name), { recursive: true });
      await mkdir(join(folder, "b", "foo.bar-0.9.dist-info"), { recursive: true });
      const found = await readDistributions([join(folder, "a"), join(folder, "b"), join(folder, "none")]);
      assert.deepEqual([...found].sort(), [
        ["foo-bar", "1.0"],
        ["old", "2.0"],
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
  test("are compared: what is new or changed, and what could be imported in another version", () => {
    const visible = new Map([
      ["same", "1"],
      ["changed", "1"],
      ["hidden", "1"],
      ["copied", "1"],
    ]);
    const before = new Map([
      ["same", "1"],
      ["changed", "1"],
      ["removed", "1"],
    ]);
    const after = new Map([
      ["same", "1"],
      ["new", "3"],
      ["hidden", "2"],
      ["copied", "1"],
      ["changed", "2"],
    ]);
    assert.deepEqual(compareDistributions(visible, before, after), {
      installed: ["changed 2", "copied 1", "hidden 2", "new 3"],
      replaced: ["changed", "hidden"],
    });
  });
});

describe("frames of the monitor", () => {
  const broken: unknown[] = [
    null,
    7,
    "text",
    [],
    {},
    { type: "other" },
    { type: "ready", pid: "1", cwd: "/" },
    { type: "stream", id: 1, name: "stdin", text: "" },
    { type: "stream", id: 1, name: "stdout" },
    { type: "display_data", id: 1, data: { "text/plain": 7 } },
    { type: "done", id: 1, status: "fine" },
    { type: "done", id: 1, status: "error" },
    { type: "done", id: 1, status: "error", error: { name: "E" } },
    { type: "done", id: 1, status: "refused", code: "NO_SUCH_CODE", message: "" },
    { type: "reply", id: 1, error: { code: "INTERNAL" } },
    { type: "died" },
  ];
  for (const value of broken) {
    test(`${JSON.stringify(value)} is refused`, () => assert.throws(() => parseMonitorFrame(value), FrameError));
  }
  test("a stream frame keeps what an output has and no more", () => {
    const frame = { type: "stream", id: 1, name: "stdout", text: "x", dropped: 0, late: false, other: 1 };
    assert.deepEqual(parseMonitorFrame(frame), { type: "stream", id: 1, name: "stdout", text: "x" });
  });
});
