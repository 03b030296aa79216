import { type BackendCheck, like, lines } from "./backend-steps.ts";

/** What code writes: every way of writing, in order, bounded, any characters. */
export const OUTPUT_CHECKS: readonly BackendCheck[] = [
  {
    id: "streams-in-order",
    steps: [
      {
        run: lines(
          "import sys",
          "for n in (1, 2):",
          "    print('out', n)",
          "    print('err', n, file=sys.stderr)",
          "'value'",
        ),
        out: [
          { stdout: "out 1\n" },
          { stderr: "err 1\n" },
          { stdout: "out 2\n" },
          { stderr: "err 2\n" },
          { result: { "text/plain": "'value'" } },
        ],
      },
      { run: "print('no end', end='')\n5", stdout: "no end", value: "5" },
    ],
  },
  {
    id: "children-write-in-order",
    steps: [
      {
        run: lines(
          "import os, sys",
          "for n in range(20):",
          "    print('own', n); print('error', n, file=sys.stderr); os.system(f'echo child {n}')",
        ),
        out: Array.from({ length: 20 }, (_, n) => [
          { stdout: n === 0 ? "own 0\n" : `child ${n - 1}\nown ${n}\n` },
          { stderr: `error ${n}\n` },
          ...(n === 19 ? [{ stdout: "child 19\n" }] : []),
        ]).flat(),
        withinMs: 20_000,
      },
    ],
  },
  {
    id: "children-write-too",
    steps: [
      {
        run: lines("import os", "print('first')", "os.system('echo second')", "print('third')"),
        stdout: "first\nsecond\nthird\n",
      },
      { run: lines("import subprocess", "subprocess.run(['sh', '-c', 'echo kid >&2'])", "None"), stderr: "kid\n" },
      { run: lines("os.write(1, b'raw\\n')", "print('after')"), stdout: "raw\nafter\n" },
    ],
  },
  {
    id: "streams-that-were-kept",
    steps: [
      {
        run: lines(
          "import logging, sys",
          "saved = sys.stdout",
          "logging.basicConfig(format='%(message)s')",
          "logging.warning('one')",
        ),
        stderr: "one\n",
      },
      { run: "logging.warning('two'); print('three', file=saved)", out: [{ stderr: "two\n" }, { stdout: "three\n" }] },
    ],
  },
  {
    id: "streams-that-were-replaced",
    steps: [
      { run: lines("import io, sys", "sys.stdout = io.StringIO()", "print('lost')") },
      { run: "print('back')", stdout: "back\n" },
      { run: "sys.stdout.close()" },
      { run: "print('again')", stdout: "again\n" },
      { run: "sys.stdout = sys.stderr = None" },
      { run: "print('third')\nprint('fourth', file=sys.stderr)", out: [{ stdout: "third\n" }, { stderr: "fourth\n" }] },
    ],
  },
  {
    id: "warnings",
    steps: [
      {
        run: "import warnings\nwarnings.warn('careful')",
        stderr: like(
          /^<(?:stdin|block 1)>:2: UserWarning: careful\n {2}warnings\.warn\('careful'\)\n$/,
          "<stdin>:2: UserWarning: careful\n  warnings.warn('careful')\n",
        ),
      },
    ],
  },
  {
    id: "threads-write-too",
    steps: [
      {
        run: lines(
          "import threading",
          "worker = threading.Thread(target=print, args=('from a thread',))",
          "worker.start(); worker.join()",
        ),
        stdout: "from a thread\n",
      },
      {
        run: lines(
          "def fail():",
          "    raise ValueError('thread failed')",
          "worker = threading.Thread(target=fail)",
          "worker.start(); worker.join()",
          "'fine'",
        ),
        out: [
          {
            stderr: like(
              /^Exception in thread [\s\S]*ValueError: thread failed\n$/,
              "Exception in thread Thread-1:\nValueError: thread failed\n",
            ),
          },
          { result: { "text/plain": "'fine'" } },
        ],
      },
    ],
  },
  {
    id: "late-output-comes-with-the-next-cell",
    needs: ["lateOutput", "files"],
    steps: [
      { run: "import os, tempfile; os.chdir(tempfile.mkdtemp())" },
      {
        run: lines(
          "import threading, time",
          "def late():",
          "    time.sleep(0.3)",
          "    print('later', flush=True)",
          "    open('printed', 'w').close()",
          "threading.Thread(target=late).start()",
          "print('now')",
        ),
        stdout: "now\n",
      },
      { awaitFile: "printed" },
      { run: "print('next')", out: [{ stdout: "later\n", late: true }, { stdout: "next\n" }] },
      { run: "print('clean')", stdout: "clean\n" },
    ],
  },
  {
    id: "any-characters",
    steps: [
      {
        run: "print('é✓🔥 \\u2028 \\x00 \\x0c \\x1b[31mred\\x1b[0m')",
        stdout: "é✓🔥 \u2028 \0 \f \u001b[31mred\u001b[0m\n",
      },
      { run: String.raw`print('lone \ud800')`, stdout: "lone \ud800\n" },
      { run: String.raw`'value \udcff'`, value: String.raw`'value \udcff'` },
      {
        run: String.raw`raise ValueError('error \udcff')`,
        error: {
          name: "ValueError",
          message: "error \udcff",
          traceback: like(/ValueError: error (\udcff|\\udcff)$/, "ValueError: error \udcff"),
        },
      },
      { run: lines("import os", "for byte in '🔥é'.encode(): os.write(1, bytes([byte]))"), stdout: "🔥é" },
      { run: String.raw`os.write(1, b'bad \xff end\n'); None`, stdout: "bad \ufffd end\n" },
      { run: "print('10%', end='\\r'); print('20%')", stdout: "10%\r20%\n" },
    ],
  },
  {
    id: "much-output-keeps-head-and-tail",
    steps: [
      {
        run: lines("for n in range(1_000_000):", "    print('line', 1_000_000 + n)"),
        out: [
          {
            cut: "stdout",
            begins: "line 1000000\nline 1000001\n",
            ends: "line 1999998\nline 1999999\n",
            length: 13_000_000,
          },
        ],
        withinMs: 50_000,
      },
      { run: "print('small')", stdout: "small\n" },
    ],
  },
  {
    id: "one-long-line-keeps-head-and-tail",
    steps: [
      {
        run: "print('begin', 'x' * 8_000_000, 'end')",
        out: [{ cut: "stdout", begins: "begin xxx", ends: "xxx end\n", length: 8_000_011 }],
        withinMs: 50_000,
      },
      { run: "1 + 1", value: "2" },
    ],
  },
];
