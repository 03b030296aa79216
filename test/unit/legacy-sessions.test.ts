import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuthInfo, type McpServerFactory, Server } from "@modelcontextprotocol/server";
import { deferred } from "../../src/core/deferred.ts";
import { createLegacySessions } from "../../src/mcp/legacy.ts";
import { LOCAL } from "../../src/mcp/server.ts";

const authInfo: AuthInfo = { token: "", clientId: "me", scopes: [], extra: { identity: LOCAL } };
const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};
/** As many MCP sessions as one owner may have. */
const LIMIT = 200;

function setUp() {
  const called = deferred<AbortSignal>();
  const answer = deferred<void>();
  const factory: McpServerFactory = () => {
    const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/call", async (_request, { mcpReq }) => {
      called.resolve(mcpReq.signal);
      await answer.promise;
      return { content: [] };
    });
    return server;
  };
  const sessions = createLegacySessions(factory, { keepAliveMs: 60_000, onerror: () => undefined, now: Date.now });
  const post = (parsedBody: object, id?: string): Promise<Response> => {
    const headers = new Headers({ accept: "application/json, text/event-stream", "content-type": "application/json" });
    if (id !== undefined) headers.set("mcp-session-id", id);
    return sessions.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers }), { parsedBody, authInfo });
  };
  const open = async (): Promise<string> => {
    const response = await post(initialize);
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  return { sessions, post, open, called, answer };
}

test("a session that runs a call outlives idle ones when an owner opens too many", async () => {
  const { sessions, post, open, called, answer } = setUp();
  const busy = await open();
  const idle = await open();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait" } };
  const reply = (await post(call, busy)).text();
  const signal = await called.promise;
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  await (await post(ping, idle)).text(); // Used since, so that the busy one is the oldest.
  for (let count = 2; count <= LIMIT; count += 1) await open();
  assert.equal(signal.aborted, false);
  assert.equal((await post(ping, idle)).status, 404);
  answer.resolve();
  assert.match(await reply, /"content":\[\]/);
  assert.equal((await post(ping, busy)).status, 200);
  await sessions.close();
});
