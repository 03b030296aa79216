import { type BackendCheck, like, lines } from "./backend-steps.ts";

const SOME_DETAIL = like(/^[^\n]{3,200}$/, "killed by SIGSEGV");

/** Kernels: apart from each other, their deaths and their ends. */
export const LIFE_CHECKS: readonly BackendCheck[] = [
  {
    id: "kernels-are-apart",
    steps: [
      { on: "a", run: lines("import os", "x = 'a'", "os.chdir('/')", "os.environ['CONTRACT_MARK'] = '1'") },
      {
        on: "b",
        run: "import os; 'x' in globals(), os.environ.get('CONTRACT_MARK'), os.getcwd() == '/'",
        value: "(False, None, False)",
      },
      { on: "a", run: "x, os.getcwd()", value: "('a', '/')" },
      { on: "a", shutdown: "once" },
      { on: "b", run: "2", value: "2" },
    ],
  },
  {
    id: "kernels-do-not-wait-for-each-other",
    steps: [
      { together: ["a", "b", "c"].map((on) => ({ on, run: "import time" })), withinMs: 60_000 },
      {
        together: ["a", "b", "c"].map((on) => ({ on, run: `time.sleep(2); '${on}'`, value: `'${on}'` })),
        withinMs: 5500,
      },
    ],
  },
  {
    id: "starts-in-the-wanted-folder",
    steps: [
      { on: "tmp", start: { cwd: "/tmp" } },
      { on: "tmp", run: "import os; os.path.samefile(os.getcwd(), '/tmp')", value: "True" },
    ],
  },
  {
    id: "refuses-a-folder-that-is-none",
    steps: [
      { on: "none", start: { cwd: "/no/such/folder" }, refused: "INVALID_CWD" },
      { on: "file", start: { cwd: "/etc/passwd" }, refused: "INVALID_CWD" },
    ],
  },
  {
    id: "exit-of-the-process",
    steps: [
      {
        run: "import os\nprint('last words', flush=True)\nos._exit(3)",
        stdout: "last words\n",
        died: SOME_DETAIL,
        withinMs: 10_000,
      },
      { run: "1 + 1", died: SOME_DETAIL, started: false },
    ],
  },
  {
    id: "crash-of-the-process",
    steps: [
      { run: "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", died: SOME_DETAIL, withinMs: 10_000 },
      { run: "1 + 1", died: SOME_DETAIL, started: false },
    ],
  },
  {
    id: "shutdown-ends-a-running-cell",
    steps: [
      {
        run: "import time\nprint('go', flush=True)\ntime.sleep(60)",
        stdout: "go\n",
        stop: { at: "output", text: "go", by: "shutdown" },
        died: SOME_DETAIL,
        withinMs: 8000,
      },
      { shutdown: "once" },
    ],
  },
  {
    id: "shutdown-is-idempotent",
    steps: [
      { run: "1", value: "1" },
      { shutdown: "twice" },
      { shutdown: "once" },
      { run: "1", died: SOME_DETAIL, started: false },
    ],
  },
];
