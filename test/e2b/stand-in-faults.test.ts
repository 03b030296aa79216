import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { Sandbox } from "@e2b/code-interpreter";
import { WireClient } from "./client.ts";
import { startStandIn } from "./stand-in.ts";

const standIn = await startStandIn();
const client = new WireClient(standIn);
after(() => standIn.close());
afterEach(() => standIn.reset());

describe("faults to order", () => {
  test("a status with headers and body, so many times, after so many others", async () => {
    const headers = { "retry-after": "7" };
    standIn.fault({ plane: "control", method: "POST", path: "/v2/sandboxes", skip: 1, status: 429, headers });
    await client.create();
    const second = await client.control("POST", "/v2/sandboxes", { templateID: "code-interpreter-v1" });
    assert.deepEqual([second.status, second.headers.get("retry-after")], [429, "7"]);
    await client.create();
  });

  test("a connection that is dropped, and an answer that is late", async () => {
    const sandbox = await client.create();
    standIn.fault({ plane: "data", port: 49999, reset: true });
    await assert.rejects(client.execute(sandbox, "1"), TypeError);
    standIn.fault({ plane: "control", path: "/v2/sandboxes", delayMs: 300 });
    const from = performance.now();
    await client.control("GET", "/v2/sandboxes");
    assert.ok(performance.now() - from >= 290);
  });

  test("a stream cut inside a character, or ended cleanly too early", async () => {
    const sandbox = await client.create();
    const whole = await (await client.execute(sandbox, "print('é' * 100)")).arrayBuffer();
    standIn.fault({ port: 49999, rawUtf8: true, cutAfterBytes: 150, chunkBytes: 3 });
    const cut = await client.execute(sandbox, "print('é' * 100)");
    await assert.rejects(cut.arrayBuffer());
    standIn.fault({ port: 49999, endAfterBytes: 60 });
    const short = await (await client.execute(sandbox, "print('é' * 100)")).arrayBuffer();
    assert.equal(short.byteLength, 60);
    assert.ok(whole.byteLength > 60);
  });

  test("orders over HTTP, the log of all requests, and the way back to nothing", async () => {
    await client.create();
    await fetch(`${standIn.apiUrl}/__fault`, {
      method: "POST",
      body: JSON.stringify({ plane: "control", status: 503 }),
    });
    assert.equal((await client.control("GET", "/v2/sandboxes")).status, 503);
    const log = (await (await fetch(`${standIn.apiUrl}/__log`)).json()) as { method: string; path: string }[];
    assert.deepEqual(
      log.map(({ method, path }) => `${method} ${path}`),
      ["POST /v2/sandboxes", "GET /v2/sandboxes"],
    );
    await fetch(`${standIn.apiUrl}/__log`, { method: "DELETE" });
    assert.equal(standIn.log().length, 0);
    await fetch(`${standIn.apiUrl}/__reset`, { method: "POST" });
    assert.equal(standIn.sandboxes.size, 0);
  });
});

describe("the real SDK on the stand-in", () => {
  const { apiKey, apiUrl, sandboxUrl } = standIn;
  const options = { apiKey, apiUrl, sandboxUrl, debug: false };

  test("create, run, files, commands, list, pause, connect, kill", async () => {
    const metadata = { "k 1": "v&1" };
    const sandbox = await Sandbox.create({ ...options, network: { allowPublicTraffic: false }, metadata });
    const ran = await sandbox.runCode("x = 20\nprint('é')\nx + 1");
    assert.deepEqual([ran.text, ran.logs.stdout, ran.executionCount], ["21", ["é\n"], 1]);
    await sandbox.files.write("a/b.txt", "hello");
    assert.equal(await sandbox.files.read("a/b.txt"), "hello");
    assert.equal((await sandbox.commands.run("cat a/b.txt")).stdout, "hello");
    const page = await Sandbox.list({ ...options, query: { metadata } }).nextItems();
    assert.deepEqual(
      page.map(({ sandboxId, state }) => [sandboxId, state]),
      [[sandbox.sandboxId, "running"]],
    );
    assert.equal(await sandbox.pause(), true);
    const again = await Sandbox.connect(sandbox.sandboxId, options);
    assert.equal((await again.runCode("x")).text, "20");
    assert.equal(await Sandbox.kill(sandbox.sandboxId, options), true);
    assert.equal(await Sandbox.kill(sandbox.sandboxId, options), false);
    await assert.rejects(sandbox.runCode("x"), { name: "TimeoutError", message: /The sandbox was not found/ });
  });

  test("errors of the control plane have the SDK's classes", async () => {
    await assert.rejects(Sandbox.create({ ...options, apiKey: "wrong" }), { name: "AuthenticationError" });
    await assert.rejects(Sandbox.create("none", options), { statusCode: 404 });
    await assert.rejects(Sandbox.connect("none", options), { name: "SandboxNotFoundError" });
    standIn.fault({ plane: "control", status: 429 });
    await assert.rejects(Sandbox.create(options), { name: "RateLimitError" });
  });

  test("counts: create and run are 2 requests, a run on a stored connection is 1", async () => {
    const sandbox = await Sandbox.create(options);
    await sandbox.runCode("1");
    assert.equal(standIn.log().length, 2);
    standIn.clearLog();
    await sandbox.runCode("1");
    assert.equal(standIn.log().length, 1);
  });
});
