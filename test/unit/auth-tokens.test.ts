import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createAuthenticator } from "../../src/auth/authenticator.ts";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import type { Principal } from "../../src/auth/principal.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { formatTokenEntry, parseTokenEntries } from "../../src/auth/token-entry.ts";

const hashOf = async (token: string): Promise<string> => toHex(await sha256(token));
const request = (headers: Record<string, string> = {}, url = "http://127.0.0.1:8000/mcp"): Request =>
  new Request(url, { method: "POST", headers });
const bearer = (token: string): Request => request({ authorization: `Bearer ${token}` });

function principal(answer: Principal | Response): Principal {
  assert.ok(!(answer instanceof Response), "the request is let in");
  return answer;
}

function refusal(answer: Principal | Response, status: number): Response {
  assert.ok(answer instanceof Response, "the request is refused");
  assert.equal(answer.status, status);
  return answer;
}

describe("REPL_TOKENS", () => {
  const hash = "ab".repeat(32);

  it("reads name, hash, scopes and expiry", () => {
    const [plain, reader, dated] = parseTokenEntries(
      `alice:${hash},\n  bob:${"cd".repeat(32)}:read carol:${"ef".repeat(32)}:read+run:2027-01-31T12:00:00Z`,
    );
    assert.deepEqual(plain?.scopes, ["repl:read", "repl:run"]);
    assert.equal(plain?.expiresAt, undefined);
    assert.deepEqual(reader?.scopes, ["repl:read"]);
    assert.equal(dated?.expiresAt, Date.UTC(2027, 0, 31, 12));
  });

  it("reads a date as its start in UTC, with the scopes left empty", () => {
    const [entry] = parseTokenEntries(`alice:${hash}::2027-01-31`);
    assert.equal(entry?.expiresAt, Date.UTC(2027, 0, 31));
    assert.deepEqual(entry?.scopes, ["repl:read", "repl:run"]);
  });

  it("writes entries as it reads them", () => {
    const text = `alice:${hash}:run:2027-01-31T12:00:00Z`;
    assert.equal(parseTokenEntries(text).map(formatTokenEntry).join(), text);
  });

  const bad: readonly (readonly [string, string, RegExp])[] = [
    ["no entry", " , ", /no entry/],
    ["a bad name", `al/ice:${hash}`, /Entry 1 has a bad name/],
    ["a name that climbs", `../x:${hash}`, /bad name/],
    ["a short hash", "alice:abcd", /Entry 1 \(alice\) has a bad hash/],
    ["a hash with other letters", `alice:${"zz".repeat(32)}`, /bad hash/],
    ["a token instead of a hash", `alice:epr_${"A".repeat(43)}`, /bad hash/],
    ["an unknown scope", `alice:${hash}:write`, /wanted read, run or read\+run/],
    ["a day that is not in the calendar", `alice:${hash}::2027-02-30`, /wanted a date/],
    ["a time without zone", `alice:${hash}::2027-02-03T10:00`, /wanted a date/],
    ["the same hash twice", `alice:${hash} bob:${hash}`, /Entries 1 and 2 hold the same hash/],
    ["more entries than allowed", Array(1001).fill(`a:${hash}`).join(), /at most 1000/],
  ];
  for (const [what, text, message] of bad) {
    it(`refuses ${what} without showing the hash`, () => {
      assert.throws(
        () => parseTokenEntries(text),
        (error: Error) => message.test(error.message) && !error.message.includes(hash) && !/epr_/.test(error.message),
      );
    });
  }
});

describe("static tokens", () => {
  let alice = "";
  let reader = "";
  let dated = "";
  let replaced = "";
  before(() => {
    [alice = "", reader = "", dated = "", replaced = ""] = Array.from({ length: 4 }, newToken);
  });

  let now = Date.UTC(2027, 0, 1);
  const gate = async () =>
    createAuthenticator(
      {
        mode: "token",
        tokens: parseTokenEntries(
          `alice:${await hashOf(alice)} bob:${await hashOf(reader)}:read ` +
            `carol:${await hashOf(dated)}:run:2027-01-02 alice:${await hashOf(replaced)}`,
        ),
      },
      { now: () => now },
    );

  it("has 256 random bits and a prefix", () => {
    assert.match(alice, /^epr_[A-Za-z0-9_-]{43}$/);
    assert.notEqual(alice, reader);
  });

  it("lets a known token in under an owner that is stable and does not show the name", async () => {
    const first = principal(await (await gate()).authenticate(bearer(alice)));
    const again = principal(await (await gate()).authenticate(bearer(alice)));
    assert.equal(first.name, "alice");
    assert.deepEqual(first.scopes, ["repl:read", "repl:run"]);
    assert.match(first.owner, /^[0-9a-f]{40}$/);
    assert.equal(again.owner, first.owner);
    assert.equal(JSON.stringify(first).includes(alice), false, "the token is not in what is handed on");
  });

  it("gives two tokens of one name one owner, and other names others", async () => {
    const authenticator = await gate();
    const owners = [];
    for (const token of [alice, replaced, reader]) {
      owners.push(principal(await authenticator.authenticate(bearer(token))).owner);
    }
    assert.equal(owners[0], owners[1]);
    assert.notEqual(owners[0], owners[2]);
  });

  it("takes the scheme in any case, and more than one space", async () => {
    principal(await (await gate()).authenticate(request({ authorization: `bEaReR   ${alice}` })));
  });

  it("asks for a token when there is none, without calling it an error", async () => {
    const answer = refusal(await (await gate()).authenticate(request()), 401);
    assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="edge-python-repl", scope="repl:read repl:run"');
  });

  const refused: readonly (readonly [string, (token: string) => Request, number])[] = [
    ["an unknown token", () => bearer(newToken()), 401],
    ["a token cut short", (token) => bearer(token.slice(0, -1)), 401],
    ["a token with something behind it", (token) => bearer(`${token}A`), 401],
    ["another scheme", (token) => request({ authorization: `Basic ${btoa(`x:${token}`)}` }), 401],
    ["an empty Bearer", () => request({ authorization: "Bearer " }), 400],
    ["two tokens in one header", (token) => request({ authorization: `Bearer ${token}, Bearer ${token}` }), 400],
    ["a good token behind another scheme", (token) => request({ authorization: `Basic eDp5, Bearer ${token}` }), 400],
    ["a token with a space inside", (token) => bearer(`${token} ${token}`), 400],
    ["an oversized header", (token) => bearer(token + "A".repeat(8192)), 400],
    ["a token in the query", (token) => request({}, `http://host/mcp?access_token=${token}`), 400],
    [
      "a token in the query beside a good one",
      (token) => request({ authorization: `Bearer ${token}` }, `http://host/mcp?a=1&%74oken=${token}`),
      400,
    ],
  ];
  for (const [what, make, status] of refused) {
    it(`refuses ${what} with ${status}, showing no token`, async () => {
      const answer = refusal(await (await gate()).authenticate(make(alice)), status);
      const shown = `${await answer.text()} ${JSON.stringify([...answer.headers])}`;
      assert.ok(!shown.includes(alice.slice(4, 20)));
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer /);
    });
  }

  it("refuses two Authorization headers", async () => {
    const double = request();
    double.headers.append("authorization", `Bearer ${alice}`);
    double.headers.append("authorization", `Bearer ${reader}`);
    refusal(await (await gate()).authenticate(double), 400);
  });

  it("refuses a token from its expiry on, also when it was just used, in the words of an unknown one", async () => {
    const authenticator = await gate();
    now = Date.UTC(2027, 0, 2) - 1;
    assert.deepEqual(principal(await authenticator.authenticate(bearer(dated))).scopes, ["repl:run"]);
    now = Date.UTC(2027, 0, 2);
    const expired = await refusal(await authenticator.authenticate(bearer(dated)), 401).text();
    const unknown = await refusal(await authenticator.authenticate(bearer(newToken())), 401).text();
    assert.equal(expired, unknown);
  });

  it("ignores whatever a request says about its owner", async () => {
    const plain = principal(await (await gate()).authenticate(bearer(alice)));
    const claimed = request({
      authorization: `Bearer ${alice}`,
      "x-owner": "local",
      "x-forwarded-user": "bob",
      cookie: "owner=local",
    });
    assert.equal(principal(await (await gate()).authenticate(claimed)).owner, plain.owner);
  });

  it("names the scope that a call lacks", async () => {
    const answer = (await gate()).insufficientScope("/mcp", "repl:run");
    assert.equal(answer.status, 403);
    assert.match(answer.headers.get("www-authenticate") ?? "", /error="insufficient_scope".*scope="repl:run"/);
  });

  it("is stable when 2,000 tokens are tried", async () => {
    const authenticator = await gate();
    for (let i = 0; i < 2000; i++) await authenticator.authenticate(bearer(`epr_${i}`));
    principal(await authenticator.authenticate(bearer(alice)));
  });
});

describe("REPL_AUTH=none", () => {
  it("makes everybody the local owner, with every scope", async () => {
    const authenticator = createAuthenticator({ mode: "none" });
    assert.deepEqual(await authenticator.authenticate(request()), {
      owner: "local",
      name: "local",
      scopes: ["repl:read", "repl:run"],
    });
    assert.equal(authenticator.metadata(request({}, "http://h/.well-known/oauth-protected-resource")), undefined);
  });
});
