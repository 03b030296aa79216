import { type BackendCheck, like, lines } from "./backend-steps.ts";

/** What a cell means: values, names, compilation, the ends of code. */
export const LANGUAGE_CHECKS: readonly BackendCheck[] = [
  {
    id: "value-of-last-expression",
    steps: [
      { run: "6 * 7", value: "42" },
      { run: "'text'", value: "'text'" },
      { run: "x = 5" },
      { run: "None" },
      { run: "1\n2", value: "2" },
      { run: lines("import math", "result = math.sqrt(144)", "result"), value: "12.0" },
      { run: "if True:\n    9" },
      { run: "for i in range(3): i" },
    ],
  },
  {
    id: "names-stay",
    steps: [
      { run: lines("result = 12.0", "def double(n):", "    return n * 2") },
      { run: "result + 1", value: "13.0" },
      { run: "double(result)", value: "24.0" },
      { run: "del result" },
      { run: "'result' in globals()", value: "False" },
    ],
  },
  {
    id: "underscore-holds-the-last-value",
    steps: [
      { run: "20 + 1", value: "21" },
      { run: "None" },
      { run: "y = 3" },
      { run: "_ * 2", value: "42" },
      { run: "_", value: "42" },
    ],
  },
  {
    id: "semicolon-hushes",
    steps: [
      { run: "40 + 2;  # quiet" },
      { run: "40 + 3  # loud;", value: "43" },
      { run: "'ab' + ';'", value: "'ab;'" },
      { run: "1; 2", value: "2" },
    ],
  },
  {
    id: "main-module",
    steps: [
      { run: "__name__", value: "'__main__'" },
      { run: "import sys; vars(sys.modules['__main__']) is globals()", value: "True" },
      { run: "marker = 5" },
      { run: "import __main__; __main__.marker", value: "5" },
      { run: lines("hits = 0", "if __name__ == '__main__':", "    hits += 5", "hits"), value: "5" },
    ],
  },
  {
    id: "nothing-to-run",
    steps: [{ run: "" }, { run: "  \n\t\n" }, { run: "# note\n" }, { run: "\n\n1\n\n", value: "1" }],
  },
  {
    id: "source-text-as-it-is",
    steps: [
      { run: "s = 'a\tb'\r\nlen(s)", value: "3" },
      { run: "'''one\r\ntwo'''", value: String.raw`'one\ntwo'` },
      { run: String.raw`'back\\n' + "\\t"`, value: String.raw`'back\\n\\t'` },
      { run: "'```python' + '```'", value: "'```python```'" },
      { run: "größe = '👩‍👩‍👧é✓'; len(größe)", value: "7" },
    ],
  },
  {
    id: "uniform-indentation",
    steps: [
      { run: "    x = 2\n    x * 4", value: "8" },
      { run: "\n  def f():\n      return 'in'\n  f()", value: "'in'" },
      { run: "t = '''\n    kept\n'''\nt", value: String.raw`'\n    kept\n'` },
      {
        run: "a = 1\n  b = 2",
        error: {
          name: "IndentationError",
          message: like(/unexpected indent/, "unexpected indent (<stdin>, line 2)"),
          traceback: like(
            /line 2\n.*\nIndentationError: unexpected indent/s,
            'File "<stdin>", line 2\n    b = 2\nIndentationError: unexpected indent',
          ),
        },
      },
    ],
  },
  {
    id: "future-imports-act-on-their-cell",
    steps: [
      {
        run: lines("from __future__ import annotations", "def f(a: Missing): pass", "f.__annotations__['a']"),
        value: "'Missing'",
      },
      { run: lines("def g(a: int): pass", "g.__annotations__['a']"), value: "<class 'int'>" },
    ],
  },
  {
    id: "value-shown-once",
    steps: [
      {
        run: lines(
          "shown = 0",
          "class Once:",
          "    def __repr__(self):",
          "        global shown",
          "        shown += 1",
          "        return f'once {shown}'",
          "Once()",
        ),
        value: "once 1",
      },
      { run: "shown", value: "1" },
    ],
  },
  {
    id: "value-that-cannot-be-shown",
    steps: [
      {
        run: lines(
          "class Bad:",
          "    def __repr__(self):",
          "        raise ValueError('no text')",
          "kept = Bad()",
          "kept",
        ),
        error: {
          name: "ValueError",
          message: "no text",
          traceback: like(
            /^Traceback \(most recent call last\):\n(?: {2}File .*\n.*\n)*? {2}File "<stdin>", line 3, in __repr__\n {4}raise ValueError\('no text'\)\nValueError: no text$/,
            `Traceback (most recent call last):\n  File "<stdin>", line 3, in __repr__\n    raise ValueError('no text')\nValueError: no text`,
          ),
        },
      },
      { run: "type(kept).__name__", value: "'Bad'" },
    ],
  },
  {
    id: "huge-value-is-bounded",
    steps: [
      {
        run: "list(range(3_000_000))",
        value: like(/^\[0, 1, 2, [\s\S]{100,2000000}$/, `[0, 1, 2, ${"3, ".repeat(100)}…`),
        withinMs: 20_000,
      },
      { run: "1 + 1", value: "2" },
    ],
  },
  {
    id: "source-of-earlier-cells",
    steps: [
      { run: lines("def trip(n):", "    return n * 3") },
      { run: lines("class Box:", "    size = 4") },
      { run: "import inspect; inspect.getsource(trip)", value: String.raw`'def trip(n):\n    return n * 3\n'` },
      { run: "inspect.getsource(Box)", value: String.raw`'class Box:\n    size = 4\n'` },
    ],
  },
  {
    id: "objects-of-cells-can-be-pickled",
    steps: [
      { run: lines("import dataclasses, pickle", "@dataclasses.dataclass", "class Point:", "    x: int = 1") },
      { run: "pickle.loads(pickle.dumps(Point(7)))", value: "Point(x=7)" },
    ],
  },
  {
    id: "exit-ends-the-cell",
    steps: [
      { run: "import sys; before = 1; sys.exit(3)", error: exitError("3", "SystemExit: 3") },
      { run: "sys.exit('see you')", error: exitError("see you", "SystemExit: see you") },
      { run: "raise SystemExit", error: exitError("", "SystemExit") },
      { run: "exit(4)", error: exitError("4", "SystemExit: 4") },
      { run: "quit()", error: exitError(like(/^(None)?$/, ""), "SystemExit(: None)?") },
      { run: "before", value: "1" },
    ],
  },
  {
    id: "no-stdin",
    steps: [
      {
        run: "input('name? ')",
        out: [{ stdout: like(/^(name\? )?$/, "name? ") }],
        error: {
          name: "EOFError",
          message: like(/./, "EOF when reading a line"),
          traceback: like(
            /^Traceback[\s\S]*EOFError: [\s\S]*stdin/,
            "Traceback (most recent call last):\nEOFError: no stdin",
          ),
        },
        withinMs: 5000,
      },
      { run: "import sys; sys.stdin.read()", value: "''", withinMs: 5000 },
      {
        run: "breakpoint()\n'went on'",
        out: [{ stderr: like(/^[^\n]+\n$/, "breakpoint() does nothing\n") }, { result: { "text/plain": "'went on'" } }],
        withinMs: 5000,
      },
      { run: "sys.gettrace() is None", value: "True" },
    ],
  },
  {
    id: "shell-lines-and-magics",
    steps: [
      { run: "!echo mag$((3*3))", stdout: "mag9\n" },
      { run: "v = (17\n% 5)\nv", value: "2" },
      { run: "w = '''\n!ls\n%cd\n'''\nw.count('!')", value: "1" },
      { run: "import os; before = os.getcwd()" },
      { run: "%cd /", out: [{ stdout: like(/^\/?\n?$/, "/\n") }] },
      { run: "os.getcwd()", value: "'/'" },
      {
        run: "%nosuchmagic 1",
        error: {
          name: "SyntaxError",
          message: like(/nosuchmagic/, "%nosuchmagic is not known"),
          traceback: like(/nosuchmagic/, "SyntaxError: %nosuchmagic is not known"),
        },
      },
      {
        run: "%pip install numpy",
        error: {
          name: "SyntaxError",
          message: like(/install_package/, "call install_package"),
          traceback: like(/SyntaxError: .*install_package/, "SyntaxError: call install_package"),
        },
      },
      { run: "%env CONTRACT_MAGIC=5", stdout: "env: CONTRACT_MAGIC=5\n" },
      { run: "os.environ['CONTRACT_MAGIC']", value: "'5'" },
      {
        run: "%time sum(range(10))",
        stdout: like(/^CPU time: .*\nWall time: .*\n$/, "CPU time: 1 µs\nWall time: 1 µs\n"),
        value: "45",
      },
      { run: "%timeit -n 1 -r 1 1 + 1", stdout: like(/^\S+ \S+ .*per loop.*\n$/, "1 µs ± 0 ns per loop\n") },
      { run: "%matplotlib inline" },
    ],
  },
  {
    id: "damaged-builtins",
    steps: [
      {
        run: lines(
          "import builtins",
          "for name in ['len', 'print', 'repr', 'str', 'isinstance', 'open']:",
          "    delattr(builtins, name)",
        ),
      },
      { run: "1 + 1", value: "2" },
      {
        run: "1 / 0",
        error: {
          name: "ZeroDivisionError",
          message: "division by zero",
          traceback: lines(
            "Traceback (most recent call last):",
            '  File "<stdin>", line 1, in <module>',
            "    1 / 0",
            "ZeroDivisionError: division by zero",
          ),
        },
      },
    ],
  },
  {
    id: "module-written-after-a-failed-import",
    needs: ["files"],
    steps: [
      { run: "import os, sys, tempfile; os.chdir(tempfile.mkdtemp()); sys.path.insert(0, os.getcwd())" },
      {
        run: "import late_module",
        error: {
          name: "ModuleNotFoundError",
          message: "No module named 'late_module'",
          traceback: like(
            /ModuleNotFoundError: No module named 'late_module'[\s\S]*install_package/,
            "ModuleNotFoundError: No module named 'late_module'\ninstall_package",
          ),
        },
      },
      { write: "late_module.py", data: "V = 11\n", replaced: false },
      { run: "import late_module; late_module.V", value: "11" },
    ],
  },
  {
    id: "what-models-often-send",
    steps: [
      {
        run: "```python\nprint('fenced')\n```",
        error: {
          name: "SyntaxError",
          message: like(/./, "invalid syntax (<stdin>, line 1)"),
          traceback: like(
            /SyntaxError: [\s\S]*(```|fence)/,
            "SyntaxError: invalid syntax\nSend the code without the ``` fences",
          ),
        },
      },
      {
        run: String.raw`a = 1\nprint(a)`,
        error: {
          name: "SyntaxError",
          message: like(
            /unexpected character after line continuation/,
            "unexpected character after line continuation character (<stdin>, line 1)",
          ),
          traceback: like(
            /unexpected character after line continuation character\n[\s\S]*(newline|line break)/,
            "SyntaxError: unexpected character after line continuation character\nSend real newlines",
          ),
        },
      },
      { run: "'a' in globals()", value: "False" },
    ],
  },
];

function exitError(message: Parameters<typeof like>[1] | ReturnType<typeof like>, last: string) {
  const sample = last.replace(/\(.*\)\?$/, "");
  return {
    name: "SystemExit",
    message,
    traceback: like(new RegExp(`(^|\\n)${last}$`), `Traceback (most recent call last):\n${sample}`),
  };
}
