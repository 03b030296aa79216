import assert from "node:assert/strict";

/** What a tool call came to: the result of MCP, and the HTTP response it came in. */
export type ToolReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly isError: boolean;
  /** `structuredContent`, or what there was in its place. */
  readonly content: Readonly<Record<string, unknown>>;
  /** All text of the reply. */
  readonly text: string;
};

export type HttpClient = {
  /** Calls a tool as a client of the 2025 revisions without a session does. */
  tool(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolReply>;
  /** Runs code and returns the reply's text. */
  run(session: string, code: string): Promise<string>;
  /** Sends any JSON-RPC request and returns its answer. */
  ask(method: string, params?: Readonly<Record<string, unknown>>): Promise<RpcAnswer>;
  /** Sends any body as JSON. */
  post(body: unknown): Promise<RpcAnswer>;
  get(path: string): Promise<Response>;
  /** Sends anything to another path of the server. */
  send(path: string, init: RequestInit): Promise<Response>;
  /** Asks for a page of the server, or posts a form to it. */
  page(method: "GET" | "POST", path: string, form?: Readonly<Record<string, string>>): Promise<Response>;
};

export type RpcAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** Body of the HTTP response. */
  readonly body: string;
  /** The JSON-RPC message in it. */
  readonly message: Readonly<Record<string, unknown>>;
};

type Send = (request: Request) => Promise<Response>;

/** The smallest client: plain requests, so that tests see every byte. `send` may be an app in this process. */
export function httpClient(
  url: string | URL,
  headers: Readonly<Record<string, string>> = {},
  send: Send = fetch,
): HttpClient {
  let id = 0;
  const post: HttpClient["post"] = async (content) => {
    const given = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
    const response = await send(new Request(url, { method: "POST", headers: given, body: JSON.stringify(content) }));
    const body = await response.text();
    return { status: response.status, headers: response.headers, body, message: messageIn(body) };
  };
  const ask: HttpClient["ask"] = (method, params = {}) => {
    id += 1;
    return post({ jsonrpc: "2.0", id, method, params });
  };
  const tool: HttpClient["tool"] = async (name, args) => {
    const { message, ...answer } = await ask("tools/call", { name, arguments: args });
    return { ...answer, ...replyOf(message) };
  };
  return {
    ask,
    post,
    get: (path) => send(new Request(new URL(path, url), { headers })),
    send: (path, init) => send(new Request(new URL(path, url), { ...init, headers: { ...headers, ...init.headers } })),
    page(method, path, fields = {}) {
      const form = method === "POST" ? { body: new URLSearchParams(fields) } : {};
      return send(new Request(new URL(path, url), { method, headers: { accept: "text/html", ...headers }, ...form }));
    },
    tool,
    async run(session, code) {
      const reply = await tool("run_code", { session_id: session, code });
      assert.equal(reply.isError, false, reply.text);
      return reply.text;
    },
  };
}

type Result = {
  readonly isError?: boolean;
  readonly content?: readonly { text?: string }[];
  structuredContent?: object;
};

function replyOf(message: RpcAnswer["message"]): Pick<ToolReply, "isError" | "content" | "text"> {
  const result = message.result as Result | undefined;
  if (!result)
    return {
      isError: true,
      content: (message.error ?? message) as ToolReply["content"],
      text: JSON.stringify(message),
    };
  const text = (result.content ?? []).map((item) => item.text ?? "").join("\n");
  return { isError: result.isError ?? false, content: (result.structuredContent ?? {}) as ToolReply["content"], text };
}

/** The last message of an event stream, or the body itself. */
function messageIn(body: string): RpcAnswer["message"] {
  const events = body.split("\n").filter((line) => line.startsWith("data:"));
  const json = events.at(-1)?.slice("data:".length) ?? body;
  try {
    return JSON.parse(json) as RpcAnswer["message"];
  } catch {
    return {};
  }
}
