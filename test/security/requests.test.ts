import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../helpers/process.ts";
import { makeApp, ORIGIN } from "./app-setup.ts";

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

describe("requests of one owner", () => {
  test("per minute: 429 with Retry-After, while another works", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_RATE_PER_MINUTE: "6" } });
    const statuses = new Map<number, number>();
    let last: Awaited<ReturnType<ReturnType<typeof subject.client>["tool"]>> | undefined;
    for (let n = 0; n < 26; n += 1) {
      last = await subject.client("alice").tool("list_sessions", {});
      statuses.set(last.status, (statuses.get(last.status) ?? 0) + 1);
    }
    assert.equal(statuses.get(200), 6);
    assert.equal(statuses.get(429), 20);
    assert.match(last?.headers.get("retry-after") ?? "", /^([1-9]|10)$/);
    assert.match(last?.text ?? "", /More than 6 requests per minute; try again in \d+ s/);
    assert.equal((await subject.client("bob").tool("list_sessions", {})).status, 200);
    await subject.close();
  });

  test("by default 600 a minute with tokens, 120 of them at once; without limit on an open server", async () => {
    const [strangers, local] = [await makeApp({ tokens: ["alice"] }), await makeApp()];
    const count = async (client: ReturnType<typeof local.client>): Promise<number> => {
      let served = 0;
      for (let n = 0; n < 200; n += 1) if ((await client.ask("ping")).status === 200) served += 1;
      return served;
    };
    const from = performance.now();
    const limited = await count(strangers.client("alice"));
    // One comes back each tenth of a second.
    const regained = Math.ceil((performance.now() - from) / 100);
    assert.ok(limited >= 120 && limited <= Math.min(199, 120 + regained), String(limited));
    assert.equal(await count(local.client()), 200);
    await Promise.all([strangers.close(), local.close()]);
  });

  test("in a batch count one by one", async () => {
    const subject = await makeApp({ tokens: ["alice"], settings: { REPL_RATE_PER_MINUTE: "20" } });
    const call = { jsonrpc: "2.0", method: "tools/list" };
    const send = (size: number) =>
      subject.client("alice").post(Array.from({ length: size }, (_, id) => ({ ...call, id: id + 1 })));
    assert.equal((await send(5)).status, 200);
    assert.equal((await send(100)).status, 429);
    await subject.close();
  });

  test("that are open at once: streams count, and give their place back", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_MAX_OPEN_REQUESTS: "3" } });
    const open = () => subject.client("alice").get("/sse");
    const streams = [await open(), await open(), await open()];
    assert.deepEqual(
      streams.map(({ status }) => status),
      [200, 200, 200],
    );
    const refused = await open();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.match(await refused.text(), /More than 3 requests are open at once/);
    assert.equal((await subject.client("bob").tool("list_sessions", {})).status, 200);
    await streams[0]?.body?.cancel();
    await until(async () => (await subject.client("alice").tool("list_sessions", {})).status === 200, "a free place");
    for (const stream of streams.slice(1)) await stream.body?.cancel();
    await subject.close();
  });

  test("that open MCP sessions end the owner's oldest, never another's", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_RATE_PER_MINUTE: "0" } });
    const initialize = async (name: string): Promise<string> => {
      const answer = await subject.client(name).post(INITIALIZE);
      return answer.headers.get("mcp-session-id") ?? assert.fail(answer.body);
    };
    const bobs = await initialize("bob");
    const first = await initialize("alice");
    for (let n = 0; n < 1100; n += 1) await initialize("alice");
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    assert.equal((await subject.client("bob", { "mcp-session-id": bobs }).post(ping)).status, 200);
    assert.equal((await subject.client("alice", { "mcp-session-id": first }).post(ping)).status, 404);
    await subject.close();
  });

  test("that post into another owner's stream are answered as if there were none", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"] });
    const stream = await subject.client("alice").get("/sse");
    const reader = stream.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const path = /data: (\S+)/.exec(first)?.[1] ?? assert.fail(first);
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const post = (name: string, to: string) =>
      subject.client(name).send(to, { method: "POST", headers: JSON_HEADERS, body: ping });
    const [stolen, unknown] = [await post("bob", path), await post("bob", "/messages?sessionId=none")];
    assert.deepEqual([stolen.status, await stolen.text()], [404, await unknown.text()]);
    assert.equal((await post("alice", path)).status, 202);
    await reader?.cancel();
    await subject.close();
  });

  test("that hold a session of another owner's client are answered as if there were none", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"] });
    const id = (await subject.client("alice").post(INITIALIZE)).headers.get("mcp-session-id") ?? "";
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    const [stolen, unknown] = [
      await subject.client("bob", { "mcp-session-id": id }).post(ping),
      await subject.client("bob", { "mcp-session-id": crypto.randomUUID() }).post(ping),
    ];
    assert.deepEqual([stolen.status, stolen.body], [404, unknown.body]);
    await subject.close();
  });
});

describe("a body over the limit", () => {
  const settings = { REPL_MAX_BODY_BYTES: "2048" };
  const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { x: "y".repeat(4000) } });

  test("is refused by its declared length, and when it declares none, as soon as it is too long", async () => {
    const subject = await makeApp({ settings });
    const declared = await subject.send("/mcp", {
      method: "POST",
      headers: { ...JSON_HEADERS, "content-length": String(large.length) },
      body: large,
    });
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(1024).fill(32));
      },
    });
    const init: RequestInit & { duplex: "half" } = {
      method: "POST",
      headers: JSON_HEADERS,
      body: endless,
      duplex: "half",
    };
    const streamed = await subject.app.fetch(new Request(`${ORIGIN}/mcp`, init));
    for (const response of [declared, streamed]) {
      assert.equal(response.status, 413);
      assert.match(await response.text(), /over the limit of 2048 bytes/);
    }
    assert.ok(pulled < 10, `${pulled} KiB were read`);
    await subject.close();
  });

  test("nested a million deep is refused like any other that is no message", async () => {
    const subject = await makeApp();
    for (const body of [
      `${"[".repeat(1e6)}${"]".repeat(1e6)}`,
      "[]",
      "[[]]",
      `[[${JSON.stringify(INITIALIZE)}]]`,
      "null",
      "1",
    ]) {
      const response = await subject.send("/mcp", { method: "POST", headers: JSON_HEADERS, body });
      assert.equal(response.status, 400, body.slice(0, 20));
    }
    await subject.close();
  });
});
