import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { scriptOf } from "../../src/render/export/script.ts";
import type { Entry } from "../../src/render/transcript.ts";
import { block, nameError, numbered } from "../fixtures/render/blocks.ts";

const PYTHON = process.env.PYTHON ?? "python3";
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "script-"));
});
after(() => rmSync(folder, { recursive: true }));

/** Runs the blocks' script followed by `check` and returns what it printed; fails when it does not compile. */
function run(entries: readonly Entry[], check = "", options = {}): string {
  const path = join(folder, "script.py");
  writeFileSync(path, `${scriptOf(entries, options).text}${check}\n`);
  const { status, stdout, stderr } = spawnSync(PYTHON, ["-W", "error", path], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, `${stderr}\n${scriptOf(entries, options).text}`);
  return stdout.replaceAll("\r", "").trimEnd();
}

const code = (...sources: readonly string[]): Entry[] => numbered(...sources.map((source) => block(source)));
/** The script without its first two lines, which are always the same. */
const bodyOf = (entries: readonly Entry[], options = {}): string =>
  scriptOf(entries, options).text.split("\n").slice(3).join("\n");

describe("a script", () => {
  it("has each block under its number", () => {
    assert.equal(bodyOf(code("x = 1\n", "\n\nprint(x)\n\n")), "# [1]\nx = 1\n\n# [2]\n\n\nprint(x)\n");
  });

  it("of no blocks is its heading", () => {
    assert.deepEqual(scriptOf([]), {
      text: "# The code of a Python session, saved by edge-python-repl.\n# Each block stands under its number in the session's history.\n",
      saved: 0,
      skipped: 0,
    });
  });

  it("leaves out blocks that failed, and counts them", () => {
    const entries = numbered(
      block("x = 1"),
      block("y", [], { status: "error", error: nameError }),
      block("while True: pass", [], { status: "timeout" }),
    );
    const script = scriptOf(entries);
    assert.deepEqual([script.saved, script.skipped], [1, 2]);
    assert.equal(run(entries, "print(x)"), "1");
  });

  it("keeps blocks that failed when asked to: those that never compiled as comments", () => {
    const syntaxError = { name: "SyntaxError", message: "", traceback: '  File "<stdin>", line 1\nSyntaxError: no' };
    const entries = numbered(
      block("def f(): return y", [], { status: "error", error: nameError }),
      block("x = (", [], { status: "error", error: syntaxError }),
      block("a\0b\ud800", [], { status: "error", error: { ...syntaxError, name: "ValueError" } }),
      block("if True:\nx = 1", [], { status: "interrupted" }),
      block("z = 'unclosed", [], { status: "died" }),
    );
    const script = scriptOf(entries, { includeFailed: true });
    assert.deepEqual([script.saved, script.skipped], [5, 0]);
    assert.match(script.text, /# \[2\] \(error\) kept as a comment:\n# x = \(/);
    assert.equal(run(entries, "print(f.__name__)", { includeFailed: true }), "f");
  });

  it("cannot be told by a comment of a block to have another encoding", () => {
    assert.equal(run(code("# coding: latin-1\nx = 'é'"), "print(ascii(x))"), "'\\xe9'");
  });
});

describe("code in a script", () => {
  const cases: readonly {
    readonly it: string;
    readonly blocks: readonly string[];
    readonly check?: string;
    readonly prints?: string;
  }[] = [
    {
      it: "has future imports first, once each",
      blocks: [
        "'doc'\nfrom __future__ import annotations\ndef f(x: undefined): pass",
        "from __future__ import (annotations,\n  generator_stop); y = 2",
        "from __future__ import division as d; from __future__ import division as d",
      ],
      check: "print(f.__annotations__, y, d.compiler_flag)",
      prints: "{'x': 'undefined'} 2 131072",
    },
    {
      it: "leaves alone what only looks like a future import or a magic",
      blocks: ["s = '''\nfrom __future__ import annotations\n!ls\n%time\n'''", "v = (17\n% 5)", "w = 17 \\\n% 5"],
      check: "print(s.count('\\n'), v, w)",
      prints: "4 2 2",
    },
    {
      it: "has magics as comments, their bodies still whole",
      blocks: [
        '!echo "it\'s" \\\n  more\nx = 1',
        "if x:\n    %cd /tmp\nelse:\n    !false",
        "files = !ls",
        "x?",
        "%time y = [\n 1]",
        "%time z = 3",
        "%%time\nw = 4",
        "%%bash\nfor i in 1 2; do echo '$i; done",
      ],
      check: "print(x, z, w)",
      prints: "1 3 4",
    },
    {
      it: "is dedented where it was indented uniformly, except inside strings",
      blocks: ["    # comment\n    if True:\n        x = '''\n    a\n'''\n\n    y = 1", "\tz = (1,\n  2)"],
      check: "print(repr(x), y, z)",
      prints: "'\\n    a\\n' 1 (1, 2)",
    },
    {
      it: "may declare names global that earlier blocks used",
      blocks: [
        "x = 1",
        "global x; y = 2; global y",
        "if x:\n    global z\n    z = 3",
        "def f():\n    global x\n    x = 5\nf()",
        "class A:\n    def g(self): global y; y = 6\nA().g()",
      ],
      check: "print(x, y, z)",
      prints: "5 6 3",
    },
    {
      it: "awaits at its top level, names staying global and tasks going on",
      blocks: [
        "import asyncio\nasync def slow():\n    await asyncio.sleep(0)\n    return 7",
        "task = asyncio.ensure_future(slow())\nx = await slow()",
        "y = await task",
        "asyncio.run(slow())",
        "async def numbers():\n    for n in range(3): yield n",
        "z = [n async for n in numbers()]",
        "async for n in numbers():\n    w = n",
        'u = f"{await slow():>3}"',
        "def with_default(v=await slow()): return v",
        "from __future__ import annotations\ns = '''\\n\"'''\nt: undefined = r'\\d' + \"\"\"'\"\"\" + str(await slow())",
        "lock = asyncio.Lock()\nasync with lock: inside = lock.locked()",
      ],
      check: "print(x, y, z, w, u, with_default(), ascii(s), t, inside)",
      prints: "7 7 [0, 1, 2] 2   7 7 '\\n\"' \\d'7 True",
    },
    {
      it: "makes tasks where the session did: in its event loop",
      blocks: [
        "import asyncio\nseen = []\nasync def work(): seen.append(1)",
        "task = asyncio.create_task(work())",
        "asyncio.run(work())",
        "await task",
      ],
      check: "print(seen, task.done())",
      prints: "[1, 1] True",
    },
    {
      it: "may display without an import",
      blocks: ["display('x')"],
      prints: "x",
    },
    {
      it: "does not wrap awaits inside of functions",
      blocks: [
        "async def f():\n    def g(): return 1\n    return await h()\nasync def h(): return 2\nasync def i(): await f()",
      ],
      check: "print('_repl_run' in globals())",
      prints: "False",
    },
    {
      it: "has byte order marks and the line ends of other systems removed",
      blocks: ["\ufeffx = 1\r\ny = 2\rz = '''a\r\nb'''\r\n"],
      check: "print(x, y, ascii(z))",
      prints: "1 2 'a\\nb'",
    },
    {
      it: "has lone surrogates escaped and all other text unchanged",
      blocks: ["x = '\udead'\ny = '😀\x0c\u2028\x85'\n# \ud800"],
      check: "print(ascii(x), ascii(y))",
      prints: "'\\udead' '\\U0001f600\\x0c\\u2028\\x85'",
    },
    {
      it: "may shadow builtins and be empty",
      blocks: [
        "",
        "# only a comment",
        "open = compile = eval = globals = getattr = None\nimport asyncio\nawait asyncio.sleep(0)",
      ],
    },
  ];
  for (const { it: name, blocks, check, prints = "" } of cases) {
    it(name, () => assert.equal(run(code(...blocks), check), prints));
  }
});

describe("a file block", () => {
  const file = (path: string) => block("exec(…)", [], { kind: "file", path });

  it("runs the file from where it lies, in the same namespace", () => {
    writeFileSync(
      join(folder, "it's é.py"),
      Buffer.from(
        "# coding: latin-1\nimport helper_of_script\nv = 'é', helper_of_script.V\nf = __file__[-8:]\n",
        "latin1",
      ),
    );
    writeFileSync(join(folder, "helper_of_script.py"), "V = 5\n");
    const own = "print(ascii(v), ascii(f), __file__[-9:])";
    assert.equal(run(numbered(block("x = 1"), file("it's é.py")), own), "('\\xe9', 5) \"t's \\xe9.py\" script.py");
  });

  it("runs the code cells of a notebook", () => {
    const cells = [
      { cell_type: "markdown", source: "# no code" },
      { cell_type: "code", source: ["%matplotlib inline\n", "if True:\n", "  !ls\n", "a = 1\n", "b = a"] },
      { cell_type: "code", source: "import asyncio\nawait asyncio.sleep(0)\nc = 3" },
    ];
    writeFileSync(join(folder, "book.ipynb"), JSON.stringify({ cells }));
    assert.equal(run(numbered(file("book.ipynb")), "print(a, b, c)"), "1 1 3");
  });

  it("has its path as a literal, whatever the path is", () => {
    const paths = ["a\\b'\"\n\udc80\x00.py", "😀.py", "C:\\new\\table.py"];
    for (const path of paths) {
      const literal = /_repl_run_file\((.*)\)$/m.exec(bodyOf(numbered(file(path))).split("# [1]")[1] ?? "")?.[1] ?? "";
      const { stdout } = spawnSync(PYTHON, ["-c", `import json; print(json.dumps(${literal}))`], { encoding: "utf8" });
      assert.equal(JSON.parse(stdout), path);
    }
  });
});
