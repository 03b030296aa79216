import assert from "node:assert/strict";
import { once } from "node:events";
import { until } from "../helpers/process.ts";
import { initialize, modernCall, open, type RawAnswer, send, sendBlanks, toolCall } from "./raw.ts";

/** One thing that must hold for the HTTP surface itself, whoever calls. */
export type RawCheck = {
  readonly id: string;
  /** `host guard`: the server listens itself, on a loopback address. */
  readonly needs?: "host guard";
  readonly run: (url: URL) => Promise<void>;
};

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Refused with this status and JSON-RPC code, and told nothing about the inside of the server. */
function assertRejected(answer: RawAnswer, status: number, code: number): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.messages[0]?.error?.code, code, answer.text);
  assert.doesNotMatch(answer.text, /node_modules|\.ts:\d|\.js:\d|\n {4}at /);
}

async function openSession(url: URL, version?: string): Promise<Record<string, string>> {
  const { status, headers, messages } = await send(url, { body: initialize(version) });
  assert.equal(status, 200);
  const id = headers["mcp-session-id"];
  assert.match(String(id), /^[\x21-\x7e]+$/, "A session id is visible ASCII");
  const revision = String(messages[0]?.result?.protocolVersion);
  return { "mcp-session-id": String(id), "mcp-protocol-version": revision };
}

/** Runs `tool` in a call of its own, without a session of the protocol, and returns the structured reply. */
async function callAlone(url: URL, tool: string, args: object): Promise<Record<string, unknown>> {
  const { messages, text } = await send(url, { body: toolCall(tool, args) });
  const result = messages.find(({ id }) => id === 1)?.result;
  assert.ok(result, text);
  return result.structuredContent as Record<string, unknown>;
}

async function withSession(url: URL, use: (id: string) => Promise<void>): Promise<void> {
  const { session_id } = await callAlone(url, "create_session", {});
  try {
    await use(String(session_id));
  } finally {
    await callAlone(url, "delete_session", { session_id });
  }
}

const guardChecks: readonly RawCheck[] = [
  {
    id: "hosts that are not this machine are refused on every path",
    needs: "host guard",
    async run(url) {
      for (const path of ["/mcp", "/sse", "/messages", "/healthz", "/"]) {
        const { status, text } = await send(url, { method: "GET", path, headers: { host: "evil.example:8000" } });
        assert.equal(status, 403, `${path}: ${text}`);
      }
      const { status } = await send(url, { body: initialize(), headers: { host: `localhost:${url.port}` } });
      assert.equal(status, 200);
    },
  },
  {
    id: "pages of other origins are refused, those of this machine are served",
    needs: "host guard",
    async run(url) {
      for (const origin of ["http://evil.example", "null", "https://localhost.evil.example", "file://"]) {
        assert.equal((await send(url, { body: initialize(), headers: { origin } })).status, 403, origin);
        assert.equal((await send(url, { method: "GET", path: "/sse", headers: { origin } })).status, 403, origin);
      }
      const own = await send(url, { body: initialize(), headers: { origin: "http://localhost:6274" } });
      assert.equal(own.status, 200);
      assert.equal(own.headers["access-control-allow-origin"], "http://localhost:6274");
    },
  },
  {
    id: "paths and methods that are not served say what is",
    async run(url) {
      assert.equal((await send(url, { method: "GET", path: "/nothing" })).status, 404);
      const put = await send(url, { method: "PUT", body: initialize() });
      assert.deepEqual([put.status, put.headers.allow], [405, "GET, POST, DELETE"]);
      const post = await send(url, { path: "/sse", body: initialize() });
      assert.deepEqual([post.status, post.headers.allow], [405, "GET"]);
    },
  },
  {
    id: "a slash at the end changes nothing, without a redirect",
    async run(url) {
      const { status, messages } = await send(url, { path: "/mcp/", body: initialize() });
      assert.equal(status, 200);
      assert.equal(messages[0]?.result?.protocolVersion, "2025-11-25");
    },
  },
];

const bodyChecks: readonly RawCheck[] = [
  {
    id: "a body of another type than JSON is refused",
    async run(url) {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""]) {
        assertRejected(await send(url, { body: initialize(), headers: { "content-type": type } }), 415, -32600);
      }
      const charset = { "content-type": "Application/JSON; charset=UTF-8" };
      assert.equal((await send(url, { body: initialize(), headers: charset })).status, 200);
    },
  },
  {
    id: "a body that is not JSON is refused",
    async run(url) {
      for (const body of ["", "{", "nonsense", '{"jsonrpc": "2.0",}', new Uint8Array([0x22, 0xff, 0x22, 0x5d])]) {
        assertRejected(await send(url, { body }), 400, -32700);
      }
    },
  },
  {
    id: "JSON that is no JSON-RPC message is refused",
    async run(url) {
      for (const body of [{}, { jsonrpc: "1.0", id: 1, method: "ping" }, [], [{}], '"text"', "null", "17"]) {
        assertRejected(await send(url, { body }), 400, -32600);
      }
    },
  },
  {
    id: "a body over the limit is refused, whether or not it says how long it is",
    async run(url) {
      for (const declared of [true, false]) {
        const { status, text } = await sendBlanks(url, MAX_BODY_BYTES + 1, declared);
        assert.equal(status, 413, text);
        assert.match(text, /-32600.*16777216 bytes/);
      }
      assert.equal((await send(url, { body: initialize() })).status, 200, "The server goes on");
    },
  },
  {
    id: "a request header that is much too long does not end the server",
    async run(url) {
      const headers = { "mcp-session-id": "x".repeat(100_000) };
      // Runtimes that refuse such a header close the connection, with or without an answer.
      const status = await send(url, { body: initialize(), headers }).then(
        (answer) => answer.status,
        () => 431,
      );
      assert.ok(status >= 400 && status < 500, String(status));
      assert.equal((await send(url, { body: initialize() })).status, 200);
    },
  },
];

const revisionChecks: readonly RawCheck[] = [
  {
    id: "every revision of the 2025 era is agreed on as asked, an unknown one is answered with the newest",
    async run(url) {
      for (const revision of REVISIONS) {
        assert.equal((await openSession(url, revision))["mcp-protocol-version"], revision);
      }
      assert.equal((await openSession(url, "1999-01-01"))["mcp-protocol-version"], "2025-11-25");
    },
  },
  {
    id: "a request that names an unknown revision is refused with those that are known",
    async run(url) {
      const headers = { ...(await openSession(url)), "mcp-protocol-version": "1999-01-01" };
      const legacy = await send(url, { headers, body: toolCall("list_sessions", {}) });
      assert.equal(legacy.status, 400);
      assert.match(legacy.text, /2025-11-25/);
      const modern = await send(url, modernCall("list_sessions", {}, "2099-01-01"));
      assertRejected(modern, 400, -32022);
      assert.deepEqual(modern.messages[0]?.error?.data?.supported, ["2026-07-28"]);
    },
  },
  {
    id: "a request of 2026-07-28 needs no session and gets none",
    async run(url) {
      const { status, headers, messages } = await send(url, modernCall("list_sessions", {}));
      assert.equal(status, 200);
      assert.equal(headers["mcp-session-id"], undefined);
      const { structuredContent } = messages[0]?.result ?? {};
      assert.equal((structuredContent as { status: string }).status, "ok");
    },
  },
  {
    id: "a request of the 2025 era works without a session, too",
    async run(url) {
      assert.equal((await callAlone(url, "list_sessions", {})).status, "ok");
    },
  },
  {
    id: "a session that is unknown or was ended is not found, so that clients start anew",
    async run(url) {
      const unknown = { "mcp-session-id": "00000000-0000-0000-0000-000000000000" };
      for (const method of ["GET", "DELETE"]) assert.equal((await send(url, { method, headers: unknown })).status, 404);
      assertRejected(await send(url, { headers: unknown, body: toolCall("list_sessions", {}) }), 404, -32001);
      const headers = await openSession(url);
      assert.equal((await send(url, { method: "DELETE", headers })).status, 200);
      assert.equal((await send(url, { headers, body: toolCall("list_sessions", {}) })).status, 404);
    },
  },
  {
    id: "a notification is accepted without an answer",
    async run(url) {
      const headers = await openSession(url);
      const { status, text } = await send(url, {
        headers,
        body: { jsonrpc: "2.0", method: "notifications/initialized" },
      });
      assert.deepEqual([status, text], [202, ""]);
    },
  },
  {
    id: "a batch of a 2025-03-26 client is answered message by message",
    async run(url) {
      const headers = await openSession(url, "2025-03-26");
      const body = [
        toolCall("list_sessions", {}, "first"),
        { jsonrpc: "2.0", id: 7, method: "ping" },
        { jsonrpc: "2.0", method: "notifications/initialized" },
      ];
      const { status, messages } = await send(url, { headers, body });
      assert.equal(status, 200);
      assert.deepEqual(messages.map(({ id }) => id).sort(), [7, "first"].sort());
      assert.ok(messages.every(({ result }) => result));
    },
  },
];

const streamChecks: readonly RawCheck[] = [
  {
    id: "the HTTP+SSE stream starts with the address that takes its messages",
    async run(url) {
      const stream = open(url, { method: "GET", path: "/sse" });
      try {
        const [incoming] = await once(stream, "response");
        incoming.setEncoding("utf8");
        assert.match(incoming.headers["content-type"], /^text\/event-stream/);
        const [text] = await once(incoming, "data");
        assert.match(text, /^event: endpoint\ndata: \/messages\?sessionId=[\w-]+\n\n/);
      } finally {
        stream.destroy();
      }
    },
  },
  {
    id: "what is no message is refused on an HTTP+SSE session, which goes on",
    async run(url) {
      const stream = open(url, { method: "GET", path: "/sse" });
      try {
        const [incoming] = await once(stream, "response");
        incoming.setEncoding("utf8");
        const path = String((await once(incoming, "data"))[0]).match(/data: (.*)/)?.[1];
        assert.ok(path);
        const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
        for (const body of [{ jsonrpc: "2.0", id: 1 }, { ...ping, id: {} }, { ...ping, params: 5 }, [ping]]) {
          assertRejected(await send(url, { path, body }), 400, -32600);
        }
        let text = "";
        incoming.on("data", (chunk: string) => {
          text += chunk; // Signs of life may come first.
        });
        assert.equal((await send(url, { path, body: ping })).status, 202);
        await until(() => text.includes('"result":{}'), "the answer to a ping");
      } finally {
        stream.destroy();
      }
    },
  },
  {
    id: "a message to an HTTP+SSE session that is not there is not found",
    async run(url) {
      const path = "/messages?sessionId=00000000-0000-0000-0000-000000000000";
      assert.equal((await send(url, { path, body: initialize() })).status, 404);
      assert.equal((await send(url, { path: "/messages", body: initialize() })).status, 404);
    },
  },
  {
    id: "a connection that is cut interrupts its call, in both eras",
    async run(url) {
      await withSession(url, async (session_id) => {
        const code = "import time\ntime.sleep(60)";
        const headers = await openSession(url);
        const calls = [
          modernCall("run_code", { session_id, code }),
          { headers, body: toolCall("run_code", { session_id, code }) },
        ];
        for (const [index, call] of calls.entries()) {
          const outgoing = open(url, call);
          const blocks = async () =>
            (await callAlone(url, "get_history", { session_id })).blocks as { status: string }[];
          await until(async () => (await blocks())[index]?.status === "running", "the code to run");
          outgoing.destroy();
          const status = await until(async () => {
            const now = (await blocks())[index]?.status;
            return now === "running" ? undefined : now;
          }, "the code to end");
          assert.equal(status, "cancelled");
        }
      });
    },
  },
  {
    id: "a request whose id is still in use is refused, and both calls are answered",
    async run(url) {
      await withSession(url, async (session_id) => {
        const headers = await openSession(url);
        const wait = toolCall("run_code", { session_id, code: "import time\ntime.sleep(1)\n'first'" }, 7);
        const first = send(url, { headers, body: wait });
        const blocks = async () => (await callAlone(url, "get_history", { session_id })).blocks as unknown[];
        await until(async () => (await blocks()).length === 1, "the code to run");
        const again = await send(url, { headers, body: toolCall("list_sessions", {}, 7) });
        assertRejected(again, 400, -32600);
        assert.equal(again.messages[0]?.id, 7);
        assert.match((await first).text, /'first'/);
        assert.equal((await send(url, { headers, body: toolCall("list_sessions", {}, 7) })).status, 200, "It is free");
      });
    },
  },
  {
    id: "health is told at once while Python is busy",
    async run(url) {
      await withSession(url, async (session_id) => {
        const code = "while True: pass";
        const busy = open(url, { body: toolCall("run_code", { session_id, code, timeout: 20 }) });
        const blocks = async () => (await callAlone(url, "get_history", { session_id })).blocks as unknown[];
        await until(async () => (await blocks()).length === 1, "the code to run");
        const since = performance.now();
        const { status, text } = await send(url, { method: "GET", path: "/healthz" });
        const elapsed = performance.now() - since;
        busy.destroy();
        assert.equal(status, 200);
        assert.equal(JSON.parse(text).status, "ok");
        assert.ok(elapsed < 500, `Answered after ${Math.round(elapsed)} ms`);
      });
    },
  },
];

export const RAW_CHECKS: readonly RawCheck[] = [...guardChecks, ...bodyChecks, ...revisionChecks, ...streamChecks];
