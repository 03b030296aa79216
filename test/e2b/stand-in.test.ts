import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { readUntil, until, WireClient } from "./client.ts";
import { startStandIn } from "./stand-in.ts";

/** The stand-in, held to what was measured of the real service. */
const standIn = await startStandIn({ keepaliveMs: 300, maxConcurrent: 3 });
const client = new WireClient(standIn);
after(() => standIn.close());
afterEach(() => standIn.reset());

describe("control plane", () => {
  test("create answers 201 with ids and tokens; a traffic token only for private traffic", async () => {
    const open = await client.create();
    assert.match(open.sandboxID, /^[a-z0-9]+$/);
    assert.equal(open.trafficAccessToken, null);
    assert.deepEqual(Object.keys(open).sort(), [
      "clientID",
      "domain",
      "envdAccessToken",
      "envdVersion",
      "sandboxID",
      "templateID",
      "trafficAccessToken",
    ]);
    const closed = await client.create({ network: { allowPublicTraffic: false } });
    assert.ok(closed.trafficAccessToken);
  });

  test("refusals: wrong key 401, unknown template 404, too many sandboxes 429, too long a time 400", async () => {
    assert.equal((await client.control("GET", "/v2/sandboxes", undefined, "wrong")).status, 401);
    assert.equal((await client.control("POST", "/v2/sandboxes", { templateID: "none" })).status, 404);
    const tooLong = await client.control("POST", "/v2/sandboxes", { templateID: "code-interpreter-v1", timeout: 1e6 });
    assert.equal(tooLong.status, 400);
    await Promise.all([client.create(), client.create(), client.create()]);
    const fourth = await client.control("POST", "/v2/sandboxes", { templateID: "code-interpreter-v1" });
    assert.equal(fourth.status, 429);
    assert.match(((await fourth.json()) as { message: string }).message, /maximum number of concurrent/);
  });

  test("the list is filtered by metadata, encoded twice, and comes in pages", async () => {
    await client.create({ metadata: { "k 1": "a&b", n: "1" } });
    await client.create({ metadata: { "k 1": "a&b", n: "2" } });
    await client.create({ metadata: { "k 1": "other" } });
    const query = new URLSearchParams({ [encodeURIComponent("k 1")]: encodeURIComponent("a&b") });
    const path = `/v2/sandboxes?limit=1&metadata=${encodeURIComponent(query.toString())}`;
    const first = await client.control("GET", path);
    const next = first.headers.get("x-next-token");
    assert.equal(((await first.json()) as unknown[]).length, 1);
    const second = await client.control("GET", `${path}&nextToken=${next}`);
    assert.equal(second.headers.get("x-next-token"), null);
    const [found] = (await second.json()) as { metadata: Record<string, string>; state: string }[];
    assert.deepEqual([found?.metadata.n, found?.state], ["2", "running"]);
  });

  test("a sandbox can be killed once; a paused one too", async () => {
    const { sandboxID } = await client.create();
    assert.equal((await client.control("POST", `/sandboxes/${sandboxID}/pause`)).status, 204);
    assert.equal((await client.control("POST", `/sandboxes/${sandboxID}/pause`)).status, 409);
    assert.equal((await client.control("POST", `/sandboxes/${sandboxID}/timeout`, { timeout: 5 })).status, 404);
    assert.equal((await client.control("DELETE", `/sandboxes/${sandboxID}`)).status, 204);
    assert.equal((await client.control("DELETE", `/sandboxes/${sandboxID}`)).status, 404);
  });

  test("connect never shortens a life; it answers 200, or 201 when it woke a paused one", async () => {
    const { sandboxID } = await client.create({ timeout: 50 });
    const endAt = () => standIn.sandboxes.get(sandboxID)?.endAt ?? 0;
    const before = endAt();
    assert.equal((await client.control("POST", `/v2/sandboxes/${sandboxID}/connect`, { timeout: 1 })).status, 200);
    assert.equal(endAt(), before);
    await client.control("POST", `/v2/sandboxes/${sandboxID}/connect`, { timeout: 90 });
    assert.ok(endAt() > before);
    await client.control("POST", `/sandboxes/${sandboxID}/pause`);
    assert.equal((await client.control("POST", `/v2/sandboxes/${sandboxID}/connect`, { timeout: 9 })).status, 201);
    assert.equal((await client.control("POST", "/v2/sandboxes/none/connect", {})).status, 404);
  });
});

describe("the end of a sandbox's time", () => {
  test("it is killed: the proxy answers 502 and no process is left", async () => {
    const sandbox = await client.create({ timeout: 1 });
    const pids = standIn.sandboxes.get(sandbox.sandboxID)?.processes() ?? [];
    assert.ok(pids.length > 0);
    await until("the sandbox is gone", () => !standIn.sandboxes.has(sandbox.sandboxID));
    const response = await client.execute(sandbox, "1");
    assert.equal(response.status, 502);
    const body = { sandboxId: sandbox.sandboxID, message: "The sandbox was not found", code: 502 };
    assert.deepEqual(await response.json(), body);
    await until("its processes are gone", () => pids.every((pid) => !isAlive(pid)));
  });

  test("or it is paused: memory stays, code stands still, connect wakes it", async () => {
    const sandbox = await client.create({ timeout: 1, autoPause: true });
    await client.lines(sandbox, "x = 41");
    await until("the sandbox is paused", () => standIn.sandboxes.get(sandbox.sandboxID)?.state === "paused");
    assert.equal((await client.execute(sandbox, "x")).status, 502);
    await client.control("POST", `/v2/sandboxes/${sandbox.sandboxID}/connect`, { timeout: 60 });
    assert.equal(await client.value(sandbox, "x + 1"), "42");
  });

  test("with autoResume traffic wakes it, with the traffic token only, for 300 s at least", async () => {
    const wake = { autoPause: true, autoResume: { enabled: true }, network: { allowPublicTraffic: false } };
    const sandbox = await client.create(wake);
    await client.control("POST", `/sandboxes/${sandbox.sandboxID}/pause`);
    assert.equal((await client.execute({ ...sandbox, trafficAccessToken: "wrong" }, "1")).status, 403);
    assert.equal(await client.value(sandbox, "1 + 1"), "2");
    assert.ok((standIn.sandboxes.get(sandbox.sandboxID)?.endAt ?? 0) > Date.now() + 290_000);
  });
});

describe("proxy", () => {
  test("private traffic needs the token on every port but envd's", async () => {
    const sandbox = await client.create({ network: { allowPublicTraffic: false } });
    const without = { ...sandbox, trafficAccessToken: null };
    const missing = await client.execute(without, "1");
    assert.equal(missing.status, 403);
    assert.match(((await missing.json()) as { message: string }).message, /'E2B-Traffic-Access-Token' is missing/);
    assert.equal((await client.port(without, 8888, "/api/kernels/x")).status, 403);
    assert.equal((await client.port(without, 49983, "/health")).status, 204);
    assert.equal(await client.value(sandbox, "1 + 1"), "2");
  });

  test("a port that nobody listens on is told", async () => {
    const response = await client.port(await client.create(), 4000, "/");
    assert.equal(response.status, 502);
    assert.equal(
      ((await response.json()) as { message: string }).message,
      "The sandbox is running but port is not open",
    );
  });
});

describe("code interpreter", () => {
  test("one JSON object per line, non-ASCII escaped, the count first and the end last, no content type", async () => {
    const sandbox = await client.create();
    const response = await client.execute(sandbox, "print('é😀')\n'abc'");
    assert.equal(response.headers.get("content-type"), null);
    const text = await response.text();
    assert.match(text, /^\{"type": "number_of_executions", "execution_count": 1\}\n/);
    assert.match(text, /"text": "\\u00e9\\ud83d\\ude00\\n", "timestamp": "/);
    assert.match(text, /\n\{"type": "result", "text": "abc", "extra": \{\}, "is_main_result": true\}\n/);
    assert.match(text, /\n\{"type": "end_of_execution"\}\n$/);
  });

  test("unknown MIME types come under extra; an error has name, value and traceback", async () => {
    const sandbox = await client.create();
    const publish = "get_ipython().display_pub.publish({'a/b': {'x': 1}, 'text/html': '<b>'})";
    const shown = (await client.lines(sandbox, publish)).find((line) => line.type === "result");
    assert.deepEqual(shown, { type: "result", html: "<b>", extra: { "a/b": { x: 1 } }, is_main_result: false });
    const error = (await client.lines(sandbox, "1/0")).find((line) => line.type === "error");
    assert.deepEqual([error?.name, error?.value], ["ZeroDivisionError", "division by zero"]);
    assert.match(String(error?.traceback), /ZeroDivisionError: division by zero/);
  });

  test("variables, top-level await and running loop are those of an IPython kernel", async () => {
    const sandbox = await client.create();
    await client.lines(sandbox, "import asyncio\nx = 20");
    assert.equal(await client.value(sandbox, "await asyncio.sleep(0, x + 1)"), "21");
    assert.equal(await client.value(sandbox, "asyncio.get_running_loop().is_running()"), "True");
  });

  test("the first cell carries the sandbox's variables, and a wrong token's error in their place", async () => {
    const sandbox = await client.create({ envVars: { GREETING: "hi" } });
    assert.equal(await client.value(sandbox, "import os; os.environ['GREETING']"), "hi");
    const other = await client.create();
    const wrong = { ...other, envdAccessToken: "wrong" };
    assert.equal(await client.value(wrong, "import os; os.environ['code']"), "401");
  });

  test("silence is filled with keepalives", async () => {
    const lines = await client.lines(await client.create(), "import time; time.sleep(0.8)");
    assert.ok(lines.filter((line) => line.type === "keepalive").length >= 1);
  });

  test("contexts: listed, made, apart, restarted, removed; wrong ones refused", async () => {
    const sandbox = await client.create();
    const list = async () => (await (await client.port(sandbox, 49999, "/contexts")).json()) as { id: string }[];
    assert.equal((await list()).length, 1);
    const made = await client.port(sandbox, 49999, "/contexts", { json: {} });
    const { id } = (await made.json()) as { id: string };
    await client.lines(sandbox, "x = 1");
    const inOther = await (await client.execute(sandbox, "'x' in globals()", { more: { context_id: id } })).text();
    assert.match(inOther, /"text": "False"/);
    const both = await client.execute(sandbox, "1", { more: { context_id: id, language: "python" } });
    assert.equal(both.status, 400);
    assert.equal((await client.port(sandbox, 49999, `/contexts/${id}/restart`, { method: "POST" })).status, 200);
    assert.equal((await client.port(sandbox, 49999, `/contexts/${id}`, { method: "DELETE" })).status, 200);
    const gone = await client.execute(sandbox, "1", { more: { context_id: id } });
    assert.deepEqual([gone.status, await gone.text()], [404, `Context ${id} not found`]);
    assert.equal((await client.port(sandbox, 49999, "/contexts", { json: { language: "cobol" } })).status, 500);
  });

  test("a kernel that dies is started again, and its cell told so", async () => {
    const sandbox = await client.create();
    const lines = await client.lines(sandbox, "import os; os._exit(1)");
    assert.equal(lines.find((line) => line.type === "error")?.name, "ContextRestarting");
    assert.equal(lines.at(-1)?.type, "end_of_execution");
    await until("the new kernel answers", async () => (await client.value(sandbox, "1 + 1")) === "2");
  });
});

describe("interrupts", () => {
  const endless = "print('on', flush=True)\nx = 7\nwhile True: pass";
  const contextOf = (id: string) => standIn.sandboxes.get(id)?.defaultContext ?? "";

  for (const way of ["through Jupyter", "by a process in the sandbox", "by leaving"]) {
    test(`${way}: KeyboardInterrupt, variables kept`, async () => {
      const sandbox = await client.create();
      const leave = new AbortController();
      const running = await client.execute(sandbox, endless, { signal: leave.signal });
      await readUntil(running, '"on');
      const context = contextOf(sandbox.sandboxID);
      if (way === "through Jupyter") {
        const sent = await client.port(sandbox, 8888, `/api/kernels/${context}/interrupt`, { method: "POST" });
        assert.equal(sent.status, 204);
      } else if (way === "by leaving") leave.abort();
      else await runProcess(sandbox, "pkill", ["-INT", "-f", `[k]ernel-${context}[.]json`]);
      await until("the kernel is idle", async () => {
        const state = await client.port(sandbox, 8888, `/api/kernels/${context}`);
        return ((await state.json()) as { execution_state: string }).execution_state === "idle";
      });
      await new Promise((resolve) => setTimeout(resolve, 200)); // see the next test: nothing shows when that is over
      assert.equal(await client.value(sandbox, "x"), "7");
    });
  }

  test("a cell sent at once after an interrupt never ends", async () => {
    const sandbox = await client.create();
    const running = await client.execute(sandbox, endless);
    await readUntil(running, '"on');
    const context = contextOf(sandbox.sandboxID);
    await client.port(sandbox, 8888, `/api/kernels/${context}/interrupt`, { method: "POST" });
    const after = await client.execute(sandbox, "x");
    const text = await readUntil(after, "keepalive");
    assert.doesNotMatch(text, /number_of_executions|result/);
    await after.body?.cancel();
  });
});

describe("envd", () => {
  test("all but health needs the access token", async () => {
    const sandbox = await client.create();
    const stranger = { ...sandbox, envdAccessToken: "wrong" };
    assert.equal((await client.port(stranger, 49983, "/health")).status, 204);
    assert.equal((await client.port(stranger, 49983, "/envs")).status, 401);
    assert.equal((await client.port(stranger, 49983, "/files?path=x")).status, 401);
  });

  test("files are written, read, moved, listed and told apart from folders", async () => {
    const sandbox = await client.create();
    const call = (method: string, json: unknown) =>
      client.port(sandbox, 49983, `/filesystem.Filesystem/${method}`, { json });
    const headers = { "Content-Type": "application/octet-stream" };
    const put = { method: "POST", headers, body: "hello" };
    assert.equal((await client.port(sandbox, 49983, "/files?path=d/a.txt", put)).status, 200);
    assert.equal(await (await client.port(sandbox, 49983, "/files?path=d/a.txt")).text(), "hello");
    assert.equal((await client.port(sandbox, 49983, "/files?path=d")).status, 400);
    assert.equal((await client.port(sandbox, 49983, "/files?path=none")).status, 404);
    assert.equal((await call("Move", { source: "d/a.txt", destination: "d/b.txt" })).status, 200);
    const { entries } = (await (await call("ListDir", { path: "d" })).json()) as { entries: Record<string, unknown>[] };
    assert.deepEqual(
      entries.map(({ name, type, size }) => ({ name, type, size })),
      [{ name: "b.txt", type: "FILE_TYPE_FILE", size: "5" }],
    );
    const missing = await call("Stat", { path: "none" });
    assert.equal(((await missing.json()) as { code: string }).code, "not_found");
  });

  test("a process streams its output and its exit code", async () => {
    const sandbox = await client.create();
    const text = await runProcess(sandbox, "/bin/sh", ["-c", "echo out; exit 3"]);
    assert.match(text, /"start":\{"pid":\d+\}/);
    assert.ok(text.includes(Buffer.from("out\n").toString("base64")));
    assert.match(text, /"exitCode":3,"exited":true/);
  });
});

async function runProcess(sandbox: Parameters<WireClient["port"]>[0], cmd: string, args: string[]): Promise<string> {
  const message = Buffer.from(JSON.stringify({ process: { cmd, args } }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const response = await client.port(sandbox, 49983, "/process.Process/Start", {
    method: "POST",
    headers: { "Content-Type": "application/connect+json" },
    body: Buffer.concat([head, message]),
  });
  return response.text();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
}
