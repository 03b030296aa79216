import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { until } from "../helpers/process.ts";
import { startWorkerd, type Workerd } from "../runtimes/workerd.ts";
import { tokenIn } from "./site.ts";

describe("the pages on Workers", () => {
  const token = newToken();
  let e2b: StandIn;
  let worker: Workerd;
  let cookie = "";

  before(async () => {
    e2b = await startStandIn();
    worker = await startWorkerd({ env: await settings({ REPL_SEAL_KEY: randomBytes(32).toString("base64") }) });
  });
  after(async () => {
    await worker?.stop();
    await e2b?.close();
  });

  async function settings(more: Record<string, string>): Promise<Record<string, string>> {
    return {
      REPL_AUTH: "token",
      REPL_TOKENS: `alice:${toHex(await sha256(token))}`,
      E2B_API_KEY: e2b.apiKey,
      E2B_API_URL: e2b.apiUrl,
      E2B_SANDBOX_URL: e2b.sandboxUrl,
      ...more,
    };
  }

  async function ask(path: string, form?: Record<string, string>, at: URL = worker.url) {
    const { origin } = at;
    const headers = { accept: "text/html", cookie, ...(form ? { origin, "sec-fetch-site": "same-origin" } : {}) };
    const body = form ? { method: "POST", body: new URLSearchParams(form) } : {};
    const response = await fetch(new URL(path, at), { headers, redirect: "manual", ...body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  it("show the login form and their style to everybody, without asking anybody's object", async () => {
    const away = await ask("/s/demo");
    assert.deepEqual([away.status, away.headers.get("location")], [303, "/login?next=%2Fs%2Fdemo"]);
    const { text, headers } = await ask("/login");
    assert.match(text, /<label for="token">/);
    assert.match(headers.get("content-security-policy") ?? "", /script-src 'self'/);
    const style = /href="(\/assets\/[^"]+)"/.exec(text)?.[1] ?? "";
    assert.equal((await ask(style)).headers.get("content-type"), "text/css; charset=utf-8");
  });

  it("take a token for a cookie, with which the owner's object is asked", async () => {
    const { status, headers } = await ask("/login?next=/", { token });
    assert.equal(status, 303);
    cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
    assert.match((await ask("/")).text, /<span>alice<\/span>/);
  });

  it("make a session, run code in a sandbox and show what came of it", async () => {
    const csrf = tokenIn((await ask("/")).text);
    assert.equal((await ask("/sessions", { csrf, session_id: "demo" })).headers.get("location"), "/s/demo");
    assert.equal((await ask("/s/demo/run", { csrf, code: "6 * 7" })).status, 303);
    await until(async () => /<pre class="text value">42<\/pre>/.test((await ask("/s/demo")).text), "the value", 20_000);
    assert.equal((await ask("/s/demo/run", { csrf: "x", code: "1" })).status, 403);
    const live = await ask("/s/demo/live?from=0");
    assert.equal(JSON.parse(live.text).items.length, 1);
  });

  it("keep the login where another isolate answers", async () => {
    await worker.restart();
    assert.match((await ask("/")).text, /href="\/s\/demo"/);
  });

  it("log out", async () => {
    const csrf = tokenIn((await ask("/")).text);
    const { headers } = await ask("/logout", { csrf });
    assert.match(headers.get("set-cookie") ?? "", /Max-Age=0/);
  });

  it("say what they need where isolates would not know each other's logins", async () => {
    const bare = await startWorkerd({ env: await settings({}) });
    try {
      const { status, text } = await ask("/login", undefined, bare.url);
      assert.equal(status, 503);
      assert.match(text, /set REPL_SEAL_KEY/);
    } finally {
      await bare.stop();
    }
  });
});
