import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { FrameError } from "../../src/backends/subprocess/frames.ts";
import { parseMonitorFrame } from "../../src/backends/subprocess/protocol.ts";
import { absolutePath, type ChangedFiles, parseChangedFiles } from "../../src/core/changed-files.ts";
import { mimeTypeOfName } from "../../src/core/media.ts";
import { rerunReply, runReply } from "../../src/mcp/reply.ts";
import { fileUri, unescapePath } from "../../src/mcp/uris.ts";
import { blockOf } from "../../src/mcp-app/view/reply.ts";
import { exportHistory } from "../../src/render/export/index.ts";
import { renderBlockHtml } from "../../src/render/html/index.ts";
import { renderOutput, renderReply } from "../../src/render/index.ts";
import { checkBlock } from "../../src/store/schemas.ts";
import { block, nameError, numbered, printed } from "../fixtures/render/blocks.ts";

const files: ChangedFiles = {
  folder: "/home/me",
  changed: [
    { path: "plot.png", size: 12_345 },
    { path: "out/data.csv", size: 999 },
  ],
  more: 0,
};
const LINE = "Files: plot.png (12.3 kB), out/data.csv (999 B)";
const named = (path: string, size = 0): ChangedFiles => ({ folder: "/home/me", changed: [{ path, size }], more: 0 });
const lineOf = (changed: ChangedFiles): string => renderReply(block("", [], { files: changed }), 1).text;

describe("what a kernel says of its files", () => {
  it("is taken when it may be true", () => {
    assert.deepEqual(parseChangedFiles(files), files);
    assert.deepEqual(parseChangedFiles({ ...files, extra: 1 }), files);
    assert.deepEqual(parseChangedFiles(named("caf\udce9\n")), named("caf\udce9\n"));
  });

  it("is refused when it cannot be", () => {
    const file = { path: "a", size: 1 };
    const wrong: unknown[] = [
      undefined,
      null,
      "files",
      [],
      { ...files, folder: "work" },
      { ...files, folder: 1 },
      { ...files, folder: `/${"x".repeat(5000)}` },
      { ...files, more: -1 },
      { ...files, more: 1.5 },
      { ...files, more: undefined },
      { ...files, changed: [] },
      { ...files, changed: {} },
      { ...files, changed: [null] },
      { ...files, changed: Array.from({ length: 21 }, () => file) },
      { ...files, changed: [{ ...file, path: "" }] },
      { ...files, changed: [{ ...file, path: "a\0b" }] },
      { ...files, changed: [{ ...file, path: "x".repeat(5000) }] },
      { ...files, changed: [{ ...file, size: -1 }] },
      { ...files, changed: [{ ...file, size: 2 ** 60 }] },
      { ...files, changed: [{ ...file, size: "1" }] },
    ];
    for (const value of wrong) assert.equal(parseChangedFiles(value), undefined, JSON.stringify(value)?.slice(0, 100));
  });

  it("comes with the end of a cell, or of its kernel, and breaks the protocol when it is wrong", () => {
    const done = { type: "done", id: 1, status: "ok", cwd: "/" };
    const died = { type: "died", id: 1, detail: "killed", aborted: false };
    assert.deepEqual(parseMonitorFrame({ ...done, files }), { type: "done", id: 1, status: "ok", files });
    assert.deepEqual(parseMonitorFrame({ ...died, files }), { type: "died", detail: "killed", aborted: false, files });
    assert.deepEqual(parseMonitorFrame(done), { type: "done", id: 1, status: "ok" });
    for (const frame of [done, died]) assert.throws(() => parseMonitorFrame({ ...frame, files: [] }), FrameError);
  });

  it("names each file so that it can be read from anywhere", () => {
    assert.equal(absolutePath("/home/me", { path: "a/b", size: 0 }), "/home/me/a/b");
    assert.equal(absolutePath("/", { path: "a", size: 0 }), "/a");
    assert.equal(absolutePath("/home/me", { path: "/tmp/a", size: 0 }), "/tmp/a");
  });
});

describe("a stored block", () => {
  it("may have files, and old ones have none", () => {
    assert.ok("value" in checkBlock(block("f()")));
    assert.ok("value" in checkBlock(block("f()", [], { files })));
  });

  it("with files that are none is taken as damaged", () => {
    const file = { path: "a", size: 1 };
    const wrong = [
      { ...files, folder: 1 },
      { ...files, more: -1 },
      { ...files, changed: [{ ...file, path: "x".repeat(5000) }] },
      { ...files, changed: Array.from({ length: 1000 }, () => file) },
    ];
    for (const bad of wrong) assert.ok("reason" in checkBlock({ ...block("f()"), files: bad }));
  });
});

describe("the line of files", () => {
  it("stands last, after output, error and note", () => {
    const given = { files, error: nameError, note: "Variables are kept" };
    const { text } = renderReply(block("f()", [printed("a")], given), 1);
    assert.ok(text.endsWith(`\n(Variables are kept)\n${LINE}`), text);
    assert.equal(renderReply(block("f()", [printed("a\n")], { files }), 1).text, `[1] f()\na\n${LINE}`);
  });

  it("is no part of the output", () => {
    assert.equal(renderOutput(block("f()", [printed("a\n")], { files })), "a\n");
    const { text } = renderReply(block("f()", [printed("x\n".repeat(50_000))], { files }), 1, { maxChars: 1000 });
    assert.ok(text.endsWith(`\n${LINE}`));
  });

  it("counts those that are not named", () => {
    assert.equal(lineOf({ ...named("a", 1), more: 1234 }), "[1]\nFiles: a (1 B) and 1,234 more");
  });

  it("tells sizes in three or four digits", () => {
    const sizes = [0, 999, 1000, 999_949, 999_950, 12_345_678, 2 ** 53 - 1];
    assert.deepEqual(
      sizes.map((size) => lineOf(named("a", size)).slice("[1]\nFiles: a (".length, -1)),
      ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "12.3 MB", "9.0 PB"],
    );
  });

  it("is one line of characters that can be seen, whatever the names are", () => {
    const odd = "a\nb\r\x1b[31m\x7f\u0085\u2028\u202e\u2066é🐍\udce9";
    assert.equal(
      lineOf(named(odd)),
      "[1]\nFiles: a\\x0ab\\x0d\\x1b[31m\\x7f\\x85\\u2028\\u202e\\u2066é🐍\\udce9 (0 B)",
    );
    const long = lineOf(named(`${"d/".repeat(2000)}name.txt`));
    assert.ok(long.length < 250 && long.includes("…") && long.endsWith("/name.txt (0 B)"), long);
    assert.doesNotMatch(lineOf(named("🐍".repeat(1000))), /\p{Surrogate}|\\u/u);
  });
});

describe("links to files", () => {
  it("lead back to the path, whatever its name is", () => {
    const paths = [
      "/home/me/a b.csv",
      "/tmp/é/漢字 🐍?#%.txt",
      "/new\nline",
      "/caf\udce9",
      "/\udcff\udcfe/é\udcc3(",
      "rel/x",
    ];
    for (const path of paths) {
      const uri = fileUri("s", path);
      assert.match(uri, /^repl:\/\/sessions\/s\/files\/[\x21-\x7e]+$/);
      assert.equal(unescapePath(uri.slice("repl://sessions/s/files/".length)), path);
    }
    assert.equal(fileUri("s", "/caf\udce9"), "repl://sessions/s/files//caf%E9");
  });

  it("are refused when they are not escaped well, and never fail", () => {
    for (const escaped of ["%", "a%2", "%zz", "%E9%"]) assert.equal(unescapePath(escaped), undefined, escaped);
    assert.equal(unescapePath("%E9".repeat(4096)), "\udce9".repeat(4096));
    assert.equal(unescapePath("%E9".repeat(1_000_000)), undefined);
    assert.equal(unescapePath(fileUri("s", "\ud800")), "repl://sessions/s/files/\ufffd");
  });

  it("have a type by the name", () => {
    const types = ["a.png", "a.CSV", "b/c.tar.gz", "none", "x.unknown", ".png/x"].map(mimeTypeOfName);
    const unknown = "application/octet-stream";
    assert.deepEqual(types, ["image/png", "text/csv", "application/gzip", unknown, unknown, unknown]);
  });
});

describe("replies", () => {
  const settings = { structured: "full", echo: true, replyChars: 64 * 1024 } as const;
  const resultOf = (changed: ChangedFiles) => ({
    block: block("f()", [printed("a\n")], { files: changed }),
    index: 0,
    unsaved: false,
  });

  type Facts = { stdout?: string; files?: { path: string }[]; more_files?: number; blocks?: Facts[] };
  const factsOf = ({ structuredContent }: CallToolResult): Facts => structuredContent as Facts;

  it("of a run have the files as text, facts and links", () => {
    const reply = runReply("s", resultOf(files), settings);
    const { content } = reply;
    const facts = factsOf(reply);
    assert.deepEqual(
      content.map(({ type }) => type),
      ["text", "resource_link", "resource_link"],
    );
    assert.deepEqual(content[1], {
      type: "resource_link",
      uri: "repl://sessions/s/files//home/me/plot.png",
      name: "plot.png",
      mimeType: "image/png",
      size: 12_345,
    });
    assert.deepEqual(facts.files, [
      { path: "plot.png", size: 12_345, uri: "repl://sessions/s/files//home/me/plot.png" },
      { path: "out/data.csv", size: 999, uri: "repl://sessions/s/files//home/me/out/data.csv" },
    ]);
    assert.equal(facts.stdout, "a\n");
    assert.equal(facts.more_files, undefined);
  });

  it("hold no text that UTF-8 cannot", () => {
    const reply = runReply("s", resultOf(named("caf\udce9")), settings);
    // JSON writes a lone surrogate with one backslash, the text that stands for it with two.
    assert.doesNotMatch(JSON.stringify(reply), /(?<!\\)\\ud[89a-f]/);
    assert.deepEqual(factsOf(reply).files?.[0]?.path, "caf\\udce9");
  });

  it("of a rerun of many blocks name few files of each, and link to each file once", () => {
    const changed = Array.from({ length: 20 }, (_, n) => ({ path: `${"d".repeat(200)}/${n}`, size: n }));
    const entries = Array.from({ length: 3000 }, (_, index) => ({
      ...resultOf({ folder: "/home/me", changed, more: 5 }),
      index,
      same: true,
    }));
    const reply = rerunReply("s", { entries, notRun: 0, kernelAlive: true }, settings);
    const { content, structuredContent } = reply;
    assert.ok(JSON.stringify(content).length < 100_000);
    assert.ok(JSON.stringify(structuredContent).length < 4_000_000);
    assert.equal(content.filter(({ type }) => type === "resource_link").length, 10);
    const first = factsOf(reply).blocks?.[0];
    assert.deepEqual([first?.files?.length, first?.more_files], [1, 24]);
  });
});

describe("pages and exports", () => {
  const evil: ChangedFiles = named("<b>*x*`\u202e.py");
  const history = { sessionId: "s", createdAt: 0, backend: "b", entries: numbered(block("f()", [], { files: evil })) };

  it("show the names as text that has no power", () => {
    const html = renderBlockHtml({ number: 1, block: block("f()", [], { files: evil }) });
    assert.match(html, /<p class="files">Files: &lt;b&gt;\*x\*`\\u202e\.py \(0 B\)<\/p>/);
    assert.doesNotMatch(renderBlockHtml({ number: 1, block: block("f()") }), /files/);
    assert.match(exportHistory("html", history), /&lt;b&gt;/);
    assert.ok(exportHistory("md", history).includes("*Files: &lt;b\\>\\*x\\*\\`\\\\u202e.py \\(0 B\\)*"));
    assert.match(exportHistory("txt", history), /^Files: <b>\*x\*`\\u202e\.py \(0 B\)$/m);
  });

  it("have them as data where there is a place", () => {
    const [inJson] = JSON.parse(exportHistory("json", history)).blocks;
    assert.deepEqual(inJson.files, evil);
    const [cell] = JSON.parse(exportHistory("ipynb", history)).cells;
    assert.deepEqual(cell.metadata["edge-python-repl"].files, evil);
    assert.deepEqual(cell.outputs, []);
  });

  it("show them in the view of a chat", () => {
    const facts = { files: [{ path: "a", size: 1, uri: "repl://x" }], more_files: 2 };
    assert.match(renderBlockHtml({ number: 1, block: blockOf(facts, "", []) }), /Files: a \(1 B\) and 2 more/);
    for (const wrong of [{}, { files: [] }, { files: "x" }, { files: [{ path: 1 }] }]) {
      assert.equal(blockOf(wrong, "", []).files, undefined);
    }
  });
});
