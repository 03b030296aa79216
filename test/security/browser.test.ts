import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { runToEnd, SERVER_COMMAND } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { makeApp, ORIGIN, type TestApp } from "./app-setup.ts";

const PAGE = "https://app.example";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

function preflight(subject: TestApp, origin: string, headers: string): Promise<Response> {
  return subject.send("/mcp", {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": headers },
  });
}

function list(response: Response, name: string): string[] {
  return (response.headers.get(name) ?? "").split(",").map((item) => item.trim().toLowerCase());
}

describe("an MCP client in a web page", () => {
  let subject: TestApp;
  before(async () => {
    subject = await makeApp({
      tokens: ["alice"],
      settings: { REPL_ALLOWED_ORIGINS: `${PAGE}, http://localhost:5173` },
    });
  });
  after(() => subject.close());

  for (const [era, headers] of [
    ["2025", ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"]],
    ["2026", ["authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-code"]],
  ] as const) {
    test(`of the ${era} revisions may send its headers from a configured origin`, async () => {
      const response = await preflight(subject, PAGE, headers.join(","));
      assert.equal(response.status, 204);
      assert.equal(response.headers.get("access-control-allow-origin"), PAGE);
      const allowed = list(response, "access-control-allow-headers");
      assert.deepEqual(
        headers.filter((name) => !allowed.includes(name)),
        [],
      );
      assert.deepEqual(
        ["post", "get", "delete"].filter((name) => !list(response, "access-control-allow-methods").includes(name)),
        [],
      );
    });
  }

  test("may read the answer and the headers that it needs, those of a refusal too", async () => {
    const headers = { origin: PAGE };
    const [served, refused] = [
      await subject.client("alice", headers).ask("ping"),
      await subject.client(undefined, headers).ask("ping"),
    ];
    assert.deepEqual([served.status, refused.status], [200, 401]);
    for (const answer of [served, refused]) {
      assert.equal(answer.headers.get("access-control-allow-origin"), PAGE);
      assert.match(answer.headers.get("vary") ?? "", /origin/i);
      const exposed = (answer.headers.get("access-control-expose-headers") ?? "").toLowerCase();
      for (const name of [
        "mcp-session-id",
        "mcp-protocol-version",
        "www-authenticate",
        "retry-after",
        "x-request-id",
      ]) {
        assert.ok(exposed.includes(name), name);
      }
    }
  });

  test("from another origin gets nothing: neither a preflight nor an answer", async () => {
    for (const origin of ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example"]) {
      const answers = [
        await preflight(subject, origin, "content-type"),
        await subject.send("/mcp", {
          method: "POST",
          headers: { origin, "content-type": "application/json" },
          body: PING,
        }),
        await subject.send("/sse", { headers: { origin } }),
      ];
      for (const answer of answers) {
        assert.equal(answer.status, 403, origin);
        assert.equal(answer.headers.get("access-control-allow-origin"), null);
      }
    }
  });

  test("never gets to send credentials, and any origin only where a token is asked for", async () => {
    const open = await makeApp({ tokens: ["alice"], settings: { REPL_ALLOWED_ORIGINS: "*" } });
    for (const app of [subject, open]) {
      const answers = [
        await preflight(app, PAGE, "content-type"),
        await app.send("/mcp", { headers: { origin: PAGE } }),
      ];
      for (const answer of answers) {
        assert.equal(answer.headers.get("access-control-allow-credentials"), null);
        assert.notEqual(answer.headers.get("access-control-allow-origin"), "*");
      }
    }
    await open.close();
    await assert.rejects(makeApp({ settings: { REPL_ALLOWED_ORIGINS: "*" } }), {
      message: /^REPL_ALLOWED_ORIGINS: .*needs authentication/,
    });
  });
});

describe("every answer", () => {
  test("carries the security headers, and a request id of ours", async () => {
    const subject = await makeApp({
      tokens: ["alice"],
      settings: { REPL_RATE_PER_MINUTE: "1", REPL_PUBLIC_URL: ORIGIN },
    });
    const alice = subject.client("alice", { "x-request-id": "chosen-by-the-client" });
    const answers = [
      await alice.get("/mcp"),
      await alice.get("/mcp"),
      await subject.client().get("/mcp"),
      await subject.send("/nowhere"),
      await subject.send("/mcp", { method: "PUT" }),
      await subject.send("/healthz"),
      await subject.send("/mcp", { headers: { origin: "https://evil.example" } }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [405, 429, 401, 404, 405, 200, 403],
    );
    for (const { headers } of answers) {
      assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("x-frame-options"), "DENY");
      assert.equal(headers.get("referrer-policy"), "no-referrer");
      assert.equal(headers.get("cache-control"), "no-store");
      assert.match(headers.get("strict-transport-security") ?? "", /max-age=\d{7,}/);
      assert.match(headers.get("x-request-id") ?? "", UUID);
    }
    assert.equal(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size, answers.length);
    await subject.close();
  });
});

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** `fetch` does not send a Host header of our choice. */
async function sendTo(server: ServerProcess, headers: Record<string, string>): Promise<Answer> {
  const sent = request(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  });
  sent.end(PING);
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe("a server on this machine", () => {
  let server: ServerProcess;
  before(async () => {
    server = await startServer({ REPL_ALLOWED_HOSTS: "repl.lan", REPL_ALLOWED_ORIGINS: PAGE });
  });
  after(() => server.stop());

  test("answers under its own names and configured ones only, so that no page can rebind a name to it", async () => {
    const { port } = server.url;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "repl.lan", `REPL.lan:${port}`]) {
      assert.equal((await sendTo(server, { host })).status, 200, host);
    }
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "repl.lan.evil.example",
      "127.0.0.1.evil.example",
      "local host",
    ]) {
      const refused = await sendTo(server, { host });
      assert.ok([400, 403].includes(refused.status), host);
      if (refused.status === 403) assert.match(refused.body, /REPL_ALLOWED_HOSTS can allow it/);
    }
  });

  test("answers pages of its own machine and of configured origins only", async () => {
    for (const origin of [PAGE, "http://localhost:3000", "http://127.0.0.1:9", `http://[::1]:80`.replace(":80", "")]) {
      const served = await sendTo(server, { origin });
      assert.equal(served.status, 200, origin);
      assert.equal(served.headers["access-control-allow-origin"], origin);
    }
    for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "file://"]) {
      const refused = await sendTo(server, { origin });
      assert.equal(refused.status, 403, origin);
      assert.match(refused.body, /REPL_ALLOWED_ORIGINS can allow it/);
    }
  });
});

describe("a server that is not set up soundly does not start", () => {
  const cases = {
    "every page may call, and nobody is asked for a token": { REPL_ALLOWED_ORIGINS: "*" },
    "an allowed host with a port": { REPL_ALLOWED_HOSTS: "repl.lan:8000" },
    "an allowed origin with a path": { REPL_ALLOWED_ORIGINS: "https://app.example/page" },
    "an open door to code": { MCP_HOST: "0.0.0.0" },
    "an open door to E2B": { MCP_HOST: "0.0.0.0", REPL_BACKEND: "e2b", E2B_API_KEY: "test" },
    "tokens, but no authentication": { REPL_TOKENS: `a:${"0".repeat(64)}` },
  };
  for (const [name, env] of Object.entries(cases)) {
    test(`${name}: one sentence, exit code 2`, async () => {
      const end = await runToEnd(SERVER_COMMAND, {
        env: { MCP_TRANSPORT: "streamable-http", MCP_PORT: "0", REPL_STORAGE: "memory", ...env },
      });
      assert.equal(end.code, 2, end.stderr);
      assert.match(end.stderr, /^edge-python-repl: [^\n]+\n$/);
      assert.match(end.stderr, /REPL_ALLOWED_|MCP_HOST=0\.0\.0\.0|REPL_TOKENS/);
    });
  }
});
