import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  cwdOf,
  isAlive,
  makeTestBackend,
  monitors,
  run,
  soon,
  startKernel,
  type TestBackend,
  testEnvironment,
  until,
} from "./subprocess-setup.ts";

let shared: TestBackend;
const made: TestBackend[] = [];

before(async () => {
  shared = await make();
});
after(() => Promise.all(made.map(({ cleanUp }) => cleanUp())));

async function make(options: Parameters<typeof makeTestBackend>[0] = {}): Promise<TestBackend> {
  const test = await makeTestBackend(options);
  made.push(test);
  return test;
}

describe("the priority of kernels", () => {
  const asked = "import os; os.nice(0)";

  test("is the server's own unless they yield", async () => {
    const kernel = await startKernel(shared.backend);
    assert.equal((await run(kernel, asked)).text, String(getPriority()));
  });

  test("is the lower the more of them an owner has, in the groups that Linux makes of sessions too", async () => {
    const { backend, cleanUp } = await makeTestBackend({ yields: true });
    for (const [others, lower] of [
      [0, 5],
      [2, 15],
      [40, 19],
    ] as const) {
      const nice = Math.min(19, getPriority() + lower);
      const kernel = await backend.startKernel({ owner: "o", sessionId: "s", epoch: 1, packages: [], others });
      assert.equal((await run(kernel, asked)).text, String(nice));
      const groups =
        "import os\n[open(f'/proc/{p}/autogroup').read().split()[-1] for p in (os.getpid(), os.getppid())]";
      if (!existsSync("/proc/self/autogroup")) continue;
      // Linux takes but ten changes a second from those who are not root.
      await until(async () => (await run(kernel, groups)).text === `['${nice}', '${nice}']`, "the groups' priority");
    }
    await cleanUp();
  });
});

describe("the end of a kernel", () => {
  const ends: [string, string][] = [
    ["import os; os._exit(3)", "exited with code 3"],
    ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"],
    ["import os; os.abort()", "killed by SIGABRT"],
  ];
  for (const [code, detail] of ends) {
    test(`${code} is told as ${detail}`, async () => {
      const kernel = await startKernel(shared.backend);
      assert.deepEqual((await run(kernel, code)).reply, { status: "died", detail });
      assert.equal(await soon(kernel.died, "the news of the death"), detail);
    });
  }

  test("tells the files of the cell that it ended in, or that had to be killed", async () => {
    const { backend } = await make({ graceMs: 100 });
    const namesOf = ({ reply }: Awaited<ReturnType<typeof run>>) => reply.files?.changed.map(({ path }) => path);
    const died = await run(await startKernel(backend), "import os; open('a', 'w').close(); os._exit(3)");
    assert.deepEqual([died.reply.status, namesOf(died)], ["died", ["a"]]);
    const stubborn = "import time; open('b', 'w').close()\nwhile True:\n";
    const code = `${stubborn}    try: time.sleep(60)\n    except KeyboardInterrupt: pass`;
    const killed = await run(await startKernel(backend), code, AbortSignal.timeout(500));
    assert.deepEqual([killed.reply.status, namesOf(killed)], ["aborted", ["b"]]);
  });

  test("while idle is told at once", async () => {
    const kernel = await startKernel(shared.backend);
    await run(kernel, "import signal; signal.setitimer(signal.ITIMER_REAL, 0.1); None");
    assert.equal(await soon(kernel.died, "the news of the death"), "killed by SIGALRM");
  });

  test("comes when its monitor is killed, and it is not left behind", async () => {
    const kernel = await startKernel(shared.backend);
    const pid = Number((await run(kernel, "import os; os.getpid()")).text);
    const { reply } = await run(kernel, "import os, time; os.kill(os.getppid(), 9); time.sleep(60)");
    assert.deepEqual(reply, { status: "died", detail: "killed by SIGKILL" });
    await until(() => !isAlive(pid), "the end of the kernel");
  });

  test("comes by force when its monitor is stopped and the cell must end", async () => {
    const { backend } = await make({ graceMs: 200 });
    const kernel = await startKernel(backend);
    const pid = Number((await run(kernel, "import os, time; os.getpid()")).text);
    await run(kernel, "import subprocess; far = subprocess.Popen(['sleep', '60'], start_new_session=True)");
    const far = Number((await run(kernel, "far.pid")).text);
    const { reply } = await run(kernel, "os.kill(os.getppid(), 19); time.sleep(60)", AbortSignal.timeout(300));
    assert.deepEqual(reply, { status: "aborted", kernelAlive: false });
    for (const gone of [pid, far]) await until(() => !isAlive(gone), `the end of ${gone}`);
  });

  test("takes along what it started, also in sessions of their own", async () => {
    const kernel = await startKernel(shared.backend);
    const code = [
      "import os, subprocess",
      "near = subprocess.Popen(['sleep', '60'])",
      "far = subprocess.Popen(['sleep', '60'], start_new_session=True)",
      "os.getpid(), near.pid, far.pid",
    ];
    const pids = (await run(kernel, code.join("\n"))).text.match(/\d+/g)?.map(Number) ?? [];
    assert.equal(pids.length, 3);
    await kernel.shutdown();
    // They have been killed; the system may take a moment to end them.
    for (const pid of pids) await until(() => !isAlive(pid), `the end of ${pid}`, 1000);
  });

  test("runs exit handlers when it was idle", async () => {
    const kernel = await startKernel(shared.backend);
    const mark = join(shared.folder, "handled");
    await run(kernel, `import atexit; atexit.register(lambda: open(${JSON.stringify(mark)}, "w").close()); None`);
    await kernel.shutdown();
    await realpath(mark);
  });
});

describe("code that harms its own process", () => {
  const harms = [
    "os.close(1)",
    "os.close(0); os.close(2)",
    "os.closerange(3, 256)",
    "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
    "sys.path.clear(); sys.modules.pop('__main__')",
    "os.environ.clear()",
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGCHLD, signal.SIG_IGN); None",
    "sys.setrecursionlimit(60)",
    "sys.settrace(lambda *event: None); sys.setprofile(lambda *event: None)",
    "import warnings; warnings.simplefilter('error')",
    "os.chdir('/'); os.umask(0o777); None",
  ];
  for (const harm of harms) {
    test(`${harm}: the next cell works`, async () => {
      const kernel = await startKernel(shared.backend);
      await run(kernel, "import os, sys");
      const harmed = await run(kernel, harm);
      assert.equal(harmed.reply.status, "ok", JSON.stringify(harmed.reply));
      const next = await run(
        kernel,
        "print('printed'); print('error', file=sys.stderr); os.system('echo child'); 6 * 7",
      );
      assert.deepEqual([next.reply.status, next.text], ["ok", "printed\nerror\nchild\n42"]);
      const failed = await run(kernel, "1 / 0");
      assert.equal(failed.reply.status === "error" && failed.reply.error.name, "ZeroDivisionError");
      await kernel.shutdown();
    });
  }

  test("files named like modules of Python do not stop a kernel that starts beside them", async () => {
    const folder = join(shared.folder, "shadows");
    await mkdir(folder);
    const names = [
      "random",
      "json",
      "ast",
      "traceback",
      "asyncio",
      "re",
      "os",
      "codecs",
      "linecache",
      "types",
      "tokenize",
    ];
    for (const name of names) await writeFile(join(folder, `${name}.py`), "raise RuntimeError('the wrong module')");
    const kernel = await startKernel(shared.backend, folder);
    assert.equal((await run(kernel, "print('fine'); 1 + 1")).text, "fine\n2");
    const failed = await run(kernel, "def f(): return 1 / 0\nf()");
    assert.match(
      failed.reply.status === "error" ? failed.reply.error.traceback : "",
      /in f\n.*\n?.*\n?ZeroDivisionError/,
    );
    assert.match((await run(kernel, "import random")).reply.status, /error|ok/);
    assert.equal((await run(kernel, "await __import__('builtins').anext(x async for x in y)")).reply.status, "error");
  });
});

describe("bounds of a kernel", () => {
  test("memory: a MemoryError, and the kernel lives on", async () => {
    const { backend } = await make({ memoryMb: 512 });
    const kernel = await startKernel(backend);
    const { reply } = await run(kernel, "x = bytearray(2 ** 31)");
    assert.equal(reply.status === "error" && reply.error.name, "MemoryError");
    assert.equal((await run(kernel, "1 + 1")).text, "2");
  });

  test("100 MB of prints are cut to head and tail, in bounded memory of this process", async () => {
    const { backend } = await make({ headBytes: 10_000, tailBytes: 20_000 });
    const kernel = await startKernel(backend);
    global.gc?.();
    const before = process.memoryUsage.rss();
    const { outputs } = await run(kernel, "line = 'x' * 999\nfor _ in range(100_000): print(line)");
    const kept = outputs.map((output) => (output.type === "stream" ? output.text.length : 0));
    const dropped = outputs.map((output) => (output.type === "stream" ? (output.dropped ?? 0) : 0));
    const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
    assert.equal(sum(kept) + sum(dropped), 100_000_000);
    assert.ok(sum(kept) <= 31_000, `${sum(kept)} characters were kept`);
    assert.ok(process.memoryUsage.rss() - before < 64 * 1024 * 1024);
  });

  test("code too large for a frame is refused, and the kernel lives on", async () => {
    const kernel = await startKernel(shared.backend);
    await assert.rejects(run(kernel, "x".repeat(65 * 1024 * 1024)), { code: "TOO_LARGE" });
    assert.equal((await run(kernel, "1 + 1")).text, "2");
  });
});

describe("files below a root", () => {
  test("what leaves it is refused, also by links", async () => {
    const outside = await make();
    await writeFile(join(outside.folder, "secret"), "secret");
    const { backend, folder } = await make({ root: outside.folder });
    const inner = join(outside.folder, "inner");
    await mkdir(inner);
    await symlink(folder, join(inner, "link"));
    const kernel = await startKernel(backend, inner);
    for (const path of ["/etc/passwd", join(inner, "../../x"), "link/x", "link"]) {
      await assert.rejects(kernel.files.read(path, 100), { code: "PATH_NOT_ALLOWED" }, path);
      await assert.rejects(kernel.files.write(path, new Uint8Array()), { code: "PATH_NOT_ALLOWED" }, path);
      await assert.rejects(kernel.files.list(path, 10), { code: "PATH_NOT_ALLOWED" }, path);
    }
    assert.equal(Buffer.from((await kernel.files.read("../secret", 100)).data).toString(), "secret");
    await assert.rejects(startKernel(backend, "/"), { code: "INVALID_CWD" });
    await assert.rejects(startKernel(backend, join(inner, "link")), { code: "INVALID_CWD" });
  });
});

describe("where a kernel starts", () => {
  test("names of settings of ours are not seen by code", async () => {
    const { backend, folder } = await make({ root: "/", memoryMb: 4096 });
    const kernel = await startKernel(backend, folder);
    assert.equal((await run(kernel, "import os; [n for n in os.environ if 'EDGE_REPL' in n]")).text, "[]");
  });

  test("a folder: ~ is home, a relative one starts at the default", async () => {
    await mkdir(join(shared.folder, "sub folder"), { recursive: true });
    const code = "import os; print(os.getcwd(), end='')";
    const relative = await startKernel(shared.backend, "sub folder");
    assert.equal((await run(relative, code)).text, await realpath(join(shared.folder, "sub folder")));
    const home = await startKernel(shared.backend, "~");
    assert.equal((await run(home, code)).text, await realpath((await import("node:os")).homedir()));
  });

  test("a bad folder is refused with its name and what would be right", async () => {
    await writeFile(join(shared.folder, "a-file"), "");
    await assert.rejects(startKernel(shared.backend, "missing"), {
      code: "INVALID_CWD",
      message: 'cwd "missing" does not exist; give an existing folder',
    });
    await assert.rejects(startKernel(shared.backend, "a-file"), { code: "INVALID_CWD", message: /is not a folder/ });
    await assert.rejects(startKernel(shared.backend, "a\0b"), { code: "INVALID_CWD", message: /NUL/ });
    await assert.rejects(startKernel(shared.backend, "x".repeat(10_000)), { code: "INVALID_CWD" });
  });

  test("a Python that is gone is a clear refusal", async () => {
    const { backend, log } = await make({
      python: {
        executable: "/no/such/python",
        version: "3.11.0",
        externallyManaged: false,
        virtual: false,
        hasPip: true,
        uv: undefined,
        importPaths: [],
        packagePaths: [],
      },
      env: testEnvironment(),
    });
    await assert.rejects(startKernel(backend), { code: "BACKEND_UNAVAILABLE" });
    assert.match(log.join(), /ENOENT/);
  });
});

describe("many at once", () => {
  test("20 kernels run side by side, each with its own output", async () => {
    const { backend, cleanUp } = await make();
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => (await run(await startKernel(backend), `x = ${n}; print(x, x)`)).text),
    );
    assert.deepEqual(
      texts,
      Array.from({ length: 20 }, (_, n) => `${n} ${n}\n`),
    );
    await cleanUp();
  });

  test("closing ends running cells, and starts that are under way", async () => {
    const { backend } = await make({ graceMs: 500 });
    const kernel = await startKernel(backend);
    const running = run(kernel, "import time; time.sleep(60)");
    const starting = startKernel(backend);
    await Promise.all([backend.close(), assert.rejects(starting, { code: "BACKEND_UNAVAILABLE" })]);
    assert.deepEqual((await running).reply, { status: "died", detail: "shut down" });
  });
});

describe("spare kernels", () => {
  test("one is started after a session has started, and taken by the next", async () => {
    const { backend, folder } = await make({ warmKernels: 1 });
    const first = await startKernel(backend);
    assert.equal((await run(first, "1 + 1")).text, "2");
    const folderOf = await realpath(folder);
    await until(() => monitors().filter((pid) => cwdOf(pid) === folderOf).length === 2, "the start of a spare kernel");
    const second = await startKernel(backend);
    assert.equal((await run(second, "import os; os.getcwd()")).text, `'${folderOf}'`);
    await backend.close();
  });
});
