import { type BackendCheck, like, lines } from "./backend-steps.ts";

/** Grace period and a margin for a busy machine. */
const SOON_MS = 1500;
const KILLED_MS = 8000;

const byOutput = { at: "output", text: "go", by: "signal" } as const;

/** Stopping a cell by its signal: first with variables kept, then by force. */
export const STOP_CHECKS: readonly BackendCheck[] = [
  ...(
    [
      ["sleep", lines("import time", "time.sleep(60)")],
      ["loop", lines("while True:", "    pass")],
      ["await", lines("import asyncio", "await asyncio.sleep(60)")],
      ["child", lines("import subprocess", "subprocess.run(['sleep', '60'])")],
      ["lock", lines("import threading", "lock = threading.Lock()", "lock.acquire(); lock.acquire()")],
      ["event", lines("import threading", "threading.Event().wait()")],
      ["shell", "!sleep 60"],
    ] as const
  ).map(
    ([what, code]): BackendCheck => ({
      id: `stops-${what}-and-keeps-variables`,
      needs: ["interrupt"],
      steps: [
        { run: "kept = 41" },
        { run: `print('go', flush=True)\n${code}`, stdout: "go\n", stop: byOutput, aborted: "kept", withinMs: SOON_MS },
        { run: "kept + 1", value: "42" },
      ],
    }),
  ),
  {
    id: "stopped-before-it-starts",
    steps: [
      { run: "touched = 1", stop: { at: "start" }, aborted: "kept", withinMs: SOON_MS },
      { run: "'touched' in globals()", value: "False" },
    ],
  },
  {
    id: "signal-after-the-end-does-nothing",
    steps: [
      { run: "kept = 1", stop: { at: "end" } },
      { run: lines("import time", "time.sleep(0.3)", "kept"), value: "1" },
    ],
  },
  {
    id: "stopped-output-is-not-lost-and-ends",
    needs: ["interrupt"],
    steps: [
      {
        run: lines("print('partial', flush=True)", "n = 0", "while True:", "    n += 1", "    print('go', n)"),
        out: [{ flood: "stdout", begins: "partial\ngo 1\ngo 2\n", ends: /(go \d+\n)$|^[go \d\n]*$/ }],
        stop: byOutput,
        aborted: "kept",
        withinMs: KILLED_MS,
      },
      { run: "'after'", value: "'after'" },
    ],
  },
  {
    id: "code-that-swallows-interrupts-is-killed",
    steps: [
      {
        run: lines(
          "import time",
          "print('go', flush=True)",
          "while True:",
          "    try:",
          "        time.sleep(60)",
          "    except KeyboardInterrupt:",
          "        pass",
        ),
        stdout: "go\n",
        stop: byOutput,
        aborted: "lost",
        withinMs: KILLED_MS,
      },
      { run: "1 + 1", died: like(/./, "killed because it did not stop"), started: false },
    ],
  },
  {
    id: "code-stuck-in-c-is-killed",
    steps: [
      {
        run: "print('go', flush=True)\nsum(range(10**14))",
        stdout: "go\n",
        stop: byOutput,
        aborted: "lost",
        withinMs: KILLED_MS,
      },
      { run: "1 + 1", died: like(/./, "killed because it did not stop"), started: false },
    ],
  },
  {
    id: "await-works-after-a-stop",
    needs: ["interrupt"],
    steps: [
      {
        run: lines("import asyncio", "print('go', flush=True)", "await asyncio.gather(*map(asyncio.sleep, [60, 60]))"),
        stdout: "go\n",
        stop: byOutput,
        aborted: "kept",
        withinMs: SOON_MS,
      },
      { run: "await asyncio.sleep(0, 'fine')", value: "'fine'" },
      { run: "asyncio.run(asyncio.sleep(0, 'too'))", value: "'too'" },
    ],
  },
  {
    id: "code-that-prints-nothing-is-stopped",
    needs: ["interrupt", "files"],
    steps: [
      { run: "import os, tempfile, time; os.chdir(tempfile.mkdtemp()); kept = 2" },
      {
        run: "open('mark', 'w').close(); time.sleep(60)",
        stop: { at: "file", path: "mark" },
        aborted: "kept",
        withinMs: SOON_MS,
      },
      { run: "kept", value: "2" },
    ],
  },
];
