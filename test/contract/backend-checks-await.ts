import { type BackendCheck, lines } from "./backend-steps.ts";

/** Top-level await, the loop behind it, and processes and threads that code starts. */
export const AWAIT_CHECKS: readonly BackendCheck[] = [
  {
    id: "top-level-await",
    steps: [
      { run: lines("import asyncio", "await asyncio.sleep(0, 'slept')"), value: "'slept'" },
      {
        run: lines(
          "async def numbers():",
          "    for n in range(3):",
          "        await asyncio.sleep(0)",
          "        yield n",
          "found = []",
          "async for n in numbers():",
          "    found.append(n)",
          "found, [n async for n in numbers()]",
        ),
        value: "([0, 1, 2], [0, 1, 2])",
      },
      {
        run: lines(
          "class Gate:",
          "    async def __aenter__(self): return 'in'",
          "    async def __aexit__(self, *error): pass",
          "async with Gate() as state:",
          "    print(state)",
        ),
        stdout: "in\n",
      },
      { run: "plain = 1\nplain + 1", value: "2" },
    ],
  },
  {
    id: "asyncio-run-in-any-order",
    steps: [
      {
        run: lines(
          "import asyncio",
          "async def answer():",
          "    await asyncio.sleep(0)",
          "    return 42",
          "asyncio.run(answer())",
        ),
        value: "42",
      },
      { run: "await answer()", value: "42" },
      { run: "asyncio.run(answer())", value: "42" },
      { run: "await answer()", value: "42" },
    ],
  },
  {
    id: "tasks-go-on-in-later-cells",
    steps: [
      {
        run: lines(
          "import asyncio",
          "async def work():",
          "    await asyncio.sleep(0.05)",
          "    return 'done'",
          "task = asyncio.create_task(work())",
          "await asyncio.sleep(0)",
          "task.done()",
        ),
        value: "False",
      },
      { run: "1 + 1", value: "2" },
      { run: "await task", value: "'done'" },
    ],
  },
  {
    id: "forked-child-never-answers",
    steps: [
      {
        run: lines("import os", "pid = os.fork()", "kid = pid == 0", "'par' + 'ent' if pid else 'chi' + 'ld'"),
        value: "'parent'",
        withinMs: 5000,
      },
      { run: "kid, 11 * 3", value: "(False, 33)" },
      { run: "os.waitpid(pid, 0)[1] >= 0", value: "True", withinMs: 5000 },
    ],
  },
  {
    id: "process-pools-find-functions-of-cells",
    steps: [
      { run: lines("import multiprocessing", "def triple(n):", "    return n * 3") },
      {
        run: lines(
          "with multiprocessing.get_context('fork').Pool(2) as pool:",
          "    found = pool.map(triple, [1, 2])",
          "found",
        ),
        value: "[3, 6]",
        withinMs: 20_000,
      },
      {
        run: lines(
          "with multiprocessing.get_context('spawn').Pool(1) as pool:",
          "    found = pool.map(triple, [3, 4])",
          "found",
        ),
        value: "[9, 12]",
        withinMs: 30_000,
      },
      {
        run: lines(
          "from concurrent.futures import ProcessPoolExecutor",
          "with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('fork')) as pool:",
          "    found = list(pool.map(triple, [5]))",
          "found",
        ),
        value: "[15]",
        withinMs: 20_000,
      },
    ],
  },
  {
    id: "background-child-does-not-hold-the-call",
    steps: [
      {
        run: lines("import subprocess", "child = subprocess.Popen(['sleep', '60'])", "'started'"),
        value: "'started'",
        withinMs: 5000,
      },
      { run: "child.poll() is None", value: "True" },
      { run: "child.kill(); child.wait()", value: "-9" },
    ],
  },
  {
    id: "flooding-child-does-not-block-later-cells",
    needs: ["lateOutput"],
    steps: [
      {
        run: lines(
          "import subprocess",
          "child = subprocess.Popen(['sh', '-c', 'exec yes flood'], stderr=subprocess.DEVNULL)",
          "import time; time.sleep(0.2)",
          "child.poll() is None",
        ),
        value: "True",
        noise: "stdout",
        withinMs: 10_000,
      },
      { run: "6 * 7", value: "42", noise: "stdout", withinMs: 10_000 },
      { run: "child.kill(); child.wait()", value: "-9", noise: "stdout", withinMs: 10_000 },
    ],
  },
];
