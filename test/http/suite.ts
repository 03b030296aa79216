import { after, before, describe, test } from "node:test";
import { type Check, sessionOf, type World } from "./check.ts";
import { changeChecks } from "./checks-changes.ts";
import { errorChecks } from "./checks-errors.ts";
import { liveChecks } from "./checks-live.ts";
import { resourceChecks } from "./checks-resources.ts";
import { toolChecks } from "./checks-tools.ts";
import { usageChecks } from "./checks-usage.ts";
import type { Leg, ReplClient, Target } from "./client.ts";

/** Everything that must hold for every client over every transport. */
export const CHECKS: readonly Check[] = [
  ...usageChecks,
  ...toolChecks,
  ...errorChecks,
  ...resourceChecks,
  ...changeChecks,
  ...liveChecks,
];

/** What depends on the client's library. The other checks are the same on the wire as for the other client of a revision. */
export const CLIENT_CHECKS: readonly Check[] = [...usageChecks, ...resourceChecks, ...liveChecks];

/** Sessions are apart, so that checks may overlap; more at once would only wait for the processor. */
const CONCURRENCY = 4;
const LIMIT_MS = 45_000;

/** One suite: checks through one client. `target` is asked once, before the first check. */
export function describeChecks(leg: Leg, target: () => Promise<Target>, checks = CHECKS): void {
  describe(leg.name, { concurrency: CONCURRENCY }, () => {
    let client: ReplClient;
    let where: Target;
    before(async () => {
      where = await target();
      client = await leg.connect(where);
    });
    after(() => client.close());
    for (const { id, needs, run } of checks) {
      const skip =
        needs === "network" && leg.transport === "stdio" ? "over stdio each client has its own server" : false;
      test(id, { skip, timeout: LIMIT_MS }, () => inWorld(leg, where, client, run));
    }
  });
}

let created = 0;

/** Unique in this file's process and, over a shared server, among files. */
function newId(): string {
  created += 1;
  return `check-${process.pid}-${created}`;
}

/** Makes what a check works with and takes it away again. */
async function inWorld(leg: Leg, target: Target, client: ReplClient, run: Check["run"]): Promise<void> {
  const clients: ReplClient[] = [];
  const sessions: string[] = [];
  const world: World = {
    client,
    leg,
    freshId: newId,
    async another() {
      const other = await leg.connect(target);
      clients.push(other);
      return other;
    },
    async session(args = {}) {
      const { isError, text, structured } = await client.call("create_session", { session_id: newId(), ...args });
      if (isError) throw new Error(`No session was created: ${text}`);
      const id = String(structured.session_id);
      sessions.push(id);
      return sessionOf(client, id);
    },
  };
  try {
    await run(world);
  } finally {
    await Promise.all(clients.map((other) => other.close()));
    await Promise.all(sessions.map((session_id) => client.call("delete_session", { session_id })));
  }
}
