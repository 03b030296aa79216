import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import worker, { OwnerObject } from "../../adapters/cloudflare.ts";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";

/** Headers that only the Worker sets. */
const INTERNAL = ["x-edge-repl-visitor", "x-edge-repl-sweep", "x-edge-repl-principal"];
const POST = {
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "list_sessions", arguments: {} },
  }),
};

type Forwarded = { readonly owner: string; readonly request: Request };

/** The Worker's environment, with objects that only note what reaches them. */
async function makeEnv(): Promise<{
  env: Parameters<typeof worker.fetch>[1];
  tokens: Record<string, string>;
  forwarded: Forwarded[];
}> {
  const tokens = { alice: newToken(), bob: newToken() };
  const entries = await Promise.all(
    Object.entries(tokens).map(async ([name, token]) => `${name}:${toHex(await sha256(token))}`),
  );
  const forwarded: Forwarded[] = [];
  const stub = (owner: string) => ({
    fetch: async (request: Request): Promise<Response> => {
      forwarded.push({ owner, request });
      return Response.json({ owner });
    },
  });
  const env = {
    REPL_AUTH: "token",
    REPL_TOKENS: entries.join(" "),
    REPL_SEAL_KEY: randomBytes(32).toString("base64"),
    REPL_LOG: "off",
    E2B_API_KEY: "none",
    OWNERS: { idFromName: (name: string) => name, get: (id: unknown) => stub(String(id)) },
  };
  return { env, tokens, forwarded };
}

function ask(
  env: Parameters<typeof worker.fetch>[1],
  path: string,
  headers: Record<string, string>,
  init: RequestInit = {},
) {
  return worker.fetch(
    new Request(`https://repl.example${path}`, { ...init, headers: { ...init.headers, ...headers } }),
    env,
  );
}

describe("the Worker", () => {
  test("hands a request to the object of the token's owner, whoever else its headers name", async () => {
    const { env, tokens, forwarded } = await makeEnv();
    for (const name of ["alice", "bob"]) {
      await ask(env, "/mcp", { authorization: `Bearer ${tokens[name]}` }, POST);
    }
    const [alices, bobs] = forwarded.map(({ owner }) => owner);
    assert.notEqual(alices, bobs);
    const principal = { owner: alices, name: "alice", scopes: ["repl:read", "repl:run"] };
    const claims = [
      JSON.stringify({ principal }),
      JSON.stringify(principal),
      String(alices),
      JSON.stringify({ owner: alices }),
    ];
    for (const claim of claims) {
      for (const header of INTERNAL) {
        forwarded.length = 0;
        await ask(env, "/mcp", { authorization: `Bearer ${tokens.bob}`, [header]: encodeURIComponent(claim) }, POST);
        await ask(env, "/", {
          authorization: `Bearer ${tokens.bob}`,
          [header]: encodeURIComponent(claim),
          accept: "text/html",
        });
        assert.deepEqual(
          forwarded.map(({ owner }) => owner),
          [bobs, bobs],
          header,
        );
        for (const { request } of forwarded) {
          const visitor = JSON.parse(decodeURIComponent(request.headers.get("x-edge-repl-visitor") ?? ""));
          assert.equal(visitor.principal.owner, bobs);
          assert.equal(visitor.principal.name, "bob");
          assert.equal(request.headers.get("x-edge-repl-sweep"), null);
        }
      }
    }
  });

  test("hands nothing on without a token, whatever the headers claim", async () => {
    const { env, forwarded } = await makeEnv();
    const claim = encodeURIComponent(JSON.stringify({ principal: { owner: "x", name: "x", scopes: ["repl:run"] } }));
    for (const header of INTERNAL) {
      for (const path of ["/mcp", "/sse", "/messages?sessionId=1", "/s/a", "/"]) {
        const { status } = await ask(env, path, { [header]: claim });
        assert.ok([302, 303, 401].includes(status), `${path}: ${status}`);
      }
    }
    assert.deepEqual(forwarded, []);
  });

  test("cannot be taken for an object's own address", async () => {
    const { env, tokens, forwarded } = await makeEnv();
    const headers = { authorization: `Bearer ${tokens.bob}`, "x-edge-repl-sweep": encodeURIComponent('{"owner":"x"}') };
    for (const host of ["owner", "owner.internal"]) {
      await worker.fetch(new Request(`https://${host}/`, { headers }), env);
    }
    assert.equal(forwarded.length, 2);
    for (const { request } of forwarded) assert.equal(request.headers.get("x-edge-repl-sweep"), null);
  });

  test("answers refusals itself, with the headers that browsers need", async () => {
    const { env } = await makeEnv();
    const page = "https://repl.example";
    const refused = await ask(env, "/mcp", { origin: page }, POST);
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get("access-control-allow-origin"), page);
    assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer /);
    assert.match(refused.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    assert.equal(refused.headers.get("x-content-type-options"), "nosniff");
    assert.equal((await ask(env, "/mcp", { origin: "https://evil.example" }, POST)).status, 403);
  });

  test("without authentication serves nobody but this machine", async () => {
    const { env } = await makeEnv();
    const open = { ...env, REPL_AUTH: "none", REPL_TOKENS: "" };
    const refused = await worker.fetch(new Request("https://repl.example.workers.dev/mcp", POST), open);
    assert.ok(refused.status >= 400, String(refused.status));
    assert.equal((await worker.fetch(new Request("http://127.0.0.1:8787/mcp", POST), open)).status, 200);
  });
});

test("an object without a visitor from the Worker serves nobody", async () => {
  const { env } = await makeEnv();
  const items = new Map<string, unknown>();
  const storage = {
    get: async (key: string) => items.get(key),
    put: async (key: string, value: unknown) => void items.set(key, value),
    delete: async (key: string) => items.delete(key),
    list: async () => new Map(items),
  };
  const object = new OwnerObject({ storage, waitUntil: () => undefined } as never, env);
  for (const path of ["/mcp", "/", "/s/a"]) {
    const response = await object.fetch(
      new Request(`https://repl.example${path}`, { headers: { accept: "text/html" } }),
    );
    assert.equal(response.status, 500, path);
  }
});
