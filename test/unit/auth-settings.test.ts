import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAuthSettings, type Settings } from "../../src/auth/settings.ts";

const HASH = "ab".repeat(32);
const OAUTH: Settings = {
  REPL_AUTH: "oauth",
  REPL_OAUTH_ISSUER: "https://login.example.com/",
  REPL_PUBLIC_URL: "https://repl.example.com/",
};

describe("authentication settings", () => {
  it("default to none", () => {
    assert.deepEqual(parseAuthSettings({}), { mode: "none" });
    assert.deepEqual(parseAuthSettings({ REPL_AUTH: "", REPL_TOKENS: " " }), { mode: "none" });
  });

  it("read tokens", () => {
    const config = parseAuthSettings({ REPL_AUTH: "token", REPL_TOKENS: `alice:${HASH}` });
    assert.equal(config.mode === "token" && config.tokens[0]?.name, "alice");
  });

  it("read OAuth by JWT, with the issuer as it was written", () => {
    const config = parseAuthSettings({ ...OAUTH, REPL_OAUTH_ALGORITHMS: "ES256,RS256" });
    assert.deepEqual(config, {
      mode: "oauth",
      issuer: "https://login.example.com/",
      publicUrl: "https://repl.example.com",
      audiences: [],
      check: { kind: "jwt", algorithms: ["RS256", "ES256"] },
    });
  });

  it("read OAuth by introspection", () => {
    const config = parseAuthSettings({
      ...OAUTH,
      REPL_OAUTH_AUDIENCE: "api://repl other",
      REPL_OAUTH_INTROSPECTION_URL: "http://127.0.0.1:9000/introspect",
      REPL_OAUTH_CLIENT_ID: "repl",
      REPL_OAUTH_CLIENT_SECRET: "not told",
    });
    assert.deepEqual(config.mode === "oauth" && config.audiences, ["api://repl", "other"]);
    assert.equal(config.mode === "oauth" && config.check.kind, "introspection");
  });

  const bad: readonly (readonly [string, Settings, RegExp])[] = [
    ["an unknown mode", { REPL_AUTH: "basic" }, /^REPL_AUTH is "basic"; wanted none, token or oauth$/],
    ["tokens without the mode", { REPL_TOKENS: `a:${HASH}` }, /^REPL_TOKENS is set, but REPL_AUTH is none/],
    [
      "an issuer without the mode",
      { REPL_OAUTH_ISSUER: "https://x" },
      /^REPL_OAUTH_ISSUER is set, but REPL_AUTH is none/,
    ],
    ["tokens with oauth", { ...OAUTH, REPL_TOKENS: `a:${HASH}` }, /^REPL_TOKENS is set, but REPL_AUTH is oauth/],
    ["no tokens", { REPL_AUTH: "token" }, /^REPL_TOKENS must be set with REPL_AUTH=token$/],
    ["bad tokens", { REPL_AUTH: "token", REPL_TOKENS: "alice" }, /^REPL_TOKENS is not sound: Entry 1 \(alice\)/],
    ["no issuer", { ...OAUTH, REPL_OAUTH_ISSUER: undefined }, /^REPL_OAUTH_ISSUER must be set/],
    ["no public URL", { ...OAUTH, REPL_PUBLIC_URL: "" }, /^REPL_PUBLIC_URL must be set with REPL_AUTH=oauth$/],
    [
      "an issuer without TLS",
      { ...OAUTH, REPL_OAUTH_ISSUER: "http://login.example.com" },
      /^REPL_OAUTH_ISSUER must start/,
    ],
    [
      "an issuer that is no URL",
      { ...OAUTH, REPL_OAUTH_ISSUER: "login" },
      /^REPL_OAUTH_ISSUER is not an absolute URL$/,
    ],
    [
      "an issuer with a query",
      { ...OAUTH, REPL_OAUTH_ISSUER: "https://x/?a" },
      /^REPL_OAUTH_ISSUER must not have a query/,
    ],
    [
      "a JWKS URL of another scheme",
      { ...OAUTH, REPL_OAUTH_JWKS_URL: "file:///keys" },
      /^REPL_OAUTH_JWKS_URL must start/,
    ],
    ["HS256", { ...OAUTH, REPL_OAUTH_ALGORITHMS: "RS256 HS256" }, /^REPL_OAUTH_ALGORITHMS names "HS256"/],
    ["none as an algorithm", { ...OAUTH, REPL_OAUTH_ALGORITHMS: "none" }, /^REPL_OAUTH_ALGORITHMS names "none"/],
    [
      "a client that is of no use",
      { ...OAUTH, REPL_OAUTH_CLIENT_SECRET: "hush" },
      /^REPL_OAUTH_CLIENT_SECRET is of use only/,
    ],
    [
      "introspection without a client",
      { ...OAUTH, REPL_OAUTH_INTROSPECTION_URL: "https://x/i" },
      /^REPL_OAUTH_CLIENT_ID must be set/,
    ],
    [
      "introspection and keys",
      { ...OAUTH, REPL_OAUTH_INTROSPECTION_URL: "https://x/i", REPL_OAUTH_JWKS_URL: "https://x/j" },
      /^REPL_OAUTH_JWKS_URL is of no use with/,
    ],
  ];
  for (const [what, settings, message] of bad) {
    it(`refuse ${what} in one sentence`, () => {
      assert.throws(
        () => parseAuthSettings(settings),
        (error: Error) => message.test(error.message) && !/hush|\n/.test(error.message),
      );
    });
  }

  it("never show a password that was put in a URL", () => {
    const settings = { ...OAUTH, REPL_OAUTH_ISSUER: "https://user:hush@login.example.com" };
    assert.throws(
      () => parseAuthSettings(settings),
      (error: Error) => !error.message.includes("hush"),
    );
  });
});
