import { shorten } from "../core/shorten.ts";

/** A POST body that was read once: its JSON, or the refusal to send. */
export type Body = { readonly message: unknown } | { readonly refusal: Response };

/** The refusal of a message whose id is not known. */
export function refusalOf(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}

function refuse(status: number, code: number, message: string): { refusal: Response } {
  return { refusal: refusalOf(status, code, message) };
}

/** The refusal of a body that is over the limit. */
export function bodyTooLarge(limit: number): Response {
  const message = `The request body is over the limit of ${limit} bytes; send less, or run the code as a file`;
  return refusalOf(413, -32600, message);
}

/**
 * Reads the JSON body of a POST within `limit` bytes.
 * Refuses another content type (415), a body over the limit (413, unread when its length is declared), and what is not
 * JSON (400, -32700) or not JSON-RPC 2.0 (400, -32600).
 */
export async function readJsonRpc(request: Request, limit: number): Promise<Body> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    return refuse(415, -32600, `The content type must be application/json, not ${JSON.stringify(shorten(type ?? ""))}`);
  }
  if (Number(request.headers.get("content-length") ?? 0) > limit) return { refusal: bodyTooLarge(limit) };
  let message: unknown;
  try {
    const text = await readText(request, limit);
    if (text === undefined) return { refusal: bodyTooLarge(limit) };
    message = JSON.parse(text);
  } catch {
    // Not JSON, or cut off by a client that nobody can tell.
    return refuse(400, -32700, "The request body is not valid JSON");
  }
  return isJsonRpc(message)
    ? { message }
    : refuse(400, -32600, 'The request body is not a JSON-RPC 2.0 message: "jsonrpc" must be "2.0"');
}

/** Undefined when the body is longer than `limit` bytes. Bytes that are not UTF-8 become U+FFFD, which is no JSON. */
export async function readText(request: Request, limit: number): Promise<string | undefined> {
  // First, since on Node a look at `body` makes a stream that `text` does without.
  if (request.headers.get("content-length") !== null) return request.text();
  if (!request.body) return "";
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

/** A message, or a batch of them; batches in batches are none, however deep. */
function isJsonRpc(body: unknown): boolean {
  return Array.isArray(body) ? body.length > 0 && body.every(isMessage) : isMessage(body);
}

function isMessage(message: unknown): boolean {
  return typeof message === "object" && message !== null && "jsonrpc" in message && message.jsonrpc === "2.0";
}
