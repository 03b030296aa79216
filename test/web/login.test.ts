import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { ownerOf } from "../../src/auth/principal.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { type Site, startSite, tokenIn, visit } from "./site.ts";

const tokens = { alice: newToken(), reader: newToken(), runner: newToken(), bob: newToken() };
let site: Site;

before(async () => {
  const hash = async (token: string): Promise<string> => toHex(await sha256(token));
  const entries = [
    `alice:${await hash(tokens.alice)}`,
    `alice:${await hash(tokens.reader)}:read`,
    `alice:${await hash(tokens.runner)}:run`,
    `bob:${await hash(tokens.bob)}`,
  ];
  site = await startSite({ REPL_AUTH: "token", REPL_TOKENS: entries.join(" ") });
  const alice = { owner: await ownerOf(["token", "alice"]), name: "alice" };
  await site.service.create(alice, { id: "private" });
  const signal = new AbortController().signal;
  await site.service.run(alice, "private", { kind: "code", code: "1 + 1" }, { signal });
});
after(() => site?.close());

const logIn = (token: string, more: { next?: string; headers?: Record<string, string> } = {}) =>
  visit(site, `/login?next=${encodeURIComponent(more.next ?? "/")}`, { form: { token }, headers: more.headers ?? {} });

async function cookieOf(token: string): Promise<Record<string, string>> {
  const { headers } = await logIn(token);
  return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}

describe("the login form", () => {
  it("stands before every page, and leads back to it", async () => {
    const { status, location } = await visit(site, "/s/private");
    assert.deepEqual([status, location], [303, "/login?next=%2Fs%2Fprivate"]);
    const form = await visit(site, location ?? "");
    assert.equal(form.status, 200);
    assert.match(form.text, /<label for="token">Token<\/label>/);
    assert.match(form.text, /type="password"/);
    const { status: after, location: to } = await logIn(tokens.alice, { next: "/s/private" });
    assert.deepEqual([after, to], [303, "/s/private"]);
  });

  it("gives a cookie that scripts and other sites cannot use", async () => {
    const { headers } = await logIn(tokens.alice);
    assert.match(
      headers.get("set-cookie") ?? "",
      /^repl_login=[^;]+; Max-Age=28(?:800|799); Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it("refuses a token that is not known, and keeps it out of the page", async () => {
    const wrong = newToken();
    const { status, text, headers } = await logIn(wrong);
    assert.equal(status, 403);
    assert.match(text, /role="alert">This token is not known, or has expired\./);
    assert.ok(!text.includes(wrong));
    assert.equal(headers.get("set-cookie"), null);
  });

  it("takes no login that another site sends", async () => {
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "http://127.0.0.1:1" }]) {
      const answer = await logIn(tokens.alice, { headers });
      assert.equal(answer.status, 403);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
  });

  it("leads nowhere else", async () => {
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "/s/../x",
      "/s/a?b",
      "javascript:1",
    ]) {
      assert.equal((await logIn(tokens.alice, { next })).location, "/", next);
    }
  });

  it("asks a browser that came by a link of another site to come again, because it held back the cookie", async () => {
    const { status, text } = await visit(site, "/s/private", { headers: { "sec-fetch-site": "cross-site" } });
    assert.equal(status, 200);
    assert.match(text, /<meta http-equiv="refresh" content="0;url=\/s\/private">/);
  });
});

describe("a visitor with a login", () => {
  it("sees the sessions of the token's owner only", async () => {
    const mine = await visit(site, "/", { headers: await cookieOf(tokens.alice) });
    assert.match(mine.text, /href="\/s\/private"/);
    assert.match(mine.text, /<span>alice<\/span>/);
    const bob = await cookieOf(tokens.bob);
    assert.doesNotMatch((await visit(site, "/", { headers: bob })).text, /private/);
    for (const path of ["/s/private", "/s/private/live", "/s/private/export/txt", "/s/private/blocks/0/output"]) {
      assert.equal((await visit(site, path, { headers: bob })).status, 404, path);
    }
  });

  it("may change what the token allows, and sees no button for the rest", async () => {
    const reader = await cookieOf(tokens.reader);
    const page = await visit(site, "/s/private", { headers: reader });
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /<textarea|formaction|Delete…/);
    assert.match(page.text, /Export/);
    const form = { csrf: tokenIn(page.text), code: "1" };
    const refused = await visit(site, "/s/private/run", { form, headers: reader });
    assert.deepEqual([refused.status, /lacks the scope repl:run/.test(refused.text)], [403, true]);
    const runner = await visit(site, "/", { headers: await cookieOf(tokens.runner) });
    assert.deepEqual([runner.status, /lacks the scope repl:read/.test(runner.text)], [403, true]);
  });

  it("sends forms with a proof that only fits this login", async () => {
    const alice = await cookieOf(tokens.alice);
    const proof = async (headers: Record<string, string>) => tokenIn((await visit(site, "/", { headers })).text);
    const run = (csrf: string) => visit(site, "/s/private/run", { form: { csrf, code: "1" }, headers: alice });
    assert.equal((await run(await proof(alice))).status, 303);
    assert.equal((await run(await proof(await cookieOf(tokens.bob)))).status, 403);
    assert.equal((await run(await proof(await cookieOf(tokens.alice)))).status, 403, "another login of the same token");
  });

  it("logs out", async () => {
    const headers = await cookieOf(tokens.alice);
    const csrf = tokenIn((await visit(site, "/", { headers })).text);
    const forged = await visit(site, "/logout", { form: { csrf: "x" }, headers });
    assert.equal(forged.headers.get("set-cookie"), null);
    const answer = await visit(site, "/logout", { form: { csrf }, headers });
    assert.equal(answer.location, "/login");
    assert.match(answer.headers.get("set-cookie") ?? "", /^repl_login=; Max-Age=0;/);
    assert.equal(answer.headers.get("clear-site-data"), '"cache"');
  });

  it("is told by scripts' answers, too, when the login has ended", async () => {
    const { status, text } = await visit(site, "/s/private/live", { headers: { accept: "application/json" } });
    assert.deepEqual([status, JSON.parse(text).error], [401, "You are not logged in, or no longer"]);
  });

  it("cannot use the cookie for MCP", async () => {
    const headers = { ...(await cookieOf(tokens.alice)), "content-type": "application/json" };
    assert.equal((await visit(site, "/mcp", { method: "POST", headers })).status, 401);
  });
});

describe("a program with a token", () => {
  it("gets pages and files by its header, and needs no proof", async () => {
    const headers = { authorization: `Bearer ${tokens.alice}` };
    assert.match((await visit(site, "/s/private/export/txt", { headers })).text, /1 \+ 1/);
    const form = { code: "2 + 2" };
    assert.equal((await visit(site, "/s/private/run", { form, headers })).status, 303);
    assert.equal((await visit(site, "/", { headers: { authorization: "Bearer x" } })).status, 401);
  });
});

describe("a server with OAuth", () => {
  it("takes an access token in the form", async () => {
    const oauth = await startSite({
      REPL_AUTH: "oauth",
      REPL_PUBLIC_URL: "https://repl.example.com",
      REPL_OAUTH_ISSUER: "https://id.example.com",
    });
    try {
      const { text } = await visit(oauth, "/login");
      assert.match(text, /An access token for this server, from your identity provider/);
    } finally {
      await oauth.close();
    }
  });
});
