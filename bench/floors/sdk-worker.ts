import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { Hono } from "hono";

/** The least a Worker on the SDK can do: a no-op tool behind Hono. */
const tools = [{ name: "noop", inputSchema: { type: "object" as const } }];

const handler = createMcpHandler(
  () => {
    const server = new Server({ name: "floor", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "2" }] }));
    return server;
  },
  { responseMode: "sse" },
);

const app = new Hono();
app.post("/mcp", async ({ req }) => handler.fetch(req.raw, { parsedBody: await req.raw.json() }));

export default { fetch: (request: Request) => app.fetch(request) };

/** The configuration names it. */
export class OwnerObject {}
