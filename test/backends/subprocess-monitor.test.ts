import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Kernel } from "../../src/core/backend.ts";
import {
  isAlive,
  makeTestBackend,
  run,
  soon,
  startKernel,
  type TestBackend,
  testEnvironment,
  until,
} from "./subprocess-setup.ts";

const FAKE = fileURLToPath(new URL("./subprocess-fake-monitor.py", import.meta.url));
const GRACE_MS = 200;

const made: TestBackend[] = [];
after(() => Promise.all(made.map(({ cleanUp }) => cleanUp())));

async function backendWith(mode: string, env: Record<string, string> = {}): Promise<TestBackend> {
  const test = await makeTestBackend({
    workerPath: FAKE,
    env: { ...testEnvironment(), ...env, FAKE_MONITOR: mode },
    graceMs: GRACE_MS,
    memoryMb: 64,
  });
  made.push(test);
  return test;
}

async function kernelWith(mode: string): Promise<{ kernel: Kernel; log: readonly string[] }> {
  const { backend, log } = await backendWith(mode);
  return { kernel: await startKernel(backend), log };
}

describe("a monitor that misbehaves", { concurrency: false }, () => {
  test("ends before it is ready: refused, and its words are logged", async () => {
    const { backend, log } = await backendWith("exits at once");
    await assert.rejects(startKernel(backend), { code: "BACKEND_UNAVAILABLE" });
    assert.match(log.join("\n"), /cannot go on[\s\S]*ended with exit code 5/);
  });

  for (const mode of ["garbage", "huge frame", "unknown frame"]) {
    test(`sends ${mode}: it is killed and the cell replies died`, async () => {
      const { kernel, log } = await kernelWith(mode);
      const pid = Number(kernel.ref.pid);
      const { reply } = await run(kernel, "1");
      assert.deepEqual(reply, { status: "died", detail: "stopped because it broke the protocol" });
      assert.equal(await soon(kernel.died, "the news of the death"), "stopped because it broke the protocol");
      assert.match(log.join("\n"), /broke the protocol/);
      await until(() => !isAlive(pid), "the monitor's end");
    });
  }

  test("ends during a cell: what it sent before is passed on", async () => {
    const { kernel } = await kernelWith("exit");
    const { reply, text } = await run(kernel, "1");
    assert.deepEqual(
      { reply, text },
      { reply: { status: "died", detail: "ended with exit code 7" }, text: "last words" },
    );
    assert.deepEqual((await run(kernel, "2")).reply, { ...reply, started: false });
    await assert.rejects(kernel.files.read("x", 10), { code: "BACKEND_UNAVAILABLE" });
    await kernel.shutdown();
  });

  test("answers for another cell: ignored, as is what comes after the reply", async () => {
    const { kernel } = await kernelWith("other cell");
    assert.deepEqual(await run(kernel, "1"), { reply: { status: "ok" }, outputs: [], text: "" });
    assert.deepEqual(await run(kernel, "1"), { reply: { status: "ok" }, outputs: [], text: "" });
  });

  test("does not stop a cell: it is killed with all that descends from it", async () => {
    const { kernel } = await kernelWith("children");
    const controller = new AbortController();
    let pids: number[] = [];
    const reply = await kernel.execute(
      { code: "1", number: 1 },
      {
        signal: controller.signal,
        onOutput: (output) => {
          if (output.type === "stream") pids = output.text.split(" ").map(Number);
          controller.abort();
        },
      },
    );
    assert.deepEqual(reply, { status: "aborted", kernelAlive: false });
    assert.equal(pids.length, 2);
    for (const pid of [...pids, Number(kernel.ref.pid)]) await until(() => !isAlive(pid), `the end of ${pid}`);
    assert.match(await soon(kernel.died, "the news of the death"), /did not answer/);
  });

  test("stays after its kernel has died: the cell does not wait, and it is killed", async () => {
    const { kernel } = await kernelWith("died and stays");
    const { reply } = await run(kernel, "1");
    assert.deepEqual(reply, { status: "died", detail: "killed by SIGSEGV" });
    await until(() => !isAlive(Number(kernel.ref.pid)), "the monitor's end");
    await kernel.shutdown();
  });

  test("ignores a shutdown: it is killed in time", async () => {
    const { kernel } = await kernelWith("ignores shutdown");
    const from = performance.now();
    await Promise.all([kernel.shutdown(), kernel.shutdown()]);
    assert.ok(performance.now() - from < GRACE_MS + 4000);
    await until(() => !isAlive(Number(kernel.ref.pid)), "the monitor's end");
  });

  test("refuses a file: its code and message are passed on", async () => {
    const { kernel } = await kernelWith("bad reply");
    await assert.rejects(kernel.files.read("x", 10), { code: "FILE_NOT_FOUND", message: "No file x" });
  });
});

describe("what a monitor is started with", () => {
  test("the given environment and no more, settings of ours, UTF-8 mode, the worker's path", async () => {
    const { backend } = await backendWith("environment", { CONTRACT_MARK: "é", PYTHONINSPECT: "1" });
    const kernel = await startKernel(backend);
    const [env, argv, utf8] = JSON.parse((await run(kernel, "1")).text);
    assert.equal(env.CONTRACT_MARK, "é");
    assert.equal(env.EDGE_REPL_MEMORY_MB, "64");
    assert.equal(env.EDGE_REPL_ROOT, undefined);
    assert.equal(env.PYTHONINSPECT, undefined);
    assert.deepEqual([argv, utf8], [[FAKE], 1]);
  });

  test("a sandbox decides how the command starts, and then process ids are not used", async () => {
    const seen: unknown[] = [];
    const packages = await mkdtemp(join(tmpdir(), "subprocess-test-"));
    const { backend, cleanUp } = await makeTestBackend({
      workerPath: FAKE,
      sandbox: {
        packagesFolder: (owner) => join(packages, owner),
        kernel: async (command, { packages: _, ...session }) => {
          seen.push(session);
          return { command, cwd: "/", env: { ...testEnvironment(), FAKE_MONITOR: "environment", IN_SANDBOX: "1" } };
        },
        installer: async () => assert.fail("Nothing is installed"),
        wheelsFolder: async () => assert.fail("Nothing is installed"),
        forget: async (session) => void seen.push(session),
      },
    });
    const kernel = await startKernel(backend);
    assert.equal(JSON.parse((await run(kernel, "1")).text)[0].IN_SANDBOX, "1");
    assert.deepEqual(kernel.ref, { pid: null });
    await backend.forgetSession?.("test", "test");
    const session = { owner: "test", sessionId: "test" };
    assert.deepEqual(seen, [{ ...session, cwd: undefined, nice: 0 }, session]);
    await cleanUp();
    await rm(packages, { recursive: true });
  });
});
