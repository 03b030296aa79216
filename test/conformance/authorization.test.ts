import assert from "node:assert/strict";
import { test } from "node:test";
import { listOfficial } from "./official.ts";

for (const runner of ["stable", "alpha"] as const) {
  test(`the ${runner} runner has no scenario of authorization for an MCP server, as docs/security.md says`, async () => {
    const scenarios = await listOfficial(runner);
    const ofServers = scenarios.get("Server scenarios") ?? [];
    assert.ok(ofServers.includes("dns-rebinding-protection"), ofServers.join(", "));
    assert.deepEqual(
      ofServers.filter((name) => /auth|token|scope|consent/i.test(name)),
      [],
    );
    const ofClients = scenarios.get("Client scenarios") ?? [];
    assert.ok(ofClients.some((name) => name.startsWith("auth/")));
  });
}
