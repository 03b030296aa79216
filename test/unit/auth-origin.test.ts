import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkHost, checkOrigin, isSameOrigin, networkOptions } from "../../src/auth/origin.ts";
import { applyCors, applySecurityHeaders, corsPreflight } from "../../src/auth/response-headers.ts";

const request = (headers: Record<string, string>, method = "POST"): Request =>
  new Request("http://127.0.0.1:8000/mcp", { method, headers });
const loopback = networkOptions({ bind: "127.0.0.1", authenticated: false });
const hosted = networkOptions({
  bind: "0.0.0.0",
  publicUrl: "https://repl.example.com",
  hosts: ["Internal.example"],
  origins: ["https://app.example.com"],
  authenticated: true,
});

describe("the Host header", () => {
  it("may name this machine on a loopback bind, with any port", () => {
    for (const host of ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000", "LOCALHOST:1"]) {
      assert.equal(checkHost(request({ host }), loopback), undefined, host);
      assert.equal(checkHost(request({ host }), loopback), undefined, `${host} again`);
    }
  });

  it("may name nothing else there", () => {
    for (const host of [
      "evil.example",
      "evil.example:8000",
      "localhost.evil.example",
      "localhost.",
      "127.0.0.1.evil.example",
      "localhost:80@evil.example",
      "localhost, localhost",
      "localhost:abc",
      "127.1",
      "0x7f000001",
      "[::1",
      "",
    ]) {
      const answer = checkHost(request({ host }), loopback);
      assert.equal(answer?.status, 403, JSON.stringify(host));
    }
  });

  it("counts as the URL's when there is none", () => {
    assert.equal(checkHost(new Request("http://localhost:1/mcp"), loopback), undefined);
    assert.equal(checkHost(new Request("http://evil.example/mcp"), loopback)?.status, 403);
  });

  it("may be the public one and those configured, elsewhere", () => {
    for (const host of ["repl.example.com", "internal.example:8080", "localhost:8000"]) {
      assert.equal(checkHost(request({ host }), hosted), undefined, host);
    }
    assert.equal(checkHost(request({ host: "10.0.0.1" }), hosted)?.status, 403);
    const open = networkOptions({ bind: "0.0.0.0", authenticated: true });
    assert.equal(checkHost(request({ host: "10.0.0.1" }), open), undefined);
  });
});

describe("the Origin header", () => {
  it("may be missing, ours, or of this machine on a loopback bind", () => {
    assert.equal(checkOrigin(request({ host: "localhost:8000" }), loopback), undefined);
    for (const origin of ["http://localhost:6274", "http://127.0.0.1:8000", "http://[::1]:1"]) {
      assert.equal(checkOrigin(request({ origin, host: "localhost:8000" }), loopback), undefined, origin);
    }
    const behindProxy = request({ origin: "https://repl.example.com", host: "repl.example.com" });
    assert.equal(checkOrigin(behindProxy, hosted), undefined);
    assert.equal(checkOrigin(request({ origin: "https://app.example.com" }), hosted), undefined);
  });

  it("may be of no other page", () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://localhost.evil.example",
      "http://evil.example#localhost",
      "http://localhost@evil.example",
      "http://evil.example@localhost",
      "http://localhost:6274/",
      "HTTP://localhost:6274",
      "chrome-extension://localhost",
      "https://app.example.com.evil.example",
      "file://",
      "*",
    ]) {
      assert.equal(checkOrigin(request({ origin, host: "localhost:8000" }), loopback)?.status, 403, origin);
      assert.equal(checkOrigin(request({ origin, host: "repl.example.com" }), hosted)?.status, 403, origin);
    }
    const local = request({ origin: "http://localhost:6274", host: "repl.example.com" });
    assert.equal(checkOrigin(local, hosted)?.status, 403);
  });

  it("may be any only with authentication", () => {
    const input = { bind: "127.0.0.1", origins: ["*"] };
    assert.throws(() => networkOptions({ ...input, authenticated: false }), /every web page could run code/);
    const open = networkOptions({ ...input, authenticated: true });
    assert.equal(checkOrigin(request({ origin: "https://any.example" }), open), undefined);
  });

  it("may be a browser extension's when configured", () => {
    const options = networkOptions({ bind: "127.0.0.1", origins: ["moz-extension://abc"], authenticated: false });
    assert.equal(checkOrigin(request({ origin: "moz-extension://abc", host: "localhost" }), options), undefined);
    assert.equal(checkOrigin(request({ origin: "moz-extension://def", host: "localhost" }), options)?.status, 403);
  });

  it("tells a form of our own page from another's", () => {
    const own = { host: "repl.example.com", origin: "https://repl.example.com" };
    assert.equal(isSameOrigin(request(own), hosted), true);
    assert.equal(isSameOrigin(request({ ...own, "sec-fetch-site": "same-origin" }), hosted), true);
    assert.equal(isSameOrigin(request({ ...own, "sec-fetch-site": "cross-site" }), hosted), false);
    assert.equal(isSameOrigin(request({ ...own, origin: "https://app.example.com" }), hosted), false);
    assert.equal(isSameOrigin(request({ host: own.host }), hosted), false);
    const proxied = request({ host: "internal.example", origin: "https://repl.example.com" });
    assert.equal(isSameOrigin(proxied, hosted), true);
  });

  it("is not read from settings that are not sound", () => {
    for (const origins of [["app.example.com"], ["https://app.example.com/"], ["https://u@x"], ["https://a b"]]) {
      assert.throws(() => networkOptions({ origins, authenticated: true }), /is not scheme:\/\/host/);
    }
    assert.throws(() => networkOptions({ hosts: ["a.example:80"], authenticated: true }), /without port/);
  });
});

describe("CORS", () => {
  const ask = (origin: string, names: string): Request =>
    request(
      {
        origin,
        host: "repl.example.com",
        "access-control-request-method": "POST",
        "access-control-request-headers": names,
      },
      "OPTIONS",
    );

  it("allows what clients of both eras send", () => {
    const answer = corsPreflight(
      ask("https://app.example.com", "authorization,mcp-session-id,Mcp-Param-City,mcp-param-a b,x-evil"),
      hosted,
    );
    assert.equal(answer?.status, 204);
    assert.equal(answer?.headers.get("access-control-allow-origin"), "https://app.example.com");
    assert.equal(answer?.headers.get("access-control-allow-credentials"), null);
    const allowed = answer?.headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of [
      "authorization",
      "content-type",
      "mcp-protocol-version",
      "mcp-method",
      "mcp-name",
      "mcp-param-city",
    ]) {
      assert.ok(allowed.includes(name), name);
    }
    assert.ok(!allowed.includes("x-evil") && !allowed.includes("mcp-param-a b"));
  });

  it("answers no other page, and no other request", () => {
    assert.equal(corsPreflight(ask("https://evil.example", "authorization"), hosted), undefined);
    assert.equal(corsPreflight(request({}, "OPTIONS"), hosted), undefined);
    assert.equal(corsPreflight(request({ origin: "https://app.example.com" }), hosted), undefined);
  });

  it("lets an allowed page read what matters, and no other", () => {
    const mine = new Headers();
    applyCors(mine, request({ origin: "https://app.example.com" }), hosted);
    assert.equal(mine.get("access-control-allow-origin"), "https://app.example.com");
    assert.match(mine.get("access-control-expose-headers") ?? "", /Mcp-Session-Id.*WWW-Authenticate.*Retry-After/);
    assert.equal(mine.get("vary"), "Origin");
    for (const headers of [{}, { origin: "https://evil.example" }] as Record<string, string>[]) {
      const theirs = new Headers();
      applyCors(theirs, request(headers), hosted);
      assert.equal(theirs.get("access-control-allow-origin"), null);
    }
  });
});

describe("security headers", () => {
  it("keep browsers from sniffing, framing, caching and loading", () => {
    const headers = new Headers();
    applySecurityHeaders(headers, hosted);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'; frame-ancestors 'none'/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.match(headers.get("strict-transport-security") ?? "", /max-age=31536000/);
  });

  it("leave a page its own policy, and plain http without HSTS", () => {
    const headers = new Headers({ "Cache-Control": "public" });
    applySecurityHeaders(headers, loopback, "default-src 'self'");
    assert.equal(headers.get("content-security-policy"), "default-src 'self'");
    assert.equal(headers.get("cache-control"), "public");
    assert.equal(headers.get("strict-transport-security"), null);
  });
});
