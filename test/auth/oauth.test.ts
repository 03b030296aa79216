import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  Client,
  ClientCredentialsProvider,
  type ClientOptions,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { type GuardedServer, startGuardedServer } from "./guarded-server.ts";
import { type IdentityServer, INTROSPECTOR, MACHINE, startIdentityServer } from "./identity-server.ts";
import { Person } from "./person.ts";

type Identity = { readonly caller: { readonly owner: string; readonly name: string }; readonly scopes: string[] };

/** Connects, going through the login when the server asks for one. */
async function connect(server: GuardedServer, person: Person, options: ClientOptions = {}): Promise<Client> {
  const attempt = async (): Promise<Client> => {
    const client = new Client({ name: "test", version: "1" }, options);
    await client.connect(transportTo(server, person));
    return client;
  };
  try {
    return await attempt();
  } catch (error) {
    assert.ok(error instanceof UnauthorizedError, String(error));
    await finishLogin(server, person);
    return attempt();
  }
}

function transportTo(server: GuardedServer, authProvider: OAuthClientProvider): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(server.mcp), { authProvider });
}

async function finishLogin(server: GuardedServer, person: Person): Promise<void> {
  const { callback = new URLSearchParams() } = person;
  assert.ok(callback.has("code"), `the login ended with ${callback}`);
  await transportTo(server, person).finishAuth(callback);
}

async function whoAmI(client: Client, name = "run_code"): Promise<Identity> {
  const { content } = await client.callTool({ name, arguments: {} });
  const [item] = content as { text: string }[];
  return JSON.parse(item?.text ?? "").extra.identity;
}

function post(server: GuardedServer, token: string, tool = "run_code"): Promise<Response> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: {} } };
  return fetch(server.mcp, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify(body),
  });
}

/** Registers a client that may ask for more than the SDK's would. */
async function register(identity: IdentityServer, person: Person, scope: string): Promise<void> {
  const answer = await fetch(`${identity.issuer}/reg`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...person.clientMetadata, scope }),
  });
  person.saveClientInformation((await answer.json()) as OAuthClientInformationMixed);
}

/** Asks the identity server's token endpoint, as the machine client. */
async function machineToken(identity: IdentityServer, resource: string, scope = "repl:read repl:run"): Promise<string> {
  const answer = await fetch(`${identity.issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${MACHINE.clientId}:${MACHINE.clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials", scope, resource }),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  assert.equal(answer.status, 200);
  return token;
}

const OTHER_RESOURCE = "https://else.example.com/mcp";

for (const format of ["jwt", "opaque"] as const) {
  describe(`OAuth with ${format === "jwt" ? "JWT access tokens" : "opaque tokens and introspection"}`, () => {
    let identity: IdentityServer;
    let server: GuardedServer;
    const resources: string[] = [OTHER_RESOURCE];

    before(async () => {
      identity = await startIdentityServer({ format, resources: () => resources });
      const introspection: Record<string, string> = {
        REPL_OAUTH_INTROSPECTION_URL: `${identity.issuer}/token/introspection`,
        REPL_OAUTH_CLIENT_ID: INTROSPECTOR.clientId,
        REPL_OAUTH_CLIENT_SECRET: INTROSPECTOR.clientSecret,
      };
      server = await startGuardedServer({
        REPL_AUTH: "oauth",
        REPL_OAUTH_ISSUER: identity.issuer,
        ...(format === "jwt" ? {} : introspection),
      });
      resources.push(server.mcp, `${server.origin}/`);
    });

    after(async () => {
      await server?.close();
      await identity?.close();
    });

    for (const [era, options] of [
      ["2025", {}],
      ["2026", { versionNegotiation: { mode: "auto" } }],
    ] as const) {
      it(`a client of ${era} discovers, registers, logs a person in and calls`, async () => {
        const person = new Person();
        const client = await connect(server, person, options);
        const { caller, scopes } = await whoAmI(client);
        assert.match(caller.owner, /^[0-9a-f]{40}$/);
        assert.deepEqual(scopes, ["repl:read", "repl:run"]);
        const [login] = person.sentTo;
        assert.equal(login?.origin, identity.issuer);
        assert.equal(login?.searchParams.get("resource"), server.mcp);
        assert.equal(login?.searchParams.get("code_challenge_method"), "S256");
        await client.close();
      });
    }

    it("one person is one owner through any client, and another is another", async () => {
      const owners: string[] = [];
      for (const user of ["user-one", "user-one", "user-two"]) {
        identity.user = user;
        const client = await connect(server, new Person());
        owners.push((await whoAmI(client)).caller.owner);
        await client.close();
      }
      identity.user = "user-one";
      assert.equal(owners[0], owners[1]);
      assert.notEqual(owners[0], owners[2]);
    });

    it("an expired token is refused, and the client gets a new one without the person", async () => {
      identity.tokenSeconds = 60;
      const person = new Person();
      const client = await connect(server, person);
      const before = await whoAmI(client);
      identity.tokenSeconds = 3600;
      server.ahead = 120_000;
      const after = await whoAmI(client);
      server.ahead = 0;
      assert.equal(after.caller.owner, before.caller.owner);
      assert.equal(person.sentTo.length, 1, "one login");
      assert.equal(person.saved.length, 2, "two tokens");
      await client.close();
    });

    it("a person who grants less may do less, and is asked when a call needs more", async () => {
      identity.granted = ["repl:read"];
      const person = new Person();
      const client = await connect(server, person);
      assert.deepEqual((await whoAmI(client, "list_sessions")).scopes, ["repl:read"]);
      const refused = await post(server, person.tokens()?.access_token ?? "");
      assert.equal(refused.status, 403);
      assert.match(refused.headers.get("www-authenticate") ?? "", /error="insufficient_scope".* scope="repl:run"/);
      identity.granted = ["repl:read", "repl:run"];
      await assert.rejects(whoAmI(client, "run_code"), UnauthorizedError);
      await finishLogin(server, person);
      assert.deepEqual((await whoAmI(client, "run_code")).scopes, ["repl:read", "repl:run"]);
      assert.equal(person.sentTo.length, 2);
      await client.close();
    });

    it("a program logs in for itself", async () => {
      const provider = new ClientCredentialsProvider({ ...MACHINE, expectedIssuer: identity.issuer });
      const client = new Client({ name: "job", version: "1" });
      await client.connect(transportTo(server, provider));
      assert.equal((await whoAmI(client)).caller.name, MACHINE.clientId);
      await client.close();
    });

    it("a token of the same issuer for another resource is refused", async () => {
      assert.equal((await post(server, await machineToken(identity, server.mcp))).status, 200);
      const answer = await post(server, await machineToken(identity, OTHER_RESOURCE));
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get("www-authenticate") ?? "", /another audience/);
    });

    it("an ID token is no access token", async () => {
      const person = new Person();
      person.alsoAsks = "openid";
      await register(identity, person, "openid offline_access repl:read repl:run");
      const client = await connect(server, person);
      await client.close();
      const idToken = person.tokens()?.id_token;
      assert.ok(idToken, "the provider gave one");
      assert.equal((await post(server, idToken)).status, 401);
      assert.equal((await post(server, person.tokens()?.refresh_token ?? "x")).status, 401);
    });

    it("tokens for the whole server are good as well", async () => {
      assert.equal((await post(server, await machineToken(identity, `${server.origin}/`))).status, 200);
    });

    it("the authorization server is asked seldom", async () => {
      const token = await machineToken(identity, server.mcp);
      await post(server, token);
      const asked = identity.served.length;
      for (let i = 0; i < 20; i++) assert.equal((await post(server, token)).status, 200);
      assert.equal(identity.served.length, asked);
    });

    it(`a revoked token ${format === "jwt" ? "lives on until it expires" : "is refused half a minute later"}`, async () => {
      const token = await machineToken(identity, server.mcp);
      assert.equal((await post(server, token)).status, 200);
      await fetch(`${identity.issuer}/token/revocation`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${MACHINE.clientId}:${MACHINE.clientSecret}`)}` },
        body: new URLSearchParams({ token }),
      });
      server.ahead = 30_000;
      assert.equal((await post(server, token)).status, format === "jwt" ? 200 : 401);
      server.ahead = 3_700_000;
      assert.equal((await post(server, token)).status, 401);
      server.ahead = 0;
    });

    it("no log has a token in it", () => {
      assert.deepEqual(server.logs, []);
    });
  });
}
