import { type Credentials, challengeResponse, readBearer, unavailableResponse } from "./bearer.ts";
import { sha256, toHex } from "./bytes.ts";
import type { AuthConfig, OAuthConfig } from "./config.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import { createIntrospectionVerifier } from "./introspection.ts";
import { createJwtVerifier } from "./jwt.ts";
import { ProtectedResource } from "./metadata.ts";
import { LOCAL_PRINCIPAL, type Principal, SCOPES, type Scope } from "./principal.ts";
import { StaticTokens } from "./static-tokens.ts";
import type { AuthDependencies, Verdict, Verifier } from "./verdict.ts";

export type { AuthDependencies } from "./verdict.ts";

/** Tokens whose check is remembered. */
const MAX_CACHED = 1000;

/** Paths that are MCP endpoints, each an OAuth resource of its own. */
const ENDPOINTS = ["/mcp", "/sse"] as const;

/** A token that was checked, for a login that outlives the request. Plain JSON. */
export type Login = {
  readonly principal: Principal;
  /** Hexadecimal SHA-256 of the token. */
  readonly credential: string;
  /** Unix milliseconds at which the token ends, when it does. */
  readonly expiresAt?: number;
};

export interface Authenticator {
  readonly mode: AuthConfig["mode"];
  /** Finds out who is calling; a Response is the refusal to send. Never throws for what the request holds. */
  authenticate(request: Request): Promise<Principal | Response>;
  /** Answers requests for RFC 9728 metadata; undefined for all others. */
  metadata(request: Request): Response | undefined;
  /** Builds the 403 that names the scopes a call needs. @param path Path of the request. */
  insufficientScope(path: string, ...scopes: readonly Scope[]): Response;
  /** Checks a token that was typed into a form; undefined when it is not good. */
  login(token: string): Promise<Login | undefined>;
  /**
   * Returns who an earlier login is now; undefined when its token has ended. A configured token that was removed,
   * or has other scopes now, is noticed; of an OAuth token only the expiry is known.
   */
  resume(login: Login): Promise<Principal | undefined>;
}

const DEFAULTS: AuthDependencies = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  log: () => undefined,
  shareFetches: true,
};

/** Makes the gate of a server. Does no work before the first request. */
export function createAuthenticator(config: AuthConfig, dependencies: Partial<AuthDependencies> = {}): Authenticator {
  const deps = { ...DEFAULTS, ...dependencies };
  if (config.mode === "none") return OPEN;
  if (config.mode === "token") {
    const tokens = new StaticTokens(config.tokens, deps.now);
    const resume = async (login: Login): Promise<Principal | undefined> => {
      const verdict = await tokens.verifyHash(login.credential);
      return verdict.status === "valid" ? verdict.principal : undefined;
    };
    return new Gate("token", (token) => tokens.verify(token), resume, undefined, deps.now);
  }
  const resource = new ProtectedResource({ publicUrl: config.publicUrl, paths: ENDPOINTS, issuer: config.issuer });
  const resume = async (login: Login): Promise<Principal | undefined> =>
    (login.expiresAt ?? 0) > deps.now() ? login.principal : undefined;
  return new Gate("oauth", oauthVerifier(config, resource, deps), resume, resource, deps.now);
}

const OPEN: Authenticator = {
  mode: "none",
  authenticate: async () => LOCAL_PRINCIPAL,
  metadata: () => undefined,
  insufficientScope: (_path, ...scopes) => scopeChallenge(scopes, {}),
  login: async () => undefined,
  resume: async () => LOCAL_PRINCIPAL,
};

function oauthVerifier(config: OAuthConfig, resource: ProtectedResource, deps: AuthDependencies): Verifier {
  const { issuer, check } = config;
  const audiences = config.audiences.length > 0 ? config.audiences : resource.identifiers;
  if (check.kind === "jwt") return createJwtVerifier({ ...check, issuer, audiences }, deps);
  return createIntrospectionVerifier({ ...check, issuer, audiences }, deps);
}

type ValidVerdict = Verdict & { readonly status: "valid" };

class Gate implements Authenticator {
  readonly mode: "token" | "oauth";
  readonly resume: Authenticator["resume"];
  readonly #verify: Verifier;
  readonly #resource: ProtectedResource | undefined;
  readonly #now: () => number;
  /**
   * Keyed by the token's text: hashing it first would cost more than the rest of the gate. The map's own hash is
   * seeded, so that its timing tells nothing; a token that is not in it is compared in constant time.
   */
  readonly #known = new ExpiringCache<ValidVerdict>(MAX_CACHED);

  constructor(
    mode: "token" | "oauth",
    verify: Verifier,
    resume: Authenticator["resume"],
    resource: ProtectedResource | undefined,
    now: () => number,
  ) {
    this.mode = mode;
    this.resume = resume;
    this.#verify = verify;
    this.#resource = resource;
    this.#now = now;
  }

  async authenticate(request: Request): Promise<Principal | Response> {
    const credentials = readBearer(request);
    if (credentials.kind !== "token") return refusal(credentials, this.#place(request.url));
    const verdict = await this.#check(credentials.token);
    if (verdict.status !== "valid") return verdictResponse(verdict, this.#place(request.url));
    if (verdict.principal.scopes.length > 0) return verdict.principal;
    return scopeChallenge(SCOPES, this.#place(request.url));
  }

  metadata(request: Request): Response | undefined {
    return this.#resource?.respond(request);
  }

  insufficientScope(path: string, ...scopes: readonly Scope[]): Response {
    return scopeChallenge(scopes, this.#place(path));
  }

  async login(token: string): Promise<Login | undefined> {
    const verdict = await this.#check(token);
    if (verdict.status !== "valid" || verdict.principal.scopes.length === 0) return undefined;
    const login = { principal: verdict.principal, credential: toHex(await sha256(token)) };
    return verdict.expiresAt === undefined ? login : { ...login, expiresAt: verdict.expiresAt };
  }

  async #check(token: string): Promise<Verdict> {
    const now = this.#now();
    const known = this.#known.get(token, now);
    if (known !== undefined) return known;
    const verdict = await this.#verify(token);
    if (verdict.status !== "valid") return verdict;
    const end = verdict.expiresAt ?? Number.POSITIVE_INFINITY;
    this.#known.set(token, verdict, Math.min(end, now + verdict.cacheFor));
    return verdict;
  }

  #place(url: string): Place {
    if (this.#resource === undefined) return {};
    return { resourceMetadata: this.#resource.metadataUrl(new URL(url, "http://host").pathname) };
  }
}

/** Where a challenge sends the client. */
type Place = { readonly resourceMetadata?: string };

function refusal(credentials: Exclude<Credentials, { kind: "token" }>, place: Place): Response {
  if (credentials.kind === "none") {
    const description = "This server wants an Authorization header with a Bearer token";
    return challengeResponse({ status: 401, description, scopes: SCOPES, ...place });
  }
  const { reason: description } = credentials;
  return challengeResponse({ status: 400, error: "invalid_request", description, scopes: [], ...place });
}

function verdictResponse(verdict: Exclude<Verdict, ValidVerdict>, place: Place): Response {
  if (verdict.status === "unavailable") return unavailableResponse(verdict.reason, verdict.retryAfterSeconds);
  const { reason: description } = verdict;
  return challengeResponse({ status: 401, error: "invalid_token", description, scopes: SCOPES, ...place });
}

function scopeChallenge(scopes: readonly Scope[], place: Place): Response {
  const description = `The token lacks the scope ${scopes.join(" or ")}`;
  return challengeResponse({ status: 403, error: "insufficient_scope", description, scopes, ...place });
}
