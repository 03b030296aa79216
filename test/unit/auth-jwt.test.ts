import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { type Authenticator, createAuthenticator } from "../../src/auth/authenticator.ts";
import type { AuthConfig, TokenCheck } from "../../src/auth/config.ts";
import { ALGORITHMS } from "../../src/auth/jwt.ts";
import type { Principal } from "../../src/auth/principal.ts";

const ISSUER = "https://login.example.com/tenant";
const RESOURCE = "https://repl.example.com/mcp";
const START = Date.UTC(2027, 0, 1);

type Pair = { readonly publicKey: CryptoKey; readonly privateKey: CryptoKey };

/** An authorization server as far as a resource server sees one: its metadata and its keys, and how often they were asked for. */
class Issuer {
  readonly asked: string[] = [];
  keys: Record<string, unknown>[] = [];
  answer: ((url: string) => Response | undefined) | undefined;

  readonly fetch = async (url: string): Promise<Response> => {
    this.asked.push(url);
    const special = this.answer?.(url);
    if (special !== undefined) return special;
    if (url === `${ISSUER}/.well-known/openid-configuration`) {
      return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` });
    }
    return url === `${ISSUER}/keys` ? Response.json({ keys: this.keys }) : new Response(null, { status: 404 });
  };

  get fetches(): number {
    return this.asked.filter((url) => url.endsWith("/keys")).length;
  }
}

let rsa: Pair;
let ec: Pair;
let other: Pair;

before(async () => {
  rsa = await generateKeyPair("RS256", { extractable: true });
  ec = await generateKeyPair("ES256");
  other = await generateKeyPair("RS256");
});

type World = { issuer: Issuer; gate: Authenticator; logs: string[]; clock: { now: number } };

async function world(config: { check?: TokenCheck; audiences?: string[] } = {}): Promise<World> {
  const issuer = new Issuer();
  issuer.keys = [
    { ...(await exportJWK(rsa.publicKey)), kid: "rsa", alg: "RS256", use: "sig" },
    { ...(await exportJWK(ec.publicKey)), kid: "ec" },
  ];
  const clock = { now: START };
  const logs: string[] = [];
  const auth: AuthConfig = {
    mode: "oauth",
    issuer: ISSUER,
    publicUrl: "https://repl.example.com",
    audiences: config.audiences ?? [],
    check: config.check ?? { kind: "jwt", algorithms: ALGORITHMS },
  };
  const gate = createAuthenticator(auth, {
    fetch: issuer.fetch,
    now: () => clock.now,
    log: (message) => void logs.push(message),
  });
  return { issuer, gate, logs, clock };
}

type Claims = { readonly [name: string]: unknown };

const CLAIMS: JWTPayload = {
  iss: ISSUER,
  sub: "user-7f3a",
  aud: RESOURCE,
  exp: START / 1000 + 600,
  client_id: "an-agent",
  scope: "openid repl:run repl:read",
};

/** @param claims Those that are undefined are left out. */
function sign(claims: Claims, header: Record<string, unknown> = {}, key: CryptoKey = rsa.privateKey): Promise<string> {
  return new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: "RS256", kid: "rsa", ...header }).sign(key);
}

const post = (token: string): Request =>
  new Request(RESOURCE, { method: "POST", headers: { authorization: `Bearer ${token}` } });

async function admitted(gate: Authenticator, token: string): Promise<Principal> {
  const answer = await gate.authenticate(post(token));
  if (answer instanceof Response) assert.fail(`refused: ${await answer.text()}`);
  return answer;
}

async function refused(gate: Authenticator, token: string, status = 401): Promise<string> {
  const answer = await gate.authenticate(post(token));
  assert.ok(answer instanceof Response, "the token is refused");
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  return `${text} ${answer.headers.get("www-authenticate")}`;
}

describe("JWT access tokens", () => {
  it("are verified with the issuer's keys, found by its metadata", async () => {
    const { gate, issuer } = await world();
    const principal = await admitted(gate, await sign(CLAIMS, { typ: "at+jwt" }));
    assert.deepEqual(principal.scopes, ["repl:read", "repl:run"]);
    assert.equal(principal.name, "an-agent");
    assert.deepEqual(issuer.asked, [`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
  });

  it("make an owner of issuer and subject that shows neither, nor hands on the token", async () => {
    const { gate } = await world();
    const token = await sign(CLAIMS);
    const mine = await admitted(gate, token);
    const again = await admitted(gate, await sign({ ...CLAIMS, jti: "2", client_id: "another" }));
    const theirs = await admitted(gate, await sign({ ...CLAIMS, sub: "user-7f3b" }));
    assert.match(mine.owner, /^[0-9a-f]{40}$/);
    assert.equal(again.owner, mine.owner);
    assert.notEqual(theirs.owner, mine.owner);
    const shown = JSON.stringify(mine);
    assert.ok(!shown.includes("user-7f3a") && !shown.includes(token.slice(-20)));
  });

  it("may be signed with elliptic curves", async () => {
    const { gate } = await world();
    await admitted(gate, await sign(CLAIMS, { alg: "ES256", kid: "ec" }, ec.privateKey));
  });

  it("may list several audiences, one of them ours", async () => {
    const { gate } = await world();
    for (const aud of [
      ["https://else.example.com", RESOURCE],
      "https://repl.example.com/",
      "https://repl.example.com/sse",
    ]) {
      await admitted(gate, await sign({ ...CLAIMS, aud }));
    }
  });

  it("may carry scopes the way other servers write them", async () => {
    const { gate } = await world();
    const bare = { ...CLAIMS, scope: undefined };
    for (const scopes of [{ scp: "repl:read" }, { scp: ["repl:read"] }, { permissions: ["repl:read", "x"] }]) {
      assert.deepEqual((await admitted(gate, await sign({ ...bare, ...scopes }))).scopes, ["repl:read"]);
    }
  });

  it("are asked for, with the place of the metadata and the scopes, when missing", async () => {
    const { gate } = await world();
    const answer = await gate.authenticate(new Request("http://127.0.0.1:8000/mcp", { method: "POST" }));
    assert.ok(answer instanceof Response);
    assert.equal(answer.status, 401);
    assert.equal(
      answer.headers.get("www-authenticate"),
      'Bearer realm="edge-python-repl", scope="repl:read repl:run", ' +
        'resource_metadata="https://repl.example.com/.well-known/oauth-protected-resource/mcp"',
    );
  });

  it("without a scope of ours get 403, naming the scopes", async () => {
    const { gate } = await world();
    const text = await refused(gate, await sign({ ...CLAIMS, scope: "openid email" }), 403);
    assert.match(text, /insufficient_scope.*scope="repl:read repl:run"/);
  });
});

describe("a JWT is refused", () => {
  const changes: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ["when expired", () => sign({ ...CLAIMS, exp: START / 1000 - 11 }), /has expired/],
    ["without an expiry", () => sign({ ...CLAIMS, exp: undefined }), /no expiry/],
    ["before its time", () => sign({ ...CLAIMS, nbf: START / 1000 + 11 }), /not valid yet/],
    ["for another audience", () => sign({ ...CLAIMS, aud: "https://else.example.com/mcp" }), /another audience/],
    ["for a path that starts like ours", () => sign({ ...CLAIMS, aud: `${RESOURCE}/evil` }), /another audience/],
    ["without an audience", () => sign({ ...CLAIMS, aud: undefined }), /another audience/],
    ["from another issuer", () => sign({ ...CLAIMS, iss: "https://login.example.com" }), /another issuer/],
    ["from an issuer with a slash more", () => sign({ ...CLAIMS, iss: `${ISSUER}/` }), /another issuer/],
    ["without a subject", () => sign({ ...CLAIMS, sub: undefined }), /no subject/],
    ["with an empty subject", () => sign({ ...CLAIMS, sub: "" }), /no subject/],
    ["with a signature by a stranger", () => sign(CLAIMS, {}, other.privateKey), /signature is wrong/],
    [
      "with a key that the issuer does not have",
      () => sign(CLAIMS, { kid: "nope" }, other.privateKey),
      /signed with a key/,
    ],
    ["with a key in its own header", embeddedKey, /signature is wrong/],
    ["with an algorithm that is not the key's", () => wrongAlgorithm(), /signed with a key/],
    ["when it is no access token", () => sign(CLAIMS, { typ: "logout+jwt" }), /not an access token/],
    ["when bound to a key", () => sign({ ...CLAIMS, cnf: { jkt: "x" } }), /bound to a key/],
    ["with alg none", unsigned, /algorithm is not allowed/],
    ["with alg nOnE", () => unsigned("nOnE"), /algorithm is not allowed/],
    ["with HS256 and the public key as the secret", confused, /algorithm is not allowed/],
    ["with a payload that was changed", () => tampered(), /signature is wrong/],
    ["with an extension it does not understand", () => critical(), /malformed|not be verified/],
    ["with two segments", async () => "a.b", /not a signed JWT/],
    ["with five segments, as an encrypted one", async () => "a.b.c.d.e", /not a signed JWT/],
    ["when it is three segments of nothing", async () => "aaa.bbb.ccc", /malformed/],
    [
      "when its header is not an object",
      async () => `${btoa("[]").replaceAll("=", "")}.e30.AA`,
      /malformed|not allowed/,
    ],
  ];
  for (const [what, make, reason] of changes) {
    it(`${what}, with a reason and no text of the token`, async () => {
      const { gate } = await world();
      const token = await make();
      const shown = await refused(gate, token);
      assert.match(shown, reason);
      assert.match(shown, /invalid_token/);
      for (const part of token.split(".").filter((item) => item.length > 8))
        assert.ok(!shown.includes(part.slice(0, 9)));
    });
  }

  const part = (value: unknown): string =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  async function unsigned(alg = "none"): Promise<string> {
    return `${part({ alg, kid: "rsa" })}.${part(CLAIMS)}.`.replace(/\.$/, ".AA");
  }

  async function confused(): Promise<string> {
    const secret = new TextEncoder().encode(await exportSPKI(rsa.publicKey));
    return new SignJWT(CLAIMS).setProtectedHeader({ alg: "HS256", kid: "rsa" }).sign(secret);
  }

  async function embeddedKey(): Promise<string> {
    const jwk = { kty: "RSA", ...(await exportJWK(other.publicKey)) };
    return sign(CLAIMS, { jwk, jku: "https://evil.example.com/keys" }, other.privateKey);
  }

  async function wrongAlgorithm(): Promise<string> {
    const token = await sign(CLAIMS);
    const [, body, signature] = token.split(".");
    return `${part({ alg: "PS256", kid: "rsa" })}.${body}.${signature}`;
  }

  async function tampered(): Promise<string> {
    const [head, , signature] = (await sign(CLAIMS)).split(".");
    return `${head}.${part({ ...CLAIMS, sub: "admin" })}.${signature}`;
  }

  async function critical(): Promise<string> {
    const [, body, signature] = (await sign(CLAIMS)).split(".");
    return `${part({ alg: "RS256", kid: "rsa", crit: ["x"], x: 1 })}.${body}.${signature}`;
  }

  it("when its algorithm was not chosen by the operator", async () => {
    const { gate } = await world({ check: { kind: "jwt", algorithms: ["ES256"] } });
    assert.match(await refused(gate, await sign(CLAIMS)), /algorithm is not allowed/);
  });

  it("when its audience is not the configured one", async () => {
    const { gate } = await world({ audiences: ["api://repl"] });
    await refused(gate, await sign(CLAIMS));
    await admitted(gate, await sign({ ...CLAIMS, aud: "api://repl" }));
  });

  it("once it expires, although it was remembered", async () => {
    const { gate, clock } = await world();
    const token = await sign({ ...CLAIMS, exp: START / 1000 + 60 });
    await admitted(gate, token);
    clock.now = START + 69_000;
    await admitted(gate, token);
    clock.now = START + 70_000;
    await refused(gate, token);
  });
});

describe("the issuer's keys", () => {
  it("are fetched once for many tokens at once, and kept", async () => {
    const { gate, issuer } = await world();
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => sign({ ...CLAIMS, jti: String(i) })));
    await Promise.all(tokens.map((token) => admitted(gate, token)));
    assert.equal(issuer.fetches, 1);
  });

  it("are fetched again when a token names a new one, after a cool-down", async () => {
    const { gate, issuer, clock } = await world();
    await admitted(gate, await sign(CLAIMS));
    const next = await generateKeyPair("RS256");
    issuer.keys = [{ ...(await exportJWK(next.publicKey)), kid: "next" }];
    const token = await sign(CLAIMS, { kid: "next" }, next.privateKey);
    await refused(gate, token);
    assert.equal(issuer.fetches, 1, "not within the cool-down");
    clock.now += 30_000;
    await admitted(gate, token);
    assert.equal(issuer.fetches, 2);
    await refused(gate, await sign({ ...CLAIMS, jti: "old" }));
  });

  it("are not fetched for every token that names an unknown one", async () => {
    const { gate, issuer, clock } = await world();
    for (let i = 0; i < 100; i++) {
      await refused(gate, await sign(CLAIMS, { kid: `k${i}` }, other.privateKey));
      clock.now += 1000;
    }
    assert.ok(issuer.fetches <= 5, `${issuer.fetches} fetches in 100 s`);
  });

  it("work without a key id, while a few fit", async () => {
    const { gate, issuer } = await world();
    const next = await generateKeyPair("RS256");
    const anonymous = await Promise.all([rsa, next].map((pair) => exportJWK(pair.publicKey)));
    issuer.keys = anonymous as Record<string, unknown>[];
    await admitted(gate, await sign(CLAIMS, { kid: undefined }, next.privateKey));
    await refused(gate, await sign(CLAIMS, { kid: undefined }, other.privateKey));
  });

  it("outlive an authorization server that does not answer, for an hour", async () => {
    const { gate, issuer, clock, logs } = await world();
    await admitted(gate, await sign(CLAIMS));
    issuer.answer = () => new Response("down", { status: 500 });
    clock.now += 3_000_000;
    await admitted(gate, await sign({ ...CLAIMS, exp: clock.now / 1000 + 60 }));
    clock.now += 700_000;
    const answer = await gate.authenticate(post(await sign({ ...CLAIMS, exp: clock.now / 1000 + 60 })));
    assert.ok(answer instanceof Response && answer.status === 503, "not 401: the token may be good");
    assert.ok(Number(answer.headers.get("retry-after")) > 0);
    assert.ok(logs.some((line) => line.includes("status 500")));
  });

  const failures: readonly (readonly [string, (keys: Record<string, unknown>[]) => Response])[] = [
    ["an error", () => new Response(null, { status: 500 })],
    ["a redirect", () => Response.redirect("https://evil.example.com/keys", 302)],
    ["no JSON", () => new Response("<html>")],
    ["a document without end", (keys) => new Response(JSON.stringify({ keys }) + " ".repeat(300_000))],
    ["a document without keys", () => Response.json({ keys: "none" })],
  ];
  for (const [what, make] of failures) {
    it(`that come as ${what} cause 503, few tries, and a line in the log`, async () => {
      const { gate, issuer, logs, clock } = await world();
      issuer.answer = (url) => (url.endsWith("/keys") ? make(issuer.keys) : undefined);
      for (let i = 0; i < 10; i++) await refused(gate, await sign({ ...CLAIMS, jti: String(i) }), 503);
      assert.equal(issuer.fetches, 1);
      assert.ok(logs.length === 1 && !logs[0]?.includes("<html>"));
      issuer.answer = undefined;
      clock.now += 5000;
      await admitted(gate, await sign(CLAIMS));
    });
  }

  it("are not taken from metadata of another issuer", async () => {
    const { gate, issuer, logs } = await world();
    issuer.answer = (url) =>
      url.includes(".well-known") ? Response.json({ issuer: `${ISSUER}x`, jwks_uri: `${ISSUER}/keys` }) : undefined;
    await refused(gate, await sign(CLAIMS), 503);
    assert.equal(issuer.fetches, 0);
    assert.match(logs[0] ?? "", /metadata of another issuer/);
  });

  it("are found by RFC 8414 too, or where a setting says", async () => {
    const discovered = await world();
    discovered.issuer.answer = (url) => {
      if (url.includes("openid-configuration")) return new Response(null, { status: 404 });
      if (url !== "https://login.example.com/.well-known/oauth-authorization-server/tenant") return undefined;
      return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` });
    };
    await admitted(discovered.gate, await sign(CLAIMS));
    const configured = await world({ check: { kind: "jwt", algorithms: ALGORITHMS, jwksUrl: `${ISSUER}/keys` } });
    await admitted(configured.gate, await sign(CLAIMS));
    assert.deepEqual(configured.issuer.asked, [`${ISSUER}/keys`]);
  });

  it("that are secrets are never used", async () => {
    const { gate, issuer } = await world();
    issuer.keys = [
      { kty: "oct", k: "c2VjcmV0", kid: "oct", alg: "HS256" },
      await exportJWK(rsa.privateKey).then(Object),
    ];
    const hmac = await new SignJWT(CLAIMS)
      .setProtectedHeader({ alg: "HS256", kid: "oct" })
      .sign(new TextEncoder().encode("secret"));
    await refused(gate, hmac);
    await refused(gate, await sign(CLAIMS, { kid: undefined }));
  });
});
