import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, afterEach, describe, test } from "node:test";
import { AppError, type ErrorCode } from "../../src/core/errors.ts";
import { until, WireClient } from "../e2b/client.ts";
import { startStandIn } from "../e2b/stand-in.ts";
import { backendOf, kernelOptions, requests, runCell } from "./e2b-setup.ts";

/** What goes wrong between us and E2B, and what the caller is told. */
const standIn = await startStandIn({ keepaliveMs: 200 });
/** Does not notice that a client is gone, as some versions of the real server do not. */
const heedless = await startStandIn({ keepaliveMs: 200, interruptOnDisconnect: false });
const wire = new WireClient(standIn);
after(() => Promise.all([standIn.close(), heedless.close()]));
afterEach(() => {
  standIn.reset();
  heedless.reset();
});

const control = { plane: "control", method: "POST", path: "/v2/sandboxes" } as const;
const execute = { plane: "data", port: 49999, path: "/execute" } as const;
const only = () => [...standIn.sandboxes.values()][0] ?? assert.fail("There is no sandbox");

async function refused(work: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, new RegExp(standIn.apiKey));
    return true;
  });
}

describe("a sandbox that cannot be had", () => {
  const start = (more = {}) => backendOf(standIn, more).startKernel(kernelOptions());

  test("no key, or a wrong one", async () => {
    await refused(start({ apiKey: "" }), "BACKEND_UNAVAILABLE", /There is no E2B API key; set E2B_API_KEY/);
    await refused(start({ apiKey: "wrong" }), "BACKEND_UNAVAILABLE", /refused the API key; set E2B_API_KEY/);
  });

  test("no credit", async () => {
    standIn.fault({ ...control, status: 402, body: { code: 402, message: "payment required" } });
    await refused(start(), "BACKEND_UNAVAILABLE", /no credit left/);
  });

  test("too many sandboxes: told at once, or tried again when the service says when", async () => {
    const body = { code: 429, message: "you have reached the maximum number of concurrent E2B sandboxes (20)" };
    standIn.fault({ ...control, status: 429, body });
    await refused(start(), "LIMIT_REACHED", /maximum number of concurrent E2B sandboxes \(20\)\); delete sessions/);
    standIn.fault({ ...control, status: 429, body, headers: { "retry-after": "1" } });
    const kernel = await start();
    assert.equal((await runCell(kernel, "1")).value, "1");
  });

  test("a template that is not there", async () => {
    await refused(start({ template: "none" }), "BACKEND_UNAVAILABLE", /no template "none"/);
  });

  test("a service that is busy, fails, or is not there", async () => {
    standIn.fault({ ...control, status: 503 });
    await refused(start(), "BACKEND_UNAVAILABLE", /E2B is busy/);
    standIn.fault({ ...control, status: 500, body: { code: 500, message: "placement failed" } });
    await refused(start(), "BACKEND_UNAVAILABLE", /could not start the sandbox \(status 500: placement failed\)/);
    await refused(
      start({ apiUrl: "http://127.0.0.1:9" }),
      "BACKEND_UNAVAILABLE",
      /could not be reached at 127\.0\.0\.1:9/,
    );
  });

  test("a service that is slow: our own time limit holds, and the sandbox that comes late is ended", async () => {
    standIn.fault({ ...control, delayMs: 1_500 });
    const from = performance.now();
    await refused(start({ controlTimeoutMs: 500 }), "BACKEND_UNAVAILABLE", /did not answer within 0\.5 s/);
    assert.ok(performance.now() - from < 1_400);
    await until("the late sandbox is there and ended", () => requests(standIn).includes("DELETE /sandboxes/ID"));
    await until("it is gone", () => standIn.sandboxes.size === 0);
  });

  test("an answer that gets lost: the sandbox that it spoke of is found and ended", async () => {
    standIn.fault({ ...control, loseAnswer: true });
    await refused(start(), "BACKEND_UNAVAILABLE", /could not be reached/);
    await until("the sandbox is ended", () => requests(standIn).includes("DELETE /sandboxes/ID"));
    await until("it is gone", () => standIn.sandboxes.size === 0);
  });

  test("a sandbox whose ports open late, or whose interpreter cannot be set up", async () => {
    standIn.fault({
      ...execute,
      status: 502,
      body: { code: 502, message: "The sandbox is running but port is not open" },
    });
    assert.equal((await runCell(await start(), "1")).value, "1");
    standIn.reset();
    standIn.fault({ ...execute, status: 404, times: 9, body: "Context not found" });
    await refused(start(), "BACKEND_UNAVAILABLE", /did not take the request \(status 404/);
    await until("the sandbox is ended", () => standIn.sandboxes.size === 0);
  });

  test("a folder that is none", async () => {
    const options = kernelOptions({ cwd: "/no/such" });
    await refused(backendOf(standIn).startKernel(options), "INVALID_CWD", /"\/no\/such" is not a folder/);
    await until("the sandbox is ended", () => standIn.sandboxes.size === 0);
  });
});

describe("a sandbox that goes away", () => {
  test("killed between two runs: the cell did not run", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    only().kill();
    const { reply } = await runCell(kernel, "1");
    assert.ok(reply.status === "died" && reply.started === false);
    assert.match(reply.detail, /sandbox, which expired or was killed/);
    assert.equal(await kernel.died, reply.detail);
  });

  test("expired: the same, and nothing is sent to it", async () => {
    let shift = 0;
    const kernel = await backendOf(standIn, { now: () => Date.now() + shift }).startKernel(kernelOptions());
    only().kill();
    shift = 1_000_000;
    standIn.clearLog();
    const { reply } = await runCell(kernel, "1");
    assert.ok(reply.status === "died" && reply.started === false);
    assert.ok(!requests(standIn).includes("POST 49999/execute"));
  });

  test("killed in the middle of a run: the cell may have run", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    const onOutput = () => only().kill();
    const { reply, stdout } = await runCell(kernel, "import time; print('on', flush=True); time.sleep(30)", {
      onOutput,
    });
    assert.equal(stdout, "on\n");
    assert.ok(reply.status === "died" && reply.started === undefined);
  });

  test("paused for idleness and found again: memory is there", async () => {
    let shift = 0;
    const options = { onIdle: "pause", now: () => Date.now() + shift } as const;
    const kernel = await backendOf(standIn, options).startKernel(kernelOptions());
    await runCell(kernel, "x = 41");
    only().pause();
    assert.equal((await runCell(kernel, "x + 1")).value, "42"); // woken by the request itself
    only().pause();
    shift = 1_000_000;
    standIn.clearLog();
    assert.equal((await runCell(kernel, "x + 2")).value, "43"); // by our clock its time was over: connected first
    assert.deepEqual(requests(standIn), ["POST /v2/sandboxes/ID/connect", "POST 49999/execute"]);
  });

  test("paused in the middle of a run: the cell goes on and its output is whole", async () => {
    const kernel = await backendOf(standIn, { onIdle: "pause" }).startKernel(kernelOptions());
    let paused = false;
    const onOutput = () => {
      if (!paused) only().pause();
      paused = true;
    };
    const code = "import time\nfor i in range(4): print(i); time.sleep(0.1)";
    const ran = await runCell(kernel, code, { onOutput });
    assert.ok(paused);
    // The server may take the lost connection for a cancel; then the reply says so.
    if (ran.reply.status === "ok") assert.equal(ran.stdout, "0\n1\n2\n3\n");
    else
      assert.ok(
        ran.reply.status === "error" && /the connection to the sandbox was lost/.test(ran.reply.error.traceback),
      );
  });

  test("its kernel was replaced: the cell did not run, and the cause is known", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    await runCell(kernel, "import signal; signal.alarm(1)");
    await until("the kernel was started again", async () => {
      const id = only().defaultContext;
      const context = only().contexts.get(id);
      return context !== undefined && context.starts === 2 && !context.busy;
    });
    const { reply } = await runCell(kernel, "1");
    assert.deepEqual(reply, { status: "died", detail: "killed by SIGALRM", started: false });
    assert.equal(standIn.sandboxes.size, 0);
  });
});

describe("a connection that breaks", () => {
  const code = "counter = globals().get('counter', 0) + 1\nfor i in range(50): print('é€😀', i)\ncounter";
  const whole = Array.from({ length: 50 }, (_, i) => `é€😀 ${i}\n`).join("");

  for (const [what, fault] of [
    ["before an answer", { reset: true }],
    ["in the middle of a character", { rawUtf8: true, chunkBytes: 7, cutAfterBytes: 301 }],
    ["in the middle of a line", { cutAfterBytes: 200 }],
    ["with a clean but early end", { endAfterBytes: 150 }],
  ] as const) {
    test(`${what}: the cell runs once and its output is whole`, async () => {
      const kernel = await backendOf(heedless).startKernel(kernelOptions());
      heedless.fault({ ...execute, ...fault });
      const ran = await runCell(kernel, code);
      assert.deepEqual([ran.reply, ran.stdout, ran.value], [{ status: "ok" }, whole, "1"]);
      assert.equal((await runCell(kernel, "counter")).value, "1");
    });
  }

  test("with a server that interrupts the code then: told so, variables kept", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    standIn.fault({ ...execute, cutAfterBytes: 10 });
    const { reply } = await runCell(kernel, "import time\nx = 5\ntime.sleep(20)");
    assert.ok(reply.status === "error" && reply.error.name === "KeyboardInterrupt");
    assert.match(reply.error.traceback, /the connection to the sandbox was lost, which interrupted the code/);
    assert.equal((await runCell(kernel, "x")).value, "5");
  });

  test("by falling silent: noticed and asked again; keepalives are no silence", async () => {
    const kernel = await backendOf(heedless, { silenceMs: 700 }).startKernel(kernelOptions());
    heedless.fault({ ...execute, stallAfterBytes: 10 });
    assert.equal((await runCell(kernel, "1 + 1")).value, "2");
    heedless.clearLog();
    assert.equal((await runCell(kernel, "import time; time.sleep(1.6); 3")).value, "3");
    assert.deepEqual(requests(heedless), ["POST 49999/execute"]);
  });

  test("again and again: told as lost, and the sandbox is ended", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    standIn.fault({ ...execute, endAfterBytes: 5, times: 20 });
    const { reply } = await runCell(kernel, "1");
    assert.ok(reply.status === "died" && reply.started === undefined);
    assert.match(reply.detail, /out of reach: the connection to its sandbox was lost/);
    assert.equal(standIn.sandboxes.size, 0);
  });
});

describe("a proxy that says no", () => {
  test("a refused token is renewed by one connect", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    standIn.fault({ ...execute, status: 403, body: { code: 403, message: "invalid" } });
    standIn.clearLog();
    assert.equal((await runCell(kernel, "1")).value, "1");
    const sent = ["POST 49999/execute", "POST /v2/sandboxes/ID/connect", "POST 49999/execute"];
    assert.deepEqual(requests(standIn), sent);
  });

  test("in transition, limited, busy: asked again; for good: an error, and the kernel stays", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    await runCell(kernel, "x = 5");
    for (const [status, headers] of [[409], [429, { "retry-after": "0" }], [503]] as const) {
      standIn.fault({ ...execute, status, ...(headers ? { headers } : {}) });
      assert.equal((await runCell(kernel, "x")).value, "5");
    }
    standIn.fault({
      ...execute,
      status: 429,
      headers: { "retry-after": "0" },
      times: 4,
      body: { message: "slow down" },
    });
    await refused(runCell(kernel, "x"), "LIMIT_REACHED", /\(status 429: slow down\); try again/);
    assert.equal((await runCell(kernel, "x")).value, "5");
  });
});

describe("stopping a cell", () => {
  const endless = "import time\nprint('on', flush=True)\nwhile True: time.sleep(0.1)";

  test("where Jupyter cannot be reached the signal comes from a process in the sandbox", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    standIn.fault({ plane: "data", port: 8888, status: 502, times: 99, body: { message: "port is not open" } });
    const stop = new AbortController();
    const { reply } = await runCell(kernel, endless, { signal: stop.signal, onOutput: () => stop.abort() });
    assert.ok(reply.status === "aborted" && reply.kernelAlive);
    assert.ok(requests(standIn).includes("POST 49983/process.Process/Start"));
    assert.equal((await runCell(kernel, "time.__name__")).value, "'time'");
  });

  test("when nothing reaches it, the sandbox is killed after the grace period", async () => {
    const kernel = await backendOf(standIn, { graceMs: 300 }).startKernel(kernelOptions());
    standIn.fault({ plane: "data", port: 8888, status: 502, times: 99 });
    standIn.fault({ plane: "data", port: 49983, status: 500, times: 99 });
    const stop = new AbortController();
    const { reply } = await runCell(kernel, endless, { signal: stop.signal, onOutput: () => stop.abort() });
    assert.deepEqual(reply, { status: "aborted", kernelAlive: false });
    assert.equal(standIn.sandboxes.size, 0);
  });

  for (const [what, options, faults] of [
    ["tokens are renewed", {}, [{ ...execute, status: 403 }]],
    ["the lease is renewed", { idleSeconds: 1 }, []],
  ] as const) {
    test(`a stop does not wait for a slow control plane while ${what}`, async () => {
      const kernel = await backendOf(standIn, options).startKernel(kernelOptions());
      for (const fault of faults) standIn.fault(fault);
      standIn.fault({ plane: "control", delayMs: 3_000 });
      const from = performance.now();
      const { reply } = await runCell(kernel, "1", { signal: AbortSignal.timeout(300) });
      assert.ok(performance.now() - from < 2_000);
      assert.deepEqual(reply, { status: "aborted", kernelAlive: true });
    });
  }
});

describe("clocks that differ", () => {
  for (const [what, skew] of [
    ["ahead", 3_600_000],
    ["behind", -3_600_000],
  ] as const) {
    test(`another process whose clock is ${what} connects before it trusts a lease`, async () => {
      const sealKey = randomBytes(32).toString("base64");
      const { ref } = await backendOf(standIn, { sealKey }).startKernel(kernelOptions());
      standIn.clearLog();
      const other = backendOf(standIn, { sealKey, now: () => Date.now() + skew });
      const kernel = (await other.attachKernel(ref, kernelOptions())) ?? assert.fail();
      assert.equal((await runCell(kernel, "1")).value, "1");
      assert.deepEqual(requests(standIn), ["POST /v2/sandboxes/ID/connect", "POST 49999/execute"]);
    });
  }

  test("a sandbox that E2B ended early is found out by its answer", async () => {
    const kernel = await backendOf(standIn).startKernel(kernelOptions());
    await wire.control("DELETE", `/sandboxes/${only().id}`);
    const { reply } = await runCell(kernel, "1");
    assert.ok(reply.status === "died" && reply.started === false);
  });
});
