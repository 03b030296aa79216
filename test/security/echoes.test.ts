import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TOOL_LIST } from "../../src/mcp/registry.ts";
import { makeTestBackend } from "../backends/subprocess-setup.ts";
import { makeApp, ORIGIN, type TestApp } from "./app-setup.ts";

/** Longer than anything that an error may repeat. */
const LONG = "x".repeat(20_000);
/** What an error may have: a sentence, the names that there are, and the beginning of what was wrong. */
const MOST = 1500;
/** Where it names a path, in text and in structured content: paths are told up to the length that they may have. */
const MOST_WITH_PATHS = 9000;
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

type Told = { readonly what: string; readonly body: string };

function long({ what, body }: Told): string[] {
  return body.length > MOST ? [`${what}: ${body.length} characters, ${body.slice(0, 100)}`] : [];
}

async function withApp(use: (subject: TestApp) => Promise<readonly Told[]>): Promise<void> {
  const subject = await makeApp();
  await subject.client().tool("create_session", { session_id: "a" });
  const told = await use(subject);
  await subject.close();
  assert.deepEqual(told.flatMap(long), []);
  assert.ok(told.length > 0);
}

describe("an error repeats no more than the beginning", () => {
  test("of any argument of any tool", () =>
    withApp(async (subject) => {
      const told: Told[] = [];
      for (const { name, inputSchema } of TOOL_LIST) {
        for (const argument of Object.keys(inputSchema.properties ?? {})) {
          for (const value of [LONG, [LONG], { [LONG]: LONG }]) {
            const session = "session_id" in (inputSchema.properties ?? {}) ? { session_id: "a" } : {};
            const reply = await subject.client().tool(name, { ...session, [argument]: value });
            // What ran is shown as it is.
            if (reply.isError)
              told.push({ what: `${name} ${argument}`, body: reply.text + JSON.stringify(reply.content) });
          }
        }
      }
      return told;
    }));
  test("of a path that no file has", async () => {
    const { backend, cleanUp } = await makeTestBackend();
    const subject = await makeApp({ backend });
    await subject.client().tool("create_session", { session_id: "a" });
    const calls: readonly [string, Record<string, unknown>][] = [
      ["create_session", { cwd: `/${LONG}` }],
      ["run_file", { session_id: "a", path: LONG }],
      ["read_file", { session_id: "a", path: LONG }],
      ["write_file", { session_id: "a", path: LONG, content: "1" }],
      ["list_files", { session_id: "a", path: LONG }],
      ["export_history", { session_id: "a", path: LONG }],
    ];
    for (const [name, args] of calls) {
      const { isError, text, content } = await subject.client().tool(name, args);
      const size = text.length + JSON.stringify(content).length;
      assert.ok(isError && size <= MOST_WITH_PATHS, `${name}: ${isError} ${size} ${text.slice(0, 300)}`);
    }
    await subject.close();
    await cleanUp();
  });

  test("of names: of tools, arguments, methods, prompts", () =>
    withApp(async (subject) => {
      const client = subject.client();
      return [
        { what: "tool", body: (await client.tool(LONG, {})).text },
        { what: "argument", body: (await client.tool("run_code", { [LONG]: 1, session_id: "a", code: "1" })).text },
        { what: "method", body: (await client.ask(LONG)).body },
        { what: "level", body: (await client.ask("logging/setLevel", { level: LONG })).body },
        { what: "prompt", body: (await client.ask("prompts/get", { name: LONG })).body },
      ];
    }));

  const uris = [
    "",
    "/a",
    `/${LONG}`,
    `/${LONG}/history.txt`,
    `/a/history.${LONG}`,
    `/a/files/${LONG}`,
    `/a/blocks/${LONG}`,
  ];
  for (const uri of uris) {
    test(`of the address of a resource: ${uri.slice(0, 20)}`, () =>
      withApp(async (subject) => [
        {
          what: uri.slice(0, 20),
          body: (await subject.client().ask("resources/read", { uri: `repl://sessions${uri}${LONG}` })).body,
        },
      ]));
  }

  test("of a header", () =>
    withApp(async (subject) => {
      const told: Told[] = [];
      const names = [
        "content-type",
        "accept",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "host",
      ];
      for (const name of [...names, "origin", "authorization", "last-event-id", "content-length", "cookie"]) {
        const headers = { ...JSON_HEADERS, [name]: LONG };
        const answer = await subject.send("/mcp", { method: "POST", headers, body: PING });
        told.push({ what: name, body: JSON.stringify([...answer.headers]) + (await answer.text()) });
      }
      return told;
    }));

  test("of a header of revision 2026-07-28, and of what its messages say of themselves", () =>
    withApp(async (subject) => {
      const told: Told[] = [];
      const meta = (version: string) => ({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      });
      const send = async (what: string, headers: Record<string, string>, version: string, name: string) => {
        const params = { name, arguments: {}, _meta: meta(version) };
        const usual = { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
        const init = { method: "POST", headers: { ...JSON_HEADERS, ...usual, ...headers }, body };
        told.push({ what, body: await (await subject.send("/mcp", init)).text() });
      };
      const revision = "2026-07-28";
      for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name"]) {
        await send(name, { [name]: LONG }, revision, "list_sessions");
      }
      await send("version in both", {}, LONG, "list_sessions");
      await send("version in the body", { "mcp-protocol-version": revision }, LONG, "list_sessions");
      await send("tool", {}, revision, LONG);
      await send("tool, and another in the header", { "mcp-name": "run_code" }, revision, LONG);
      const initialize = { protocolVersion: LONG, capabilities: {}, clientInfo: { name: LONG, version: LONG } };
      told.push({ what: "initialize", body: (await subject.client().ask("initialize", initialize)).body });
      return told;
    }));

  test("of a path, a query or a form", () =>
    withApp(async (subject) => {
      const told: Told[] = [];
      const form = { ...JSON_HEADERS, origin: ORIGIN, "content-type": "application/x-www-form-urlencoded" };
      const paths = [
        `/${LONG}`,
        `/mcp/${LONG}`,
        `/messages?sessionId=${LONG}`,
        `/s/${LONG}`,
        `/s/a/${LONG}`,
        `/s/a/blocks/${LONG}`,
      ];
      for (const path of [...paths, `/s/a/export.${LONG}`, `/.well-known/${LONG}`]) {
        for (const method of ["GET", "POST"]) {
          const body = method === "POST" ? { body: PING } : {};
          const answer = await subject.send(path, { method, headers: JSON_HEADERS, ...body });
          told.push({
            what: `${method} ${path.slice(0, 20)}`,
            body: JSON.stringify([...answer.headers]) + (await answer.text()),
          });
        }
      }
      for (const path of ["/sessions", "/s/a/run", "/login"]) {
        const body = new URLSearchParams({ session_id: LONG, code: "1", token: LONG, [LONG]: "1" }).toString();
        const answer = await subject.send(path, { method: "POST", headers: form, body });
        told.push({ what: `form ${path}`, body: JSON.stringify([...answer.headers]) + (await answer.text()) });
      }
      return told;
    }));
});
