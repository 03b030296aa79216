import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAuthenticator } from "../../src/auth/authenticator.ts";

const ISSUER = "https://login.example.com";
const RESOURCE = "https://repl.example.com/mcp";
const START = Date.UTC(2027, 0, 1);
const ACTIVE = {
  active: true,
  sub: "user-1",
  aud: RESOURCE,
  client_id: "an-agent",
  scope: "repl:read repl:run",
  exp: START / 1000 + 3600,
};

type Question = { readonly url: string; readonly init: RequestInit };

function world(answer: (question: Question) => Response | Promise<Response>, shareFetches = true) {
  const questions: Question[] = [];
  const clock = { now: START };
  const logs: string[] = [];
  const gate = createAuthenticator(
    {
      mode: "oauth",
      issuer: ISSUER,
      publicUrl: "https://repl.example.com",
      audiences: [],
      check: { kind: "introspection", url: `${ISSUER}/introspect`, clientId: "repl server", clientSecret: "a:b%c" },
    },
    {
      fetch: async (url, init) => {
        const question = { url, init };
        questions.push(question);
        return answer(question);
      },
      now: () => clock.now,
      log: (message) => void logs.push(message),
      shareFetches,
    },
  );
  const ask = (token = "opaque-token-text") =>
    gate.authenticate(new Request(RESOURCE, { method: "POST", headers: { authorization: `Bearer ${token}` } }));
  return { ask, questions, clock, logs };
}

async function status(answer: unknown): Promise<number> {
  return answer instanceof Response ? answer.status : 200;
}

describe("introspected tokens", () => {
  it("are asked about with the server's own credentials, in the form that RFC 6749 wants", async () => {
    const { ask, questions } = world(() => Response.json(ACTIVE));
    const principal = await ask();
    assert.ok(!(principal instanceof Response));
    assert.equal(principal.name, "an-agent");
    assert.deepEqual(principal.scopes, ["repl:read", "repl:run"]);
    const [question] = questions;
    assert.equal(question?.url, `${ISSUER}/introspect`);
    assert.equal(question?.init.method, "POST");
    assert.equal(question?.init.body, "token=opaque-token-text&token_type_hint=access_token");
    const { authorization } = (question?.init.headers ?? {}) as Record<string, string>;
    assert.equal(atob(authorization?.slice("Basic ".length) ?? ""), "repl+server:a%3Ab%25c");
  });

  it("are remembered for 30 seconds, so that a revoked one lives no longer", async () => {
    let active = true;
    const { ask, questions, clock } = world(() => Response.json(active ? ACTIVE : { active: false }));
    await ask();
    active = false;
    clock.now += 29_999;
    assert.equal(await status(await ask()), 200);
    assert.equal(questions.length, 1);
    clock.now += 1;
    assert.equal(await status(await ask()), 401);
  });

  it("are asked about once when many requests bring the same one", async () => {
    const { ask, questions } = world(() => Response.json(ACTIVE));
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    assert.equal(questions.length, 1);
  });

  it("are asked about for each request where requests cannot share", async () => {
    const { ask, questions } = world(() => Response.json(ACTIVE), false);
    await Promise.all(Array.from({ length: 5 }, () => ask()));
    assert.equal(questions.length, 5);
  });

  it("that are not active are not asked about again at once", async () => {
    const { ask, questions, clock } = world(() => Response.json({ active: false }));
    for (let i = 0; i < 20; i++) assert.equal(await status(await ask()), 401);
    assert.equal(questions.length, 1);
    clock.now += 10_000;
    await ask();
    assert.equal(questions.length, 2);
  });

  it("in a flood do not become a flood of questions", async () => {
    let open = 0;
    let most = 0;
    const { ask } = world(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return Response.json({ active: false });
    });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(`guess-${i}`).then(status)));
    assert.equal(most, 32);
    assert.deepEqual([...new Set(answers)].sort(), [401, 503]);
  });

  it("give the owner that a JWT of the same issuer and subject gives", async () => {
    const one = await world(() => Response.json(ACTIVE)).ask("one");
    const two = await world(() => Response.json({ ...ACTIVE, client_id: "other" })).ask("two");
    assert.ok(!(one instanceof Response) && !(two instanceof Response));
    assert.equal(one.owner, two.owner);
  });

  it("that are not even of the server's kind are refused, not retried", async () => {
    assert.equal(await status(await world(() => new Response(null, { status: 400 })).ask()), 401);
  });

  it("of a client that acts for itself make an owner that no person can be", async () => {
    const client = await world(() => Response.json({ ...ACTIVE, sub: undefined, client_id: "user-1" })).ask();
    const person = await world(() => Response.json(ACTIVE)).ask();
    assert.ok(!(client instanceof Response) && !(person instanceof Response));
    assert.notEqual(client.owner, person.owner);
  });

  const bad: readonly (readonly [string, Record<string, unknown>])[] = [
    ["inactive", { active: false }],
    ["active only as a text", { active: "true" }],
    ["expired", { exp: START / 1000 }],
    ["not valid yet", { nbf: START / 1000 + 1 }],
    ["for another audience", { aud: "https://else.example.com" }],
    ["for no audience", { aud: undefined }],
    ["from another issuer", { iss: "https://evil.example.com" }],
    ["bound to a key", { cnf: { jkt: "x" } }],
    ["of type DPoP", { token_type: "DPoP" }],
    ["with an empty subject", { sub: "" }],
    ["without a subject and a client", { sub: undefined, client_id: undefined }],
  ];
  for (const [what, change] of bad) {
    it(`are refused when ${what}`, async () => {
      assert.equal(await status(await world(() => Response.json({ ...ACTIVE, ...change })).ask()), 401);
    });
  }

  const failures: readonly (readonly [string, () => Response])[] = [
    ["refuses us", () => new Response(null, { status: 401 })],
    ["fails", () => new Response(null, { status: 500 })],
    ["sends us elsewhere", () => Response.redirect("https://evil.example.com")],
    ["talks nonsense", () => new Response("opaque-token-text")],
    ["does not answer", () => Promise.reject(new Error("opaque-token-text")) as unknown as Response],
  ];
  for (const [what, answer] of failures) {
    it(`get 503 when the authorization server ${what}, with no token in the log`, async () => {
      const { ask, logs } = world(answer);
      const refused = await ask();
      assert.ok(refused instanceof Response);
      assert.equal(refused.status, 503);
      assert.ok(refused.headers.get("retry-after"));
      assert.equal(logs.length, 1);
      assert.ok(!`${logs} ${await refused.text()}`.includes("opaque-token-text"));
    });
  }
});
