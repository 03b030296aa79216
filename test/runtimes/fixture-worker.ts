import type { ObjectState } from "../../adapters/cloudflare/owner-object.ts";
import worker from "../../adapters/cloudflare.ts";
import { openDurableObject } from "../../adapters/drivers/durable-object.ts";
import type { App } from "../../src/app.ts";
import { LOCAL_PRINCIPAL } from "../../src/auth/principal.ts";
import { createMcpSessions } from "../../src/store/mcp-sessions.ts";
import { createFixtureApp } from "../conformance/fixture-app.ts";

/** The Worker as it is deployed, before objects that hold the fixtures of the conformance runner instead of sessions. */
export default worker;

export class OwnerObject {
  readonly #app: App;
  readonly #state: ObjectState;

  constructor(state: ObjectState) {
    this.#state = state;
    this.#app = createFixtureApp({
      keepAliveMs: 300,
      streamSlowCalls: true,
      identify: async () => LOCAL_PRINCIPAL,
      mcpSessions: createMcpSessions(openDurableObject(state.storage)),
    });
  }

  fetch(request: Request): Promise<Response> {
    return this.#app.fetch(request, (work) => this.#state.waitUntil(work));
  }
}
