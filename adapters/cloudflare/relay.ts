import { isEventStream } from "../../src/core/response-end.ts";
import { bodyTooLarge } from "../../src/mcp/body.ts";
import type { Stub } from "./setup.ts";

/**
 * Clients wait for a reply whose stream was cut until their own time is up, a minute as a rule, so that they are told at
 * once. The block itself is in the history, marked as interrupted.
 */
const CUT_OFF = "The server was restarted while it served this call; get_history shows what became of it";

export type Relay = {
  readonly stub: Stub;
  readonly request: Request;
  /** What the object gets in place of the request's own. */
  readonly headers: Headers;
  readonly maxBodyBytes: number;
  /** Puts what belongs to every answer on one that is not the object's. */
  readonly refuse: (refusal: Response) => Response;
};

/**
 * Hands an MCP message to an owner's object, with its whole body in memory: so that its ids are known if the object ends
 * in the middle of its answer, and a body over the limit is read to its end, else its client would see no answer.
 */
export async function relayMessage({ stub, request, headers, maxBodyBytes, refuse }: Relay): Promise<Response> {
  const body = await readBody(request, maxBodyBytes);
  if (body === undefined) return refuse(bodyTooLarge(maxBodyBytes));
  const { url, method, signal } = request;
  let response: Response;
  try {
    response = await stub.fetch(new Request(url, { method, headers, body, signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    const [id = null] = idsIn(body);
    return refuse(Response.json(failure(id), { status: 503, headers: { "retry-after": "1" } }));
  }
  if (!isEventStream(response) || !response.body) return response;
  return new Response(endedProperly(response.body, body), response);
}

/** The stream; when it breaks, it ends with an error for each request of the message. */
function endedProperly(stream: ReadableStream<Uint8Array>, message: Uint8Array): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const pump = async (): Promise<void> => {
    const broken = await stream.pipeTo(writable, { preventAbort: true }).then(
      () => false,
      () => true,
    );
    if (!broken) return;
    const writer = writable.getWriter();
    for (const id of idsIn(message)) await writer.write(eventOf(failure(id)));
    await writer.close();
  };
  pump().catch(() => undefined); // The client has gone, which the object has been told by its own end of the stream.
  return readable;
}

function eventOf(message: object): Uint8Array {
  return new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function failure(id: unknown): object {
  return { jsonrpc: "2.0", id, error: { code: -32000, message: CUT_OFF } };
}

/** The ids of the requests in a JSON-RPC message or batch. */
function idsIn(message: Uint8Array): unknown[] {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(message));
    return [parsed].flat().flatMap((one) => {
      const { id, method } = (one ?? {}) as { id?: unknown; method?: unknown };
      return id === undefined || method === undefined ? [] : [id];
    });
  } catch {
    return []; // The object has refused what is no JSON.
  }
}

/** Undefined when the body has more than `limit` bytes; it is read to its end all the same. */
async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size <= limit) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > limit) return undefined;
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}
