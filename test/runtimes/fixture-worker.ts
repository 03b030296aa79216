import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import { createSessionMemory } from "../../adapters/cloudflare/mcp-sessions.ts";
import type { ObjectState } from "../../adapters/cloudflare/owner-object.ts";
import worker from "../../adapters/cloudflare.ts";
import { type App, createApp } from "../../src/app.ts";
import { LOCAL_PRINCIPAL } from "../../src/auth/principal.ts";
import { parseConfig } from "../../src/config.ts";
import { createFixtureFactory } from "../conformance/fixtures.ts";

/** The Worker as it is deployed, before objects that hold the fixtures of the conformance runner instead of sessions. */
export default worker;

export class OwnerObject {
  readonly #app: App;
  readonly #state: ObjectState;

  constructor(state: ObjectState) {
    this.#state = state;
    const bus = new InMemoryServerEventBus();
    this.#app = createApp({
      config: parseConfig({}),
      service: undefined as never, // Only our own MCP server asks for it, and that is replaced.
      settings: { structured: "full", echo: true, replyChars: 1000 },
      log: () => undefined,
      bind: "127.0.0.1",
      keepAliveMs: 500,
      streamSlowCalls: true,
      identify: async () => LOCAL_PRINCIPAL,
      mcpSessions: createSessionMemory(state.storage),
      factory: createFixtureFactory(bus),
      bus,
    });
  }

  fetch(request: Request): Promise<Response> {
    return this.#app.fetch(request, (work) => this.#state.waitUntil(work));
  }
}
