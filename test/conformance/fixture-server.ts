import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { createFixtureFactory } from "./fixtures.ts";

/** Our whole HTTP app around the fixture registry, without sessions or a Python behind it. */
export function createFixtureApp() {
  const bus = new InMemoryServerEventBus();
  return createApp({
    config: parseConfig({}),
    service: undefined as never, // Only our own MCP server asks for it, and that is replaced.
    settings: { structured: "full", echo: true, replyChars: 1000 },
    log: () => undefined,
    bind: "127.0.0.1",
    factory: createFixtureFactory(bus),
    bus,
  });
}

/** Serves the fixture app on a free loopback port. */
export async function startFixtureServer(): Promise<{ readonly url: URL; close(): Promise<void> }> {
  const app = createFixtureApp();
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The fixture server has no address");
  return {
    url: new URL(`http://127.0.0.1:${address.port}/mcp`),
    async close() {
      server.close();
      await app.close();
    },
  };
}
