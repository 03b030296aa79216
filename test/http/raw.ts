import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";

/** HTTP requests as they are, with headers that `fetch` would not let a program set. */

export type RawRequest = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Uint8Array | object;
};

export type RawAnswer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The JSON-RPC messages of the answer, whether it came as JSON or as an event stream. */
  readonly messages: readonly JsonRpc[];
};

export type JsonRpc = {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
};

export const JSON_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
} as const;

const TOKEN = process.env.REPL_TEST_TOKEN;
const AUTH: Readonly<Record<string, string>> = TOKEN === undefined ? {} : { authorization: `Bearer ${TOKEN}` };

/** Starts a request; its answer may be read or the connection be cut. */
export function open(url: URL, { method = "POST", path, headers = {}, body }: RawRequest): ClientRequest {
  const target = path === undefined ? url : new URL(path, url);
  const own = method === "POST" ? JSON_HEADERS : { accept: "text/event-stream" };
  const bytes = toBytes(body);
  const length = bytes === undefined ? {} : { "content-length": String(bytes.length) };
  const outgoing = request(target, { method, headers: { ...own, ...AUTH, ...length, ...headers }, agent: false });
  // Who waits for the answer sees a failure; one that comes after the answer, or after a cut of ours, is none.
  outgoing.on("error", () => undefined);
  outgoing.end(bytes);
  return outgoing;
}

function toBytes(body: RawRequest["body"]): Buffer | undefined {
  if (body === undefined) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(JSON.stringify(body));
}

/** Sends a request and reads the whole answer. */
export async function send(url: URL, given: RawRequest): Promise<RawAnswer> {
  return answerOf(open(url, given));
}

/**
 * Sends a body of `size` blanks, with or without its length, as `fetch` does it: an answer that comes while the body is still
 * being sent is read all the same.
 */
export async function sendBlanks(url: URL, size: number, declared: boolean): Promise<{ status: number; text: string }> {
  const part = new Uint8Array(1024 * 1024).fill(0x20);
  const parts = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (size <= 0) return controller.close();
      controller.enqueue(part.subarray(0, Math.min(size, part.length)));
      size -= part.length;
    },
  });
  const body = declared ? " ".repeat(size) : parts;
  const response = await fetch(url, {
    method: "POST",
    headers: { ...JSON_HEADERS, ...AUTH },
    body,
    duplex: "half",
  } as RequestInit);
  return { status: response.status, text: await response.text() };
}

async function answerOf(outgoing: ClientRequest): Promise<RawAnswer> {
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  incoming.setEncoding("utf8");
  let text = "";
  for await (const part of incoming) text += part;
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text, messages: messagesOf(incoming, text) };
}

function messagesOf({ headers }: IncomingMessage, text: string): JsonRpc[] {
  if (headers["content-type"]?.includes("text/event-stream")) return eventsOf(text).map((data) => JSON.parse(data));
  if (!headers["content-type"]?.includes("application/json") || text === "") return [];
  return [JSON.parse(text)].flat() as JsonRpc[];
}

/** The data of each event of a stream. */
export function eventsOf(stream: string): string[] {
  return stream
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data: ") && line !== "data: " ? [line.slice(6)] : []));
}

/** The message that opens a session of a 2025 revision. */
export function initialize(protocolVersion = "2025-11-25"): object {
  const clientInfo = { name: "raw", version: "1.0.0" };
  return { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo } };
}

export function toolCall(name: string, args: object, id: number | string = 1): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

/** The same call as a client of 2026-07-28 sends it, and the headers that go with it. */
export function modernCall(name: string, args: object, version = "2026-07-28"): RawRequest {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    headers: { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } },
  };
}
