import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createStorage, type Storage } from "unstorage";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { runToEnd, SERVER_COMMAND } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { makeApp } from "./app-setup.ts";
import { type HttpClient, httpClient } from "./http-client.ts";

/** All texts of the files below a folder, names included. */
async function textsBelow(folder: string): Promise<string> {
  const parts: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    parts.push(name);
    if ((await stat(path)).isDirectory()) parts.push(await textsBelow(path));
    else parts.push(await readFile(path, "latin1"));
  }
  return parts.join("\n");
}

describe("secrets of a server", () => {
  const token = newToken();
  const secrets = {
    token,
    "API key": `key-${randomBytes(12).toString("hex")}`,
    "seal key": randomBytes(32).toString("base64"),
    "template's name": `template-${randomBytes(8).toString("hex")}`,
  };
  let folder: string;
  let server: ServerProcess;
  let client: HttpClient;
  const replies: string[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "secrets-"));
    server = await startServer({
      REPL_AUTH: "token",
      REPL_TOKENS: `alice:${toHex(await sha256(token))}`,
      REPL_STORAGE: `fs:${join(folder, "history")}`,
      REPL_SEAL_KEY: secrets["seal key"],
      REPL_E2B_TEMPLATE: secrets["template's name"],
      E2B_API_KEY: secrets["API key"],
    });
    client = httpClient(server.url, { authorization: `Bearer ${token}` });
    const calls: [string, Record<string, unknown>][] = [
      ["create_session", { session_id: "a" }],
      ["run_code", { session_id: "a", code: "import os; dict(os.environ)" }],
      ["run_code", { session_id: "a", code: "import subprocess; subprocess.run(['env'])" }],
      [
        "run_code",
        { session_id: "a", code: "open('/proc/self/environ').read(), open(f'/proc/{os.getppid()}/environ').read()" },
      ],
      ["run_code", { session_id: "a", code: "raise ValueError(sorted(os.environ))" }],
      ["run_file", { session_id: "a", path: "/no/such/file.py" }],
      ["install_package", { package_name: "--index-url=https://user:pass@host.invalid/" }],
      ["get_history", { session_id: "a" }],
      ["export_history", { session_id: "a", format: "json" }],
      ["list_sessions", { token: "x" }],
    ];
    for (const [name, args] of calls) {
      const { status, headers, text } = await client.tool(name, args);
      replies.push([status, ...[...headers].flat(), text].join("\n"));
    }
    for (const path of ["/", "/healthz", "/s/a", "/.well-known/oauth-protected-resource"]) {
      const response = await client.get(path);
      replies.push(`${[...response.headers].flat().join("\n")}\n${await response.text()}`);
    }
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [name, secret] of Object.entries(secrets)) {
    test(`the ${name} is in no reply, no history, no page`, () => {
      assert.ok(replies.length > 10 && replies.join("").includes("PATH"), "Nothing was asked");
      assert.ok(!replies.join("\n").includes(secret));
    });
    test(`the ${name} is not in the store`, async () => {
      const texts = await textsBelow(folder);
      assert.ok(texts.includes("os.environ"), "Nothing was stored");
      assert.ok(!texts.includes(secret));
    });
    test(`the ${name} is not in the log`, () => {
      assert.ok(server.stderr().includes('"tool":"run_code"'), "Nothing was logged");
      assert.ok(!server.stderr().includes(secret));
    });
  }

  test("no setting of ours is in a kernel's environment, not even by its name", () => {
    assert.doesNotMatch(replies.slice(1, 5).join("\n"), /\b(REPL|MCP|E2B|EDGE_REPL)_[A-Z]/);
  });

  test("the store is for its user's eyes only", async () => {
    assert.equal((await stat(join(folder, "history"))).mode & 0o077, 0);
  });
});

describe("secrets in settings that are not sound", () => {
  const secret = "sesame-1234";
  const cases: Record<string, Record<string, string>> = {
    REPL_STORAGE: { REPL_STORAGE: `redis://user:${secret}@127.0.0.1:1/0` },
    REPL_SEAL_KEY: { REPL_SEAL_KEY: secret },
    REPL_TOKENS: { REPL_AUTH: "token", REPL_TOKENS: `alice:${secret}` },
    REPL_OAUTH_INTROSPECTION_URL: {
      REPL_AUTH: "oauth",
      REPL_OAUTH_ISSUER: "https://issuer.example",
      REPL_PUBLIC_URL: "https://repl.example",
      REPL_OAUTH_INTROSPECTION_URL: `https://client:${secret}@issuer.example/introspect`,
      REPL_OAUTH_CLIENT_ID: "id",
      REPL_OAUTH_CLIENT_SECRET: secret,
    },
    REPL_OAUTH_CLIENT_SECRET: {
      REPL_AUTH: "oauth",
      REPL_OAUTH_ISSUER: "https://issuer.example",
      REPL_PUBLIC_URL: "https://repl.example",
      REPL_OAUTH_CLIENT_SECRET: secret,
    },
  };
  for (const [name, env] of Object.entries(cases)) {
    test(`${name}: the start is refused without a word of them`, async () => {
      const end = await runToEnd(SERVER_COMMAND, { env: { MCP_TRANSPORT: "streamable-http", MCP_PORT: "0", ...env } });
      assert.equal(end.code, 2, end.stderr);
      assert.match(end.stderr, new RegExp(name));
      assert.ok(!end.stderr.includes(secret), end.stderr);
    });
  }
});

describe("tokens of sandboxes", () => {
  let standIn: StandIn;
  before(async () => {
    standIn = await startStandIn();
  });
  after(() => standIn.close());

  /** Runs code in a sandbox and returns all that was stored, and the tokens that the service handed out. */
  async function use(sealKey: string | undefined): Promise<{ stored: string; tokens: string[]; log: string }> {
    const { apiKey, apiUrl, sandboxUrl } = standIn;
    const storage = createStorage();
    const backend = createE2bBackend({ apiKey, apiUrl, sandboxUrl, ...(sealKey === undefined ? {} : { sealKey }) });
    const subject = await makeApp({ tokens: ["alice"], backend, storage });
    await subject.client("alice").tool("create_session", { session_id: "a" });
    await subject.client("alice").run("a", "import os; sorted(os.environ)");
    const stored = await dump(storage);
    const tokens = [...standIn.sandboxes.values()].flatMap(({ envdToken, trafficToken }) => [envdToken, trafficToken]);
    await subject.client("alice").tool("delete_session", { session_id: "a" });
    await subject.close();
    return {
      stored,
      tokens: tokens.filter((token) => token !== undefined && token !== null),
      log: subject.log.join(""),
    };
  }

  for (const [how, key] of [
    ["sealed, with a key", randomBytes(32).toString("base64")],
    ["not at all, without one", undefined],
  ] as const) {
    test(`are stored ${how}`, async () => {
      const { stored, tokens, log } = await use(key);
      assert.ok(tokens.length > 0 && stored.includes("sandboxId"), "No sandbox was used");
      for (const token of [...tokens, standIn.apiKey]) {
        assert.ok(!stored.includes(token) && !log.includes(token));
      }
      assert.equal(/"tokens":null/.test(stored), key === undefined);
    });
  }
});

async function dump(storage: Storage): Promise<string> {
  const items = await storage.getItems(await storage.getKeys());
  return JSON.stringify(items);
}
