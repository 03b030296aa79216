import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";

/** The lightest client that a program can have: one connection, JSON in, JSON out. */
export type McpClient = {
  /** The result of a tool call. @throws Error when it is refused. */
  call(tool: string, args: object): Promise<ToolResult>;
  /** Sends a request and returns its result. */
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  close(): void;
};

export type ToolResult = {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
};

export type ClientOptions = { readonly headers?: Readonly<Record<string, string>> };

export type LegacyOptions = ClientOptions & {
  readonly version?: string;
  /** A connection for each request: some servers lose requests on one that was idle. */
  readonly fresh?: boolean;
};

type Headers = Readonly<Record<string, string>>;

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const CLIENT = { name: "bench", version: "1.0.0" };

/** Speaks revision 2026-07-28: every request stands alone. */
export function modernClient(url: URL, options: ClientOptions = {}): McpClient {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return clientOf(url, (method, params) => {
    const name = "name" in params ? { "mcp-name": String(params.name) } : {};
    const headers = { ...options.headers, "mcp-protocol-version": MODERN, "mcp-method": method, ...name };
    return { headers, params: { ...params, _meta } };
  });
}

/** Speaks a revision of 2025 in a session of its own. */
export async function legacyClient(url: URL, options: LegacyOptions = {}): Promise<McpClient> {
  const { version: protocolVersion = LEGACY, headers: own = {}, fresh = false } = options;
  const agent = new Agent({ keepAlive: !fresh });
  const post = (message: object, headers: Headers = {}): Promise<Answer> =>
    exchange(url, agent, { ...own, ...headers }, JSON.stringify({ jsonrpc: "2.0", ...message }));
  const hello = { protocolVersion, capabilities: {}, clientInfo: CLIENT };
  const answer = await post({ id: 0, method: "initialize", params: hello });
  const headers = { ...own, "mcp-protocol-version": protocolVersion, ...sessionOf(answer) };
  await post({ method: "notifications/initialized" }, headers);
  return clientOf(url, (_method, params) => ({ headers, params }), agent);
}

function sessionOf({ headers }: Answer): Headers {
  const id = headers["mcp-session-id"];
  return typeof id === "string" ? { "mcp-session-id": id } : {};
}

function clientOf(
  url: URL,
  dress: (method: string, params: object) => { headers: Headers; params: object },
  agent: Agent = new Agent({ keepAlive: true }),
): McpClient {
  let id = 0;
  const send: McpClient["send"] = async (method, given = {}) => {
    id += 1;
    const { headers, params } = dress(method, given);
    const { text } = await exchange(url, agent, headers, JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return resultIn(text);
  };
  return {
    send,
    async call(tool, args) {
      const result = await send("tools/call", { name: tool, arguments: args });
      return result as unknown as ToolResult;
    },
    close: () => agent.destroy(),
  };
}

type Answer = { readonly headers: IncomingMessage["headers"]; readonly text: string };

/** Once more where the connection had been closed while it was idle. */
async function exchange(url: URL, agent: Agent, headers: Headers, body: string): Promise<Answer> {
  const length = { "content-length": Buffer.byteLength(body) };
  const outgoing = request(url, { method: "POST", agent, headers: { ...JSON_HEADERS, ...headers, ...length } });
  outgoing.end(body);
  try {
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return await answerOf(incoming);
  } catch (error) {
    if (!outgoing.reusedSocket || (error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
    return exchange(url, agent, headers, body);
  }
}

async function answerOf(incoming: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  if ((incoming.statusCode ?? 500) >= 300) throw new Error(`HTTP ${incoming.statusCode}: ${text}`);
  return { headers: incoming.headers, text };
}

/** The last message of an answer, which came as JSON or as an event stream. */
function resultIn(text: string): Record<string, unknown> {
  const json = text.startsWith("{") ? text : text.slice(text.lastIndexOf("data: ") + 6);
  const { result, error } = JSON.parse(json) as { result?: Record<string, unknown>; error?: object };
  if (!result) throw new Error(`The request failed: ${JSON.stringify(error)}`);
  return result;
}
