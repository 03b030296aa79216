import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ExportedHistory, type ExportFormat, exportHistory } from "../../src/render/export/index.ts";
import { renderTranscript } from "../../src/render/index.ts";
import { block, nameError, numbered, PNG, printed, shown, TABLE, value, warned } from "../fixtures/render/blocks.ts";
import { isNotebook } from "../fixtures/render/notebook-rules.ts";

const history: ExportedHistory = {
  sessionId: "demo",
  createdAt: 1_790_000_000,
  backend: "subprocess",
  entries: numbered(
    block("import math\nmath.sqrt(144)", [printed("a"), warned("\r1%\r2%\n"), value("12.0")]),
    block("exec('it\\'s.py')", [printed("late\n", { late: true }), printed("x", { dropped: 7 })], {
      kind: "file",
      path: "it's.py",
    }),
    block("plot()", [
      shown({ "text/plain": "<Figure>", "image/png": PNG }),
      shown({ "image/svg+xml": "<svg>(')</svg>" }),
    ]),
    block("df", [value("df", { "application/vnd.dataresource+json": TABLE, "application/json": "no json" })]),
    block("result", [], { status: "error", error: nameError, note: "Variables are kept" }),
    block("'\ud800' + '```' + \"\0\"", [printed("\udead ```` \x1b[31mred\x1b[0m\n# not a heading\n")]),
    block("", [], { status: "running" }),
  ),
};

describe("every format", () => {
  const formats: readonly ExportFormat[] = ["txt", "md", "ipynb", "html", "json"];

  it("is text that UTF-8 can hold", () => {
    for (const format of formats) assert.doesNotMatch(exportHistory(format, history), /\p{Surrogate}/u, format);
  });

  it("can be made of no blocks", () => {
    for (const format of formats) {
      const document = exportHistory(format, { ...history, entries: [] });
      assert.equal(document === "", format === "txt");
    }
  });

  it("ends with one line break", () => {
    for (const format of formats) assert.match(exportHistory(format, history), /[^\n]\n$/, format);
  });
});

describe("txt", () => {
  it("is the transcript, nothing of it cut", () => {
    assert.equal(exportHistory("txt", history), `${renderTranscript(history.entries)}\n`);
    const long = { ...history, entries: numbered(block("f()", [printed("x".repeat(300_000))])) };
    assert.equal(exportHistory("txt", long), `[1] f()\n${"x".repeat(300_000)}\n`);
  });
});

describe("json", () => {
  const document = JSON.parse(exportHistory("json", history)) as Record<string, unknown> & {
    blocks: Record<string, unknown>[];
  };

  it("names its format and the session", () => {
    const { blocks, ...head } = document;
    assert.deepEqual(head, {
      format: "edge-python-repl-history",
      version: 1,
      session_id: "demo",
      created_at: 1_790_000_000,
      backend: "subprocess",
    });
    assert.equal(blocks.length, 7);
  });

  it("has all that a block has", () => {
    const [, file, , , failed] = history.entries;
    assert.deepEqual(document.blocks[1], {
      index: 1,
      kind: "file",
      code: "exec('it\\'s.py')",
      path: "it's.py",
      status: "ok",
      state: "kept",
      started_at: 1_790_000_000,
      duration_ms: 12.5,
      truncated_chars: 0,
      outputs: file?.block.outputs,
      error: null,
    });
    assert.deepEqual(document.blocks[4]?.error, failed?.block.error);
    assert.equal(document.blocks[4]?.note, "Variables are kept");
  });
});

describe("ipynb", () => {
  const notebook = JSON.parse(exportHistory("ipynb", history)) as {
    cells: { outputs: Record<string, unknown>[]; source: string[]; execution_count: number | null; id: string }[];
  };
  const cell = (number: number) => notebook.cells[number - 1];

  it("keeps the rules of notebook format 4.5", () => {
    assert.ok(isNotebook(notebook));
    const [first] = notebook.cells;
    for (const broken of [
      { ...notebook, nbformat_minor: 4 },
      { ...notebook, cells: [first, first] },
      { ...notebook, cells: [{ ...first, extra: 1 }] },
      { ...notebook, cells: [{ ...first, outputs: [{ output_type: "stream", name: "stdout" }] }] },
    ]) {
      assert.ok(!isNotebook(broken));
    }
  });

  it("has code by the line, counts and ids", () => {
    assert.deepEqual(cell(1)?.source, ["import math\n", "math.sqrt(144)"]);
    assert.deepEqual(
      notebook.cells.map(({ execution_count }) => execution_count),
      [1, 2, 3, 4, 5, 6, null],
    );
    assert.equal(cell(3)?.id, "block-3");
  });

  it("has streams, values and errors as Jupyter stores them", () => {
    assert.deepEqual(cell(1)?.outputs, [
      { name: "stdout", output_type: "stream", text: ["a"] },
      { name: "stderr", output_type: "stream", text: ["2%\n"] },
      { data: { "text/plain": ["12.0"] }, execution_count: 1, metadata: {}, output_type: "execute_result" },
    ]);
    assert.deepEqual(cell(5)?.outputs, [
      {
        ename: "NameError",
        evalue: "name 'result' is not defined",
        output_type: "error",
        traceback: nameError.traceback.split("\n"),
      },
      { name: "stderr", output_type: "stream", text: ["(Variables are kept)\n"] },
    ]);
  });

  it("has pictures as base64 and JSON as JSON", () => {
    assert.deepEqual(cell(3)?.outputs[0]?.data, { "text/plain": ["<Figure>"], "image/png": PNG });
    assert.deepEqual(cell(4)?.outputs[0]?.data, {
      "text/plain": ["df"],
      "application/vnd.dataresource+json": JSON.parse(TABLE),
      "application/json": "no json",
    });
  });

  it("runs files with a magic, and tells in words what came late or is missing", () => {
    assert.deepEqual(cell(2)?.source, ['%run -i "it\'s.py"']);
    assert.deepEqual(
      cell(2)?.outputs.map(({ text }) => (text as string[]).join("")),
      ["(late output of earlier blocks)\nlate\n", "(output of this block)\n… 7 characters omitted …\nx"],
    );
  });
});

describe("md", () => {
  const markdown = exportHistory("md", history);
  const outside = outsideFences(markdown);

  it("shows the session, then each block under its number", () => {
    assert.match(markdown, /^# Session demo\n\n7 blocks · subprocess · created 2026-09-21 14:13 UTC\n\n## \\\[1\\\]\n/);
    assert.match(markdown, /```python\nimport math\nmath\.sqrt\(144\)\n```\n\n```text\n2%\n12\.0\n```\n\n## \\\[2\\\]/);
    assert.match(markdown, /\*\\\(Variables are kept\\\)\*/);
  });

  it("has fences that nothing inside can close", () => {
    assert.equal(outside.filter((line) => line.startsWith("# ")).length, 1);
    assert.match(markdown, /\n````python\n'\\ud800' \+ '```' \+ "␀"\n````\n/);
    assert.match(markdown, /\n`````text\n\\udead ```` red\n# not a heading\n`````\n/);
  });

  it("has pictures as data URIs and data frames as tables", () => {
    assert.ok(outside.includes(`![&lt;Figure\\>](data:image/png;base64,${PNG})`));
    assert.ok(outside.includes("![Picture](data:image/svg+xml,%3Csvg%3E%28%27%29%3C%2Fsvg%3E)"));
    assert.deepEqual(
      outside.filter((line) => line.startsWith("|")),
      ["| index | city | &lt;b\\> |", "| ---: | --- | ---: |", "| 0 | Köln \\| Bonn | 1.5 |", "| 1 |  | -2 |"],
    );
  });
});

/** The lines that Markdown does not take for code; throws when a fence is left open. */
function outsideFences(markdown: string): string[] {
  const lines: string[] = [];
  let fence = "";
  for (const line of markdown.split("\n")) {
    const run = /^`{3,}/.exec(line)?.[0] ?? "";
    if (fence === "") {
      if (run === "") lines.push(line);
      fence = run;
    } else if (run.length >= fence.length && line === run) fence = "";
  }
  assert.equal(fence, "");
  return lines;
}
