import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { exportHistory } from "../../src/render/export/index.ts";
import { block, nameError, numbered, PNG, printed, shown, TABLE, value } from "../fixtures/render/blocks.ts";
import { LIBRARIES_PYTHON } from "../helpers/python.ts";

const PYTHON = LIBRARIES_PYTHON ?? "python3";
const run = (code: string, input = "") => spawnSync(PYTHON, ["-c", code], { input, encoding: "utf8" });
const skip = run("import nbformat").status === 0 ? false : "nbformat is not installed";

const VALIDATE = `
import sys, nbformat
notebook = nbformat.reads(sys.stdin.read(), as_version=nbformat.NO_CONVERT)
nbformat.validate(notebook)
print(len(notebook.cells), notebook.nbformat, notebook.nbformat_minor)`;

describe("ipynb", { skip }, () => {
  it("is read and validated by nbformat itself", () => {
    const entries = numbered(
      block("1 + 1", [printed("a\n", { late: true }), printed("\udead\n"), value("2")]),
      block("plot()", [shown({ "image/png": PNG, "image/svg+xml": "<svg/>", "application/json": '{"a": [1]}' })]),
      block("df", [value("df", { "application/vnd.dataresource+json": TABLE, "text/html": "<b>" })]),
      block("'\ud800'", [], { status: "error", error: nameError }),
      block("exec('a.py')", [], { kind: "file", path: "a.py", status: "running" }),
    );
    const notebook = exportHistory("ipynb", { sessionId: "s", createdAt: 0, backend: "b", entries });
    const { stdout, stderr } = run(VALIDATE, notebook);
    assert.equal(stdout.trim(), "5 4 5", stderr);
  });
});
