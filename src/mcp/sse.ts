import {
  type AuthInfo,
  type JSONRPCMessage,
  type McpServerFactory,
  parseJSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { identityOf } from "./server.ts";

/** Open streams beyond this are refused; no owner may take them all. */
const MAX_STREAMS = 1000;
const MAX_PER_OWNER = 200;

/**
 * The HTTP+SSE transport of revision 2024-11-05: `GET /sse` opens the stream of one session and names the address that
 * takes its messages. Written on web streams because the SDK's own needs a Node response.
 */
export type SseEndpoint = {
  open(request: Request, authInfo: AuthInfo | undefined): Promise<Response>;
  /** `message` is the parsed body. */
  post(request: Request, message: unknown, authInfo: AuthInfo | undefined): Response;
  close(): Promise<void>;
};

type SseTransport = Transport & { readonly owner: string };

export function createSseEndpoint(factory: McpServerFactory, options: { readonly keepAliveMs: number }): SseEndpoint {
  const transports = new Map<string, SseTransport>();
  return {
    async open(_request, authInfo) {
      const { owner } = identityOf(authInfo).caller;
      const own = [...transports.values()].filter((transport) => transport.owner === owner);
      if (own.length >= MAX_PER_OWNER || transports.size >= MAX_STREAMS) {
        return refusal(503, "Too many open streams; close one or try again later");
      }
      const id = crypto.randomUUID();
      const stream = createEventStream(options.keepAliveMs, () => void transport.close());
      const transport = createTransport(id, owner, stream, () => transports.delete(id));
      transports.set(id, transport);
      const server = await factory({ era: "legacy", ...(authInfo ? { authInfo } : {}) });
      await server.connect(transport);
      stream.send("endpoint", `/messages?sessionId=${id}`);
      return new Response(stream.body, {
        headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
      });
    },
    post(request, message, authInfo) {
      const transport = transports.get(new URL(request.url).searchParams.get("sessionId") ?? "");
      if (!transport || transport.owner !== identityOf(authInfo).caller.owner) {
        return refusal(404, "Session not found; open a new stream with GET /sse");
      }
      const parsed = parsedMessage(message);
      if (!parsed) return refusal(400, "The request body is not one JSON-RPC message", -32600);
      transport.onmessage?.(parsed, { request, ...(authInfo ? { authInfo } : {}) });
      return new Response("Accepted", { status: 202 });
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
    },
  };
}

function createTransport(id: string, owner: string, stream: EventStream, forget: () => void): SseTransport {
  const transport: SseTransport = {
    owner,
    sessionId: id,
    start: () => Promise.resolve(),
    send: async (message: JSONRPCMessage) => stream.send("message", JSON.stringify(message)),
    close: async () => {
      forget();
      stream.close();
      const { onclose } = transport;
      delete transport.onclose;
      onclose?.();
    },
  };
  return transport;
}

type EventStream = {
  readonly body: ReadableStream<Uint8Array>;
  send(event: string, data: string): void;
  close(): void;
};

function createEventStream(keepAliveMs: number, onLost: () => void): EventStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const write = (text: string): void => controller?.enqueue(encoder.encode(text));
  const timer = setInterval(() => write(": keep-alive\n\n"), keepAliveMs);
  const end = (): void => {
    clearInterval(timer);
    controller = undefined;
  };
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      end();
      onLost();
    },
  });
  return {
    body,
    send: (event, data) => write(`event: ${event}\ndata: ${data}\n\n`),
    close: () => {
      controller?.close();
      end();
    },
  };
}

/** Undefined for what is no message of JSON-RPC; this transport knows no batches. */
function parsedMessage(message: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(message);
  } catch {
    return undefined;
  }
}

function refusal(status: number, message: string, code = -32001): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
