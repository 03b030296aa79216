import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block } from "../../src/core/session.ts";
import {
  parseTable,
  type ReplyOptions,
  renderOutput,
  renderReply,
  renderTranscript,
  splitStreams,
  tableOf,
} from "../../src/render/index.ts";
import { block, nameError, numbered, PNG, printed, shown, TABLE, value, warned } from "../fixtures/render/blocks.ts";

const text = (one: Block, number = 1, options: ReplyOptions = {}): string => renderReply(one, number, options).text;
const lines = (...all: string[]): string => all.join("\n");

describe("a block", () => {
  it("is its code under its number, then its value", () => {
    const one = block("import math\nresult = math.sqrt(144)\nresult", [value("12.0")]);
    assert.equal(text(one), lines("[1] import math", "    result = math.sqrt(144)", "    result", "12.0"));
  });

  it("indents later lines by the width of the number", () => {
    assert.equal(text(block("if x:\n\n    y"), 10), lines("[10] if x:", "", "         y"));
  });

  it("of a file is headed by its call", () => {
    const one = block("exec('utils.py')", [printed("Loaded 5 utility functions.\n")], {
      kind: "file",
      path: "utils.py",
    });
    assert.equal(text(one, 3), lines("[3] exec('utils.py')", "Loaded 5 utility functions."));
  });

  it("without code is its number", () => {
    assert.equal(text(block("")), "[1]");
    assert.equal(text(block("\n  \n"), 2), "[2]");
  });

  it("takes the line ends of any system and leaves out those at the end", () => {
    assert.equal(text(block("a\r\nb\rc\n\n")), lines("[1] a", "    b", "    c"));
  });

  it("with echo off is its output, or its number when it has none", () => {
    assert.equal(text(block("1 + 1", [value("2")]), 1, { echo: false }), "2");
    assert.equal(text(block("x = 1"), 4, { echo: false }), "[4]");
    assert.equal(text(block("f()", [], { note: "Variables are lost" }), 4, { echo: false }), "(Variables are lost)");
  });
});

describe("output", () => {
  it("shows what was printed in the order written, then the value", () => {
    const one = block("f()", [printed("a\n"), warned("b\n"), printed("c\n"), value("1")]);
    assert.equal(text(one), lines("[1] f()", "a", "b", "c", "1"));
  });

  it("gives printed text the line break that it lacks, and never a blank line more", () => {
    assert.equal(text(block("f()", [printed("a"), value("1")])), lines("[1] f()", "a", "1"));
    assert.equal(text(block("f()", [printed("a\n"), value("1")])), lines("[1] f()", "a", "1"));
    assert.equal(text(block("f()", [printed("a\n\n"), value("1")])), lines("[1] f()", "a", "", "1"));
    assert.equal(text(block("f()", [printed("a\n\n")])), lines("[1] f()", "a", ""));
  });

  it("does not break a line between the streams", () => {
    assert.equal(text(block("f()", [printed("a"), warned("b"), printed("c\n")])), lines("[1] f()", "abc"));
  });

  it("shows the traceback after what was printed", () => {
    const one = block("result", [printed("a")], { status: "error", error: nameError });
    assert.equal(text(one, 4), lines("[4] result", "a", nameError.traceback));
  });

  it("shows displays by their text, at their places", () => {
    const one = block("f()", [printed("a"), shown({ "text/plain": "<Figure>", "image/png": PNG }), printed("b\n")]);
    assert.equal(text(one), lines("[1] f()", "a", "<Figure>", "b"));
  });

  it("names the type of a display that has no text", () => {
    assert.equal(text(block("f()", [shown({ "text/markdown": "# hi", "image/png": PNG })])), lines("[1] f()", "# hi"));
    assert.equal(text(block("f()", [shown({ "image/png": "AAAA" })])), lines("[1] f()", "(image/png, 4 characters)"));
    assert.equal(text(block("f()", [shown({})])), "[1] f()");
  });

  it("folds progress bars as a terminal would, across both streams", () => {
    const one = block("f()", [warned("\r 0%"), warned("\r50%"), printed("\r99%"), warned("\rdone\n")]);
    assert.equal(text(one), lines("[1] f()", "done"));
  });

  it("marks text that came late, and where this block's own output starts", () => {
    const late = printed("from a thread\n", { late: true });
    const mark = "(late output of earlier blocks)";
    assert.equal(text(block("1", [late])), lines("[1] 1", mark, "from a thread"));
    assert.equal(
      text(block("1", [late, value("2")])),
      lines("[1] 1", mark, "from a thread", "(output of this block)", "2"),
    );
    assert.equal(
      text(block("1", [late], { error: nameError, status: "error" })),
      lines("[1] 1", mark, "from a thread", "(output of this block)", nameError.traceback),
    );
  });

  it("tells the note of the block last", () => {
    const note = "Stopped at its timeout of 3 s; variables are kept";
    assert.equal(text(block("f()", [printed("a")], { status: "timeout", note })), lines("[1] f()", "a", `(${note})`));
    assert.equal(text(block("f()", [], { status: "running" })), lines("[1] f()", "(Still running)"));
  });

  it("is text that UTF-8 can hold; nothing else of it changes", () => {
    const odd = "\0\x0c\u2028\x1b[31mred\x1b[0m😀\n";
    assert.equal(text(block("f()", [printed(odd)])), `[1] f()\n${odd.trimEnd()}`);
    assert.equal(text(block("'\ud800'", [printed("\udead😀\n")])), lines("[1] '\\ud800'", "\\udead😀"));
  });
});

describe("a cut", () => {
  it("keeps head and tail, and says in its place how much is missing and where the whole is", () => {
    const reply = renderReply(block("f()", [printed(`${"a".repeat(500)}${"b".repeat(500)}`), value("1")]), 3, {
      maxChars: 100,
      link: (index) => `repl://sessions/s/blocks/${index}/output`,
    });
    const mark = "… 903 characters omitted; the whole output: repl://sessions/s/blocks/2/output …";
    assert.equal(reply.text, lines("[3] f()", "a".repeat(50), mark, "b".repeat(47), "1"));
    assert.equal(reply.truncatedChars, 903);
  });

  it("stands between lines where a line ends nearby", () => {
    const numbers = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join("");
    const cut = text(block("f()", [printed(numbers)]), 1, { maxChars: 1000 });
    assert.match(cut, /\nline 6\d\n… [\d,]+ characters omitted …\nline 9\d\d\n/);
    assert.ok(cut.length <= 1100);
  });

  it("of the stored output stands where the text is missing", () => {
    const one = block("f()", [printed("a\nb"), printed("y\nz\n", { dropped: 12345 })], { truncatedChars: 12345 });
    assert.equal(text(one), lines("[1] f()", "a", "b", "… 12,345 characters omitted …", "y", "z"));
    assert.equal(renderReply(one, 1).truncatedChars, 0);
  });

  it("counts what was missing before inside it, and does not promise the whole", () => {
    const one = block("f()", [printed("a".repeat(100)), printed("z".repeat(100), { dropped: 1000 })]);
    const reply = renderReply(one, 1, { maxChars: 20, link: () => "LINK" });
    const mark = "… 1,180 characters omitted; what is kept of it: LINK …";
    assert.equal(reply.text, lines("[1] f()", "a".repeat(10), mark, "z".repeat(10)));
    assert.equal(reply.truncatedChars, 180);
  });

  it("never splits a surrogate pair", () => {
    for (let maxChars = 0; maxChars < 30; maxChars++) {
      assert.doesNotMatch(text(block("f()", [printed("😀".repeat(50))]), 1, { maxChars }), /\p{Surrogate}|\\ud/u);
    }
  });

  it("shortens long code too", () => {
    const reply = text(block("x = 1\n".repeat(1000), [value("1")]), 1, { maxChars: 100 });
    assert.match(reply, /^\[1\] x = 1\n {4}x = 1\n[\s\S]*\n {4}… 5,\d{3} characters of code omitted …\n[\s\S]*\n1$/);
    assert.ok(reply.length < 300);
  });
});

describe("a transcript", () => {
  it("separates blocks by a blank line", () => {
    const entries = numbered(block("a = 1"), block("print(a)", [printed("1\n")]), block("a", [value("1")]));
    assert.equal(renderTranscript(entries), "[1] a = 1\n\n[2] print(a)\n1\n\n[3] a\n1");
    assert.equal(renderTranscript([]), "");
  });

  it("shares a limit fairly: short outputs stay whole", () => {
    const long = block("f()", [printed("x".repeat(100_000))]);
    const entries = numbered(long, block("1", [value("a short value")]), long);
    const transcript = renderTranscript(entries, { totalChars: 4000, link: (index) => `LINK ${index}` });
    assert.match(transcript, /a short value/);
    assert.match(transcript, /LINK 0[\s\S]*LINK 2/);
    assert.ok(transcript.length > 3500 && transcript.length < 4500);
  });
});

describe("renderOutput", () => {
  it("is the whole output without code, notes or cuts", () => {
    const one = block("f()", [printed("x".repeat(200_000)), value("1")], { note: "Kept" });
    assert.equal(renderOutput(one), `${"x".repeat(200_000)}\n1\n`);
    assert.equal(renderOutput(block("x = 1")), "");
  });
});

describe("splitStreams", () => {
  it("gives each stream and the value as text", () => {
    const one = block("f()", [
      printed("a"),
      warned("w\r\rW\n"),
      printed("b\n"),
      value("1", { "text/html": "<b>1</b>" }),
    ]);
    assert.deepEqual(splitStreams(one), { stdout: "ab\n", stderr: "W\n", result: "1" });
    assert.deepEqual(splitStreams(block("x = 1")), { stdout: "", stderr: "", result: null });
  });

  it("keeps each within the limit and says what is missing", () => {
    const one = block("f()", [printed("x".repeat(1000)), printed("y", { dropped: 5 }), value("v".repeat(1000))]);
    const { stdout, result } = splitStreams(one, 100);
    assert.match(stdout, /^x{50}\n… 901 characters omitted …\nx{49}\n… 5 characters omitted …\ny$/);
    assert.match(result ?? "", /^v{50}\n… 900 characters omitted …\nv{50}$/);
  });
});

describe("tableOf", () => {
  it("is the last table as a data resource, or nothing", () => {
    const one = block("df", [value("df", { "application/vnd.dataresource+json": TABLE })]);
    assert.deepEqual(tableOf(one), {
      schema: { fields: (JSON.parse(TABLE) as { schema: { fields: unknown } }).schema.fields },
      data: (JSON.parse(TABLE) as { data: unknown }).data,
      rows: 2,
    });
    assert.equal(tableOf(block("1", [value("1")])), undefined);
  });

  it("leaves out rows beyond the limit, and tells how many there are", () => {
    const rows = Array.from({ length: 1000 }, (_, index) => [index]);
    const json = JSON.stringify({ schema: { fields: ["n"] }, data: rows });
    const table = tableOf(block("df", [value("df", { "application/vnd.dataresource+json": json })]), 100);
    assert.deepEqual([table?.data.length, table?.rows], [12, 1000]);
  });

  it("refuses what is not a table", () => {
    for (const json of [
      "",
      "1",
      "{}",
      '{"schema":{},"data":[]}',
      '{"schema":{"fields":[]}}',
      "[",
      '{"schema":1,"data":1}',
    ]) {
      assert.equal(parseTable(json), undefined, json);
    }
    assert.deepEqual(parseTable('{"schema":{"fields":[null,{"name":1}]},"data":[5,{"1":2},[7]]}')?.rows, [
      [null, null],
      [null, 2],
      [7],
    ]);
  });
});
