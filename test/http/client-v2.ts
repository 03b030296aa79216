import {
  Client,
  type RequestOptions,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CALL_LIMIT_MS, CLIENT_INFO, type Leg, type ReplClient, type Target, wrap } from "./client.ts";

/** The v2 line of the official SDK, which speaks 2026-07-28 when it is told to look for it, and 2025-11-25 otherwise. */

function transportTo(target: Target, kind: Leg["transport"]): Transport {
  if ("command" in target) {
    const [command, ...args] = target.command;
    return new StdioClientTransport({ command, args, env: target.env, stderr: "ignore" });
  }
  const options = { requestInit: { headers: { ...target.headers } } };
  return kind === "HTTP+SSE"
    ? new SSEClientTransport(new URL("/sse", target.url), options)
    : new StreamableHTTPClientTransport(target.url, options);
}

async function connect(target: Target, kind: Leg["transport"], era: Leg["era"]): Promise<ReplClient> {
  const client = new Client(CLIENT_INFO, { versionNegotiation: { mode: era === "2026" ? "auto" : "legacy" } });
  await client.connect(transportTo(target, kind), { timeout: CALL_LIMIT_MS });
  const revision = client.getNegotiatedProtocolVersion() ?? "";
  return wrap(client, (call, options) => client.callTool(call, options as RequestOptions), revision);
}

const leg = (transport: Leg["transport"], era: Leg["era"]): Leg => ({
  name: `v2 client of ${era} over ${transport}`,
  transport,
  era,
  connect: (target) => connect(target, transport, era),
});

export const V2_LEGS: readonly Leg[] = [
  leg("Streamable HTTP", "2026"),
  leg("Streamable HTTP", "2025"),
  leg("HTTP+SSE", "2025"),
  leg("stdio", "2026"),
  leg("stdio", "2025"),
];
