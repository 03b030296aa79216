import type { Config } from "../src/config.ts";
import type { Composition } from "./compose.ts";

/** What a person wants to know when the server has started. */
export function banner({ MCP_HOST, auth }: Config, { python, history }: Composition, port: number): string {
  const host = MCP_HOST.includes(":") ? `[${MCP_HOST}]` : MCP_HOST;
  const url = `http://${host}:${port}/mcp`;
  const headers = auth.mode === "token" ? { headers: { Authorization: "Bearer YOUR_TOKEN" } } : {};
  const client = { mcpServers: { python: { type: "http", url, ...headers } } };
  return [
    `edge-python-repl serves ${url} (older clients: ${url.replace(/mcp$/, "sse")})`,
    `  shows sessions at  ${url.replace(/mcp$/, "")}`,
    `  runs code with  ${python}`,
    `  keeps history in  ${history}`,
    "  client configuration:",
    ...JSON.stringify(client, null, 2)
      .split("\n")
      .map((line) => `    ${line}`),
    "",
  ].join("\n");
}
