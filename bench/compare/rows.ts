/** One thing a Python user expects: cells to run in order, and what the last of them must show. */
export type Row = {
  readonly what: string;
  readonly cells: readonly string[];
  readonly wants: RegExp;
  readonly refuses?: RegExp;
  /** Seconds after which the last cell is to be stopped, where the server can be told. */
  readonly timeout?: number;
};

/** Wanted texts are made while the code runs, so that an echo of the code alone never counts. */
export const ROWS: readonly Row[] = [
  { what: "last value, once, by `repr`", cells: ["'va' + 'lue'"], wants: /'value'/ },
  { what: "`_` holds the last value", cells: ["6 * 7", "_ + 1"], wants: /\b43\b/ },
  { what: "a trailing `;` hushes", cells: ["x = 40\nx + 2;  # quiet"], wants: /^(?![\s\S]*\b42\b)/ },
  { what: "top-level `await`", cells: ["import asyncio\nawait asyncio.sleep(0, result=17 * 2)"], wants: /\b34\b/ },
  {
    what: "`asyncio.run()` after top-level code",
    cells: ["import asyncio\nasync def m(): return 8 * 8\nasyncio.run(m())"],
    wants: /\b64\b/,
  },
  {
    what: "`if __name__ == '__main__'` runs",
    cells: ["if __name__ == '__main__':\n    print('ma' + 'in')"],
    wants: /main\b/,
  },
  {
    what: "tracebacks show lines of earlier cells",
    cells: ["def bad(z):\n    w = z\n    return w // 0", "bad(1)"],
    wants: /return w \/\/ 0[\s\S]*ZeroDivisionError/,
  },
  {
    what: "chained causes are shown",
    cells: ["try:\n    {}['k' + 'ey9']\nexcept KeyError as e:\n    raise RuntimeError('out' + 'er7') from e"],
    wants: /key9[\s\S]*direct cause[\s\S]*outer7/,
  },
  {
    what: "`inspect.getsource` of a typed function",
    cells: ["def trip(n):\n    return n * 3\n", "import inspect\nlen(inspect.getsource(trip))"],
    wants: /\b30\b/,
  },
  { what: "output of child processes", cells: ["import os\n_ = os.system('echo su$((20+3))b')"], wants: /su23b/ },
  { what: "`os.write` to descriptor 1", cells: ["import os\n_ = os.write(1, b'ra' + b'w5\\n')"], wants: /raw5/ },
  {
    what: "late output of a thread is not lost",
    cells: [
      "import threading, time\ndef late():\n    time.sleep(0.5)\n    print('thr' + 'ead5')\nthreading.Thread(target=late).start()",
      "time.sleep(1.2)\n1 + 1",
    ],
    wants: /thread5/,
  },
  { what: "`sys.exit()` keeps the session", cells: ["n = 5\nimport sys\nsys.exit(3)", "n + 1"], wants: /\b6\b/ },
  { what: "a lone surrogate is no crash", cells: ["print(chr(0xd83d) + 'su' + 'r1')", "1 + 2"], wants: /\b3\b/ },
  {
    what: "a crash is survived by the next call",
    cells: ["import ctypes\nctypes.string_at(0)", "20 + 3"],
    wants: /\b23\b/,
  },
  {
    what: "`input()` fails at once",
    cells: ["try:\n    input()\nexcept BaseException as e:\n    print('fa' + 'iled')"],
    wants: /failed/,
  },
  {
    what: "`multiprocessing` with a typed function",
    cells: [
      "import multiprocessing as mp\ndef sq(n): return n * n\nwith mp.get_context('fork').Pool(2) as p:\n    r = p.map(sq, [2, 3, 4])\nr",
    ],
    wants: /\[4, 9, 16\]/,
  },
  {
    what: "a timeout keeps variables",
    cells: ["keep = 7\nimport time", "time.sleep(30)", "keep"],
    wants: /\b7\b/,
    timeout: 2,
  },
  {
    what: "a deleted builtin harms nothing",
    cells: ["import builtins\ndel builtins.len, builtins.repr", "7 * 6"],
    wants: /\b42\b/,
  },
  {
    what: "a replaced `sys.stdout` is restored",
    cells: ["import io, sys\nsys.stdout = io.StringIO()", "print('vis' + '1')"],
    wants: /vis1/,
  },
  {
    what: "endless recursion is short",
    cells: ["def f(): return f() + 1\nf()"],
    wants: /^[\s\S]{0,8000}RecursionError[\s\S]{0,400}$/,
  },
];
