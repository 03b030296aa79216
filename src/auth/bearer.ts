import type { Scope } from "./principal.ts";

/** Longest `Authorization` header that is looked at, in characters. Access tokens of real servers stay below 4,000. */
export const MAX_AUTHORIZATION = 8192;

/** RFC 6750 `b64token` behind the scheme. A comma, as two joined headers have, does not match. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Parameters by which tokens are passed in a URL, where they end up in logs and histories. */
const QUERY_TOKENS = new Set(["access_token", "id_token", "token"]);

export type Credentials =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly reason: string };

/** Finds the bearer token of a request. `none`: nothing was sent, or another scheme than Bearer. */
export function readBearer(request: Request): Credentials {
  if (hasQueryToken(request.url)) {
    return { kind: "malformed", reason: "A token must be sent in the Authorization header, never in the URL" };
  }
  const header = request.headers.get("authorization");
  if (header === null || header === "") return { kind: "none" };
  if (header.length > MAX_AUTHORIZATION) {
    return { kind: "malformed", reason: `The Authorization header is longer than ${MAX_AUTHORIZATION} characters` };
  }
  const token = BEARER.exec(header)?.[1];
  if (token !== undefined) return { kind: "token", token };
  if (!/^bearer\b/i.test(header) && !header.includes(",")) return { kind: "none" };
  return { kind: "malformed", reason: "The Authorization header must be one Bearer token" };
}

function hasQueryToken(url: string): boolean {
  const start = url.indexOf("?");
  if (start < 0) return false;
  for (const name of new URLSearchParams(url.slice(start)).keys()) {
    if (QUERY_TOKENS.has(name.toLowerCase())) return true;
  }
  return false;
}

export type Challenge = {
  readonly status: 400 | 401 | 403;
  /** RFC 6750 section 3.1; absent when no credentials were sent. */
  readonly error?: "invalid_request" | "invalid_token" | "insufficient_scope";
  readonly description: string;
  readonly scopes: readonly Scope[];
  /** Where the client finds the authorization server (RFC 9728). */
  readonly resourceMetadata?: string;
};

/** Builds the answer that refuses a request for its credentials. */
export function challengeResponse(challenge: Challenge): Response {
  const { status, error, description, scopes, resourceMetadata } = challenge;
  const parameters = ['realm="edge-python-repl"'];
  if (error !== undefined) parameters.push(`error="${error}"`, `error_description="${quotable(description)}"`);
  if (scopes.length > 0) parameters.push(`scope="${scopes.join(" ")}"`);
  if (resourceMetadata !== undefined) parameters.push(`resource_metadata="${quotable(resourceMetadata)}"`);
  const body = { error: error ?? "unauthorized", error_description: description };
  return Response.json(body, {
    status,
    headers: { "WWW-Authenticate": `Bearer ${parameters.join(", ")}`, "Cache-Control": "no-store" },
  });
}

/** Builds the answer for a token that could not be checked because the authorization server did not answer. */
export function unavailableResponse(description: string, retryAfterSeconds: number): Response {
  const body = { error: "temporarily_unavailable", error_description: description };
  const headers = { "Retry-After": String(Math.max(1, Math.ceil(retryAfterSeconds))), "Cache-Control": "no-store" };
  return Response.json(body, { status: 503, headers });
}

function quotable(text: string): string {
  return text.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, " ");
}
