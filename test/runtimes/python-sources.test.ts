import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BOOT_SOURCE, INSTALL_SOURCE, PYTHON_SOURCES, WATCHER_SOURCE } from "../../src/backends/e2b/python-sources.ts";
import { ROOT, runToEnd } from "../helpers/process.ts";

/** Prints the names of files whose syntax tree, docstrings aside, is not that of the text beside them. */
const COMPARE = `
import ast, json, sys

def tree(text):
    parsed = ast.parse(text)
    for node in ast.walk(parsed):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(getattr(first, "value", None), ast.Constant):
            if isinstance(first.value.value, str):
                first.value.value = ""
    return ast.dump(parsed)

for path, text in json.loads(sys.argv[1]).items():
    if tree(open(path, encoding="utf-8").read()) != tree(text):
        print(path)
`;

test("the Python that goes into the bundle is the Python of the files, without their comments", async () => {
  const programs = { boot: BOOT_SOURCE, install: INSTALL_SOURCE, watcher: WATCHER_SOURCE };
  const sources = Object.fromEntries(
    Object.entries({ ...PYTHON_SOURCES, ...programs }).map(([name, text]) => {
      const runner = join(ROOT, `src/backends/e2b/runner/${name}.py`);
      return [existsSync(runner) ? runner : join(ROOT, `src/worker/${name}.py`), text];
    }),
  );
  const { code, stdout, stderr } = await runToEnd(["python3", "-c", COMPARE, JSON.stringify(sources)]);
  assert.deepEqual([code, stdout, stderr], [0, "", ""]);
  for (const text of Object.values(sources)) assert.doesNotMatch(text, /^\s*#/m);
});
