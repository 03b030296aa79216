import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Composition, compose } from "../../adapters/compose.ts";
import { replySettingsOf } from "../../adapters/options.ts";
import { type App, createApp } from "../../src/app.ts";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { parseConfig } from "../../src/config.ts";

const URL_MCP = "http://127.0.0.1:8000/mcp";
const CAPABILITIES = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };

type Reply = { readonly status: number; readonly text: string; readonly session: string | null };

/** Tokens by who holds them; `alice` has two, one of which may only read. */
const tokens = { alice: "", aliceReads: "", bob: "" };
let composition: Composition;
let app: App;

before(async () => {
  for (const holder of ["alice", "aliceReads", "bob"] as const) tokens[holder] = newToken();
  const hash = async (token: string): Promise<string> => toHex(await sha256(token));
  const entries = [
    `alice:${await hash(tokens.alice)}`,
    `alice:${await hash(tokens.aliceReads)}:read`,
    `bob:${await hash(tokens.bob)}`,
  ];
  const config = parseConfig({ REPL_AUTH: "token", REPL_TOKENS: entries.join(" "), REPL_STORAGE: "memory" });
  const log = (): void => undefined;
  composition = await compose(config, log);
  const { service } = composition;
  app = createApp({ config, service, settings: replySettingsOf(config), log, bind: "127.0.0.1" });
});

after(async () => {
  await app?.close();
  await composition?.close(0);
});

async function post(token: string, method: string, params: object, session?: string): Promise<Reply> {
  const answer = await app.fetch(
    new Request(URL_MCP, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }),
  );
  return { status: answer.status, text: await answer.text(), session: answer.headers.get("mcp-session-id") };
}

const call = (token: string, name: string, args: object, session?: string): Promise<Reply> =>
  post(token, "tools/call", { name, arguments: args }, session);

/** Some arguments that a tool takes; those it does not know are left out. */
const ARGUMENTS = { code: "1", path: "x.py", start: 0, package_name: "pip", format: "txt", content: "x" };

type ListedTool = { name: string; inputSchema: { properties: Record<string, unknown> } };

async function toolsWithSessions(): Promise<readonly ListedTool[]> {
  const { text } = await post(tokens.bob, "tools/list", {});
  const json = /\{.*\}/s.exec(text)?.[0] ?? "";
  const { tools } = (JSON.parse(json) as { result: { tools: ListedTool[] } }).result;
  return tools.filter(({ name, inputSchema }) => name !== "create_session" && "session_id" in inputSchema.properties);
}

describe("another owner's session", () => {
  const secret = "alice-has-a-plan";

  before(async () => {
    await call(tokens.alice, "create_session", { session_id: secret });
    await call(tokens.alice, "run_code", { session_id: secret, code: "plan = 'swordfish'" });
  });

  it("answers every tool exactly as one that does not exist", async () => {
    const tools = await toolsWithSessions();
    assert.ok(tools.length >= 10);
    for (const { name, inputSchema } of tools) {
      const known = Object.entries(ARGUMENTS).filter(([key]) => key in inputSchema.properties);
      const ask = async (session_id: string): Promise<string> => {
        const { status, text } = await call(tokens.bob, name, { ...Object.fromEntries(known), session_id });
        // An install is for all of the owner's sessions, so it does not need one.
        if (name !== "install_package") assert.match(text, /SESSION_NOT_FOUND/, name);
        return `${status} ${text.replaceAll(session_id, "ID")}`;
      };
      assert.equal(await ask(secret), await ask("nobody-has-this"), name);
    }
  });

  it("answers every resource exactly as one that does not exist", async () => {
    for (const path of [
      "history.txt",
      "history.ipynb",
      "history.html",
      "history.json",
      "script.py",
      "blocks/0/output",
    ]) {
      const ask = async (id: string): Promise<string> => {
        const { status, text } = await post(tokens.bob, "resources/read", { uri: `repl://sessions/${id}/${path}` });
        assert.ok(!text.includes("swordfish"), path);
        return `${status} ${text.replaceAll(id, "ID")}`;
      };
      assert.equal(await ask(secret), await ask("nobody-has-this"), path);
    }
  });

  it("is in no list, and its name is free for others", async () => {
    const list = await call(tokens.bob, "list_sessions", {});
    assert.ok(!list.text.includes(secret));
    assert.ok(!(await post(tokens.bob, "resources/list", {})).text.includes(secret));
    assert.ok(!(await call(tokens.bob, "create_session", { session_id: secret })).text.includes("SESSION_EXISTS"));
    const mine = await call(tokens.bob, "run_code", { session_id: secret, code: "'plan' in globals()" });
    assert.match(mine.text, /False/);
    const theirs = await call(tokens.alice, "run_code", { session_id: secret, code: "plan" });
    assert.match(theirs.text, /swordfish/);
  });

  it("is not reached through the connection that its owner opened", async () => {
    const opened = await post(tokens.alice, "initialize", CAPABILITIES);
    assert.ok(opened.session);
    assert.equal((await call(tokens.bob, "list_sessions", {}, opened.session)).status, 404);
    assert.equal((await call("", "list_sessions", {}, opened.session)).status, 400);
  });
});

describe("within one connection", () => {
  it("each request has the rights of its own token", async () => {
    const { session } = await post(tokens.aliceReads, "initialize", CAPABILITIES);
    assert.ok(session);
    const args = { session_id: "rights", code: "6 * 7" };
    assert.equal((await call(tokens.aliceReads, "run_code", args, session)).status, 403);
    await call(tokens.alice, "create_session", { session_id: "rights" }, session);
    assert.match((await call(tokens.alice, "run_code", args, session)).text, /42/);
    assert.equal((await call(tokens.aliceReads, "run_code", args, session)).status, 403);
    assert.equal((await call(tokens.aliceReads, "get_history", { session_id: "rights" }, session)).status, 200);
  });
});
