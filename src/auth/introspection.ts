import { authorizedPrincipal, type Claims } from "./claims.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import { fetchJson, type JsonObject, StatusError } from "./fetch-json.ts";
import type { AuthDependencies, Verdict, Verifier } from "./verdict.ts";

/** Milliseconds for which a token that was active is not asked about again: the longest a revoked one lives on. */
const ACTIVE_MS = 30_000;
/** The same for a token that was not, so that a client that repeats it causes no traffic. */
const INACTIVE_MS = 10_000;
const MAX_INACTIVE = 1000;
/** Questions in flight; more tokens at once are told to come back. */
const MAX_QUESTIONS = 32;
const RETRY_SECONDS = 2;

export type IntrospectionOptions = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
};

/** Asks the authorization server about each token (RFC 7662), as it must be for opaque ones. */
export function createIntrospectionVerifier(options: IntrospectionOptions, deps: AuthDependencies): Verifier {
  const refused = new ExpiringCache<Verdict>(MAX_INACTIVE);
  const pending = new Map<string, Promise<Verdict>>();
  let questions = 0;

  const ask = async (token: string): Promise<Verdict> => {
    if (questions >= MAX_QUESTIONS) return unavailable("Too many tokens are being checked at once");
    questions++;
    try {
      const claims = await introspect(token, options, deps).catch(inactiveWhenMalformed);
      const verdict = await judge(claims, options, deps.now());
      if (verdict.status === "invalid") refused.set(token, verdict, deps.now() + INACTIVE_MS);
      return verdict;
    } catch (error) {
      deps.log(`A token could not be introspected: ${(error as Error).message}`);
      return unavailable("The authorization server could not be asked about the token");
    } finally {
      questions--;
    }
  };

  return async (token) => {
    const known = refused.get(token, deps.now());
    if (known !== undefined) return known;
    if (!deps.shareFetches) return ask(token);
    const waiting = pending.get(token) ?? ask(token).finally(() => pending.delete(token));
    pending.set(token, waiting);
    return waiting;
  };
}

function introspect(token: string, options: IntrospectionOptions, deps: AuthDependencies): Promise<JsonObject> {
  const credentials = `${formEncode(options.clientId)}:${formEncode(options.clientSecret)}`;
  const body = new URLSearchParams({ token, token_type_hint: "access_token" });
  const headers = {
    accept: "application/json",
    authorization: `Basic ${btoa(credentials)}`,
    "content-type": "application/x-www-form-urlencoded",
  };
  return fetchJson(options.url, { method: "POST", headers, body: body.toString() }, deps);
}

/** Some servers answer 400 when a token is not even of their kind. Our own credentials' fault would be 401. */
function inactiveWhenMalformed(error: unknown): JsonObject {
  if (error instanceof StatusError && error.status === 400) return { active: false };
  throw error;
}

/** RFC 6749 section 2.3.1: both halves are form-encoded before they are joined. */
function formEncode(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice(2);
}

async function judge(claims: Claims, options: IntrospectionOptions, now: number): Promise<Verdict> {
  const invalid = (reason: string): Verdict => ({ status: "invalid", reason });
  if (claims.active !== true) return invalid("The token is not active");
  if (claims.iss !== undefined && claims.iss !== options.issuer) return invalid("The token is from another issuer");
  if (typeof claims.token_type === "string" && claims.token_type.toLowerCase() === "dpop") {
    return invalid("The token is bound to a key, which this server does not support");
  }
  const { exp, nbf } = claims;
  if (typeof exp === "number" && exp * 1000 <= now) return invalid("The token has expired");
  if (typeof nbf === "number" && nbf * 1000 > now) return invalid("The token is not valid yet");
  const result = await authorizedPrincipal(claims, options.issuer, options.audiences);
  if (typeof result === "string") return invalid(result);
  const verdict: Verdict = { status: "valid", principal: result, cacheFor: ACTIVE_MS };
  return typeof exp === "number" ? { ...verdict, expiresAt: exp * 1000 } : verdict;
}

function unavailable(reason: string): Verdict {
  return { status: "unavailable", reason, retryAfterSeconds: RETRY_SECONDS };
}
