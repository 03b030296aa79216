import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ProtectedResource } from "../../src/auth/metadata.ts";

const ISSUER = "https://login.example.com/";
const at = (path: string, method = "GET"): Request => new Request(`http://127.0.0.1:8000${path}`, { method });
const resource = (publicUrl = "https://repl.example.com"): ProtectedResource =>
  new ProtectedResource({ publicUrl, paths: ["/mcp", "/sse"], issuer: ISSUER });

async function documentAt(owner: ProtectedResource, path: string): Promise<Record<string, unknown>> {
  const answer = owner.respond(at(path));
  assert.equal(answer?.status, 200, path);
  return (await answer?.json()) as Record<string, unknown>;
}

describe("protected resource metadata", () => {
  it("is at the root's place and at each endpoint's, each naming its own resource", async () => {
    const owner = resource();
    for (const [path, name] of [
      ["", "https://repl.example.com/"],
      ["/", "https://repl.example.com/"],
      ["/mcp", "https://repl.example.com/mcp"],
      ["/sse", "https://repl.example.com/sse"],
    ] as const) {
      assert.deepEqual(await documentAt(owner, `/.well-known/oauth-protected-resource${path}`), {
        resource: name,
        authorization_servers: [ISSUER],
        scopes_supported: ["repl:read", "repl:run"],
        bearer_methods_supported: ["header"],
        resource_name: "Python REPL",
      });
    }
  });

  it("is where the challenge says, also behind a path of a proxy", async () => {
    for (const base of ["https://repl.example.com", "https://example.com/tools/repl"]) {
      const owner = resource(base);
      for (const path of ["/mcp", "/sse", "/notebook"]) {
        const url = new URL(owner.metadataUrl(path));
        const document = await documentAt(owner, url.pathname);
        assert.ok(owner.identifiers.includes(String(document.resource)));
        assert.equal(url.pathname.startsWith("/.well-known/oauth-protected-resource"), true);
      }
    }
    assert.equal(
      resource("https://example.com/repl").metadataUrl("/mcp"),
      "https://example.com/.well-known/oauth-protected-resource/repl/mcp",
    );
  });

  it("is readable by any page, and by no other method", () => {
    const path = "/.well-known/oauth-protected-resource/mcp";
    assert.equal(resource().respond(at(path))?.headers.get("access-control-allow-origin"), "*");
    assert.equal(resource().respond(at(path, "OPTIONS"))?.status, 204);
    assert.equal(resource().respond(at(path, "HEAD"))?.status, 200);
    assert.equal(resource().respond(at(path, "POST"))?.status, 405);
  });

  it("is nowhere else", () => {
    for (const path of [
      "/mcp",
      "/.well-known/oauth-protected-resource/other",
      "/.well-known/oauth-protected-resourcexyz",
      "/x/.well-known/oauth-protected-resource",
      "/mcp?/.well-known/oauth-protected-resource",
    ]) {
      assert.equal(resource().respond(at(path)), undefined, path);
    }
  });
});
