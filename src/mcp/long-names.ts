import { PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/server";
import { refusalOf } from "./body.ts";

/** Characters of what only names of a short list can be, and of what may be the address of a file. */
const MAX_NAME = 200;
const MAX_ADDRESS = 16_384;

const HEADERS = { "mcp-protocol-version": MAX_NAME, "mcp-method": MAX_NAME, "mcp-name": MAX_ADDRESS } as const;

/**
 * Refuses names beyond any length that one can have. The SDK's errors repeat them whole, several times, so that the
 * answer would be longer than the request.
 */
export function refuseLongNames(request: Request, message: unknown): Response | undefined {
  for (const [header, most] of Object.entries(HEADERS)) {
    if ((request.headers.get(header)?.length ?? 0) > most) return tooLong(`The header ${header}`, most);
  }
  const { method, params } = message as { method?: unknown; params?: Record<string, unknown> | null };
  const meta = params?._meta as Record<string, unknown> | null | undefined;
  if (isLonger(method, MAX_NAME)) return tooLong("method", MAX_NAME);
  if (isLonger(meta?.[PROTOCOL_VERSION_META_KEY], MAX_NAME)) return tooLong(PROTOCOL_VERSION_META_KEY, MAX_NAME);
  for (const name of ["name", "uri"]) {
    if (isLonger(params?.[name], MAX_ADDRESS)) return tooLong(`params.${name}`, MAX_ADDRESS);
  }
  return undefined;
}

function isLonger(value: unknown, most: number): boolean {
  return typeof value === "string" && value.length > most;
}

function tooLong(what: string, most: number): Response {
  return refusalOf(400, -32600, `${what} is longer than ${most} characters`);
}
