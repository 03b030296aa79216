import { spawn } from "node:child_process";
import { createAdaptorServer } from "@hono/node-server";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { Hono } from "hono";

/**
 * The least a server on the SDK can do: its handler behind Hono, a low-level `Server` a request, and two tools: `noop`
 * answers at once, `pipe` after a line has gone to a Python process and come back.
 */
const ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)";
const python = spawn(process.env.BENCH_PYTHON ?? "python3", ["-I", "-c", ECHO], { stdio: ["pipe", "pipe", "inherit"] });
const waiting: ((text: string) => void)[] = [];
python.stdout.on("data", (data: Buffer) => {
  for (const line of data.toString().trimEnd().split("\n")) waiting.shift()?.(line);
});

function pipe(): Promise<string> {
  python.stdin.write("2\n");
  return new Promise((resolve) => waiting.push(resolve));
}

const tools = ["noop", "pipe"].map((name) => ({ name, inputSchema: { type: "object" as const } }));

const handler = createMcpHandler(() => {
  const server = new Server({ name: "floor", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const text = params.name === "pipe" ? await pipe() : "2";
    return { content: [{ type: "text", text }] };
  });
  return server;
});

const app = new Hono();
app.post("/mcp", async ({ req }) => handler.fetch(req.raw, { parsedBody: await req.raw.json() }));
const server = createAdaptorServer({ fetch: (request) => app.fetch(request) });
server.listen(Number(process.env.MCP_PORT ?? 0), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address) process.stderr.write(`serves http://127.0.0.1:${address.port}/mcp\n`);
});
process.once("SIGTERM", () => process.exit(0));
