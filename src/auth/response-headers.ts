import { isAllowedOrigin, type NetworkOptions } from "./origin.ts";

const METHODS = "GET, POST, DELETE, OPTIONS";

/** What MCP clients of all eras send, in lower case. `Mcp-Param-*` has no wildcard in CORS: it is taken from the question. */
const REQUEST_HEADERS = [
  "authorization",
  "content-type",
  "accept",
  "mcp-session-id",
  "mcp-protocol-version",
  "last-event-id",
  "mcp-method",
  "mcp-name",
].join(", ");

const EXPOSED_HEADERS = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After, X-Request-Id";

const PARAMETER = /^mcp-param-[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const MAX_PARAMETERS = 64;

/** Answers a browser's question before a call (CORS preflight) of an allowed origin; undefined for other requests. */
export function corsPreflight(request: Request, options: NetworkOptions): Response | undefined {
  if (request.method !== "OPTIONS") return undefined;
  const origin = request.headers.get("origin");
  if (origin === null || !request.headers.has("access-control-request-method")) return undefined;
  if (!isAllowedOrigin(origin, request, options)) return undefined;
  const asked = (request.headers.get("access-control-request-headers") ?? "").toLowerCase().split(",");
  const parameters = asked.map((name) => name.trim()).filter((name) => PARAMETER.test(name));
  const headers = new Headers({
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": [REQUEST_HEADERS, ...parameters.slice(0, MAX_PARAMETERS)].join(", "),
    "Access-Control-Max-Age": "7200",
    Vary: "Origin, Access-Control-Request-Headers",
  });
  headers.set("Access-Control-Allow-Origin", origin);
  return new Response(null, { status: 204, headers });
}

/**
 * Lets a page of an allowed origin read an answer. Never with credentials: a page authenticates by header, and the
 * login cookie is for this server's own pages.
 */
export function applyCors(headers: Headers, request: Request, options: NetworkOptions): void {
  const origin = request.headers.get("origin");
  if (origin === null) return;
  headers.append("Vary", "Origin");
  if (!isAllowedOrigin(origin, request, options)) return;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}

/** Nothing may be loaded by, or frame, an answer that is not a page. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Sets what browsers should know of every answer. @param policy Content security policy, for pages. */
export function applySecurityHeaders(headers: Headers, options: NetworkOptions, policy = API_POLICY): void {
  headers.set("Content-Security-Policy", policy);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("X-Frame-Options", "DENY");
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  if (options.https) headers.set("Strict-Transport-Security", "max-age=31536000");
}
