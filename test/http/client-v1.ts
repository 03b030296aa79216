import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CALL_LIMIT_MS, CLIENT_INFO, type Leg, type ReplClient, type Target, wrap } from "./client.ts";

/** The v1 line of the official SDK: what most of today's clients are made of. Knows nothing after 2025-11-25. */

function transportTo(target: Target, kind: Leg["transport"]): Transport {
  if ("command" in target) {
    const [command, ...args] = target.command;
    return new StdioClientTransport({ command, args, env: target.env, stderr: "ignore" });
  }
  const options = { requestInit: { headers: { ...target.headers } } };
  return kind === "HTTP+SSE"
    ? new SSEClientTransport(new URL("/sse", target.url), options)
    : (new StreamableHTTPClientTransport(target.url, options) as Transport); // `sessionId?` without `undefined`
}

async function connect(target: Target, kind: Leg["transport"]): Promise<ReplClient> {
  const client = new Client(CLIENT_INFO);
  const transport = transportTo(target, kind);
  // The client keeps the agreed revision to itself, but tells its transport.
  let revision = "";
  const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.(version);
  };
  await client.connect(transport, { timeout: CALL_LIMIT_MS });
  return wrap(client, (call, options) => client.callTool(call, undefined, options as RequestOptions), revision);
}

const leg = (transport: Leg["transport"]): Leg => ({
  name: `v1 client over ${transport}`,
  transport,
  era: "2025",
  connect: (target) => connect(target, transport),
});

export const V1_LEGS: readonly Leg[] = [leg("Streamable HTTP"), leg("HTTP+SSE"), leg("stdio")];
