import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { createFixtureApp } from "./fixture-app.ts";

/** Serves the fixture app on a free loopback port of this Node. */
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
