import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { LoginCookies } from "../../src/auth/cookies.ts";
import { randomSealKey, type SealKey } from "../../src/auth/seal.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { parseTokenEntries } from "../../src/auth/token-entry.ts";

let token = "";
before(() => {
  token = newToken();
});

const clock = { now: Date.UTC(2027, 0, 1) };
const now = (): number => clock.now;

async function cookies(key: SealKey, options: { secure?: boolean; tokens?: string } = {}): Promise<LoginCookies> {
  const tokens = options.tokens ?? `alice:${toHex(await sha256(token))}`;
  const authenticator = createAuthenticator({ mode: "token", tokens: parseTokenEntries(tokens) }, { now });
  return new LoginCookies({ key, authenticator, secure: options.secure ?? true, now });
}

const visit = (setCookie: string): Request =>
  new Request("https://repl.example.com/", { headers: { cookie: `theme=dark; ${setCookie.split(";")[0]}; other=1` } });

describe("login cookies", () => {
  it("carry a login from one request to the next", async () => {
    const jar = await cookies(await randomSealKey());
    const set = await jar.logIn(` ${token}\n`);
    const session = await jar.read(visit(set ?? ""));
    assert.equal(session?.principal.name, "alice");
    assert.equal(await jar.read(new Request("https://repl.example.com/")), undefined);
  });

  it("are out of reach for scripts, other sites and plain http", async () => {
    const set = (await (await cookies(await randomSealKey())).logIn(token)) ?? "";
    assert.match(set, /^__Host-repl_login=[^;]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    const local = (await (await cookies(await randomSealKey(), { secure: false })).logIn(token)) ?? "";
    assert.match(local, /^repl_login=[^;]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it("hold no token, and nothing that can be read", async () => {
    const set = (await (await cookies(await randomSealKey())).logIn(token)) ?? "";
    const opened = atob((set.split(".")[2] ?? "").split(";")[0]?.replaceAll("-", "+").replaceAll("_", "/") ?? "");
    for (const secret of [token, "alice", toHex(await sha256(token))]) assert.ok(!(set + opened).includes(secret));
  });

  it("are not given for a bad token", async () => {
    const jar = await cookies(await randomSealKey());
    assert.equal(await jar.logIn(newToken()), undefined);
    assert.equal(await jar.logIn(""), undefined);
  });

  it("end with the login's time, and with the token's", async () => {
    const key = await randomSealKey();
    const jar = await cookies(key);
    const set = (await jar.logIn(token)) ?? "";
    const start = clock.now;
    clock.now = start + 8 * 3_600_000 - 1;
    assert.ok(await jar.read(visit(set)));
    clock.now++;
    assert.equal(await jar.read(visit(set)), undefined);
    clock.now = start;
    const brief = await cookies(key, { tokens: `alice:${toHex(await sha256(token))}::2027-01-01T01:00:00Z` });
    assert.match((await brief.logIn(token)) ?? "", /Max-Age=3600;/);
  });

  it("end when the token is removed, and follow its scopes", async () => {
    const key = await randomSealKey();
    const set = (await (await cookies(key)).logIn(token)) ?? "";
    const removed = await cookies(key, { tokens: `bob:${"ab".repeat(32)}` });
    assert.equal(await removed.read(visit(set)), undefined);
    const narrowed = await cookies(key, { tokens: `alice:${toHex(await sha256(token))}:read` });
    assert.deepEqual((await narrowed.read(visit(set)))?.principal.scopes, ["repl:read"]);
  });

  it("are worth nothing when changed or sealed by another server", async () => {
    const key = await randomSealKey();
    const jar = await cookies(key);
    const set = (await jar.logIn(token)) ?? "";
    assert.equal(await jar.read(visit(set.replace(/([A-Za-z0-9_-])([A-Za-z0-9_-]{4});/, "$2;"))), undefined);
    assert.equal(await (await cookies(await randomSealKey())).read(visit(set)), undefined);
    assert.equal(await jar.read(visit("__Host-repl_login=alice")), undefined);
  });

  it("are taken back by name", async () => {
    assert.match((await cookies(await randomSealKey())).logOut(), /^__Host-repl_login=; Max-Age=0; Path=\/;/);
  });

  it("come with a token against forged requests that fits this login only", async () => {
    const jar = await cookies(await randomSealKey());
    const mine = await jar.read(visit((await jar.logIn(token)) ?? ""));
    const theirs = await jar.read(visit((await jar.logIn(token)) ?? ""));
    assert.ok(mine && theirs);
    const csrf = await jar.csrfToken(mine);
    assert.equal(await jar.checkCsrf(mine, csrf), true);
    assert.equal(await jar.checkCsrf(theirs, csrf), false);
    for (const bad of [undefined, null, "", "x", `${csrf}A`]) assert.equal(await jar.checkCsrf(mine, bad), false);
  });
});
