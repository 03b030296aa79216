import type { JWTHeaderParameters, JWTPayload, JWTVerifyOptions } from "jose";
import { authorizedPrincipal } from "./claims.ts";
import { IssuerKeys, KeysUnavailable } from "./jwks.ts";
import type { AuthDependencies, Verdict, Verifier } from "./verdict.ts";

/** Asymmetric only: with none of these can a public key be taken for a shared secret, and `none` is no signature. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

export type Algorithm = (typeof ALGORITHMS)[number];

/** Types of token that may be access tokens; others, such as logout or proof tokens, are refused. */
const TOKEN_TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);

/** Milliseconds for which a verified token is trusted without looking at its key again. */
const CACHE_MS = 300_000;

/** Difference between two clocks that is forgiven, in seconds. */
const CLOCK_TOLERANCE = 10;

export type JwtOptions = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly Algorithm[];
  readonly jwksUrl?: string;
};

type Jose = typeof import("./jose.ts");

/** Verifies access tokens that are JWTs (RFC 9068, RFC 8725). jose is loaded with the first token. */
export function createJwtVerifier(options: JwtOptions, deps: AuthDependencies): Verifier {
  let loaded: { jose: Jose; keys: IssuerKeys } | undefined;
  return async (token) => {
    // Not a shared promise: a Workers request must not wait for another's work.
    if (loaded === undefined) {
      const jose = await import("./jose.ts");
      loaded ??= { jose, keys: new IssuerKeys(options.issuer, options.jwksUrl, jose, deps) };
    }
    const { jose, keys } = loaded;
    try {
      const header = checkedHeader(jose, token, options.algorithms);
      if (typeof header === "string") return { status: "invalid", reason: header };
      const payload = await verifySignature(jose, token, await keys.find(header), options, deps.now());
      return await accept(payload, options);
    } catch (error) {
      return verdictOf(jose, error, deps);
    }
  };
}

/** Returns the header, or the reason against it; looked at before any key is fetched or used. */
function checkedHeader(jose: Jose, token: string, allowed: readonly string[]): JWTHeaderParameters | string {
  if (token.split(".").length !== 3) return "The token is not a signed JWT";
  const header = jose.decodeProtectedHeader(token);
  const { alg, typ } = header;
  if (alg === undefined || !allowed.includes(alg)) return "The token's signature algorithm is not allowed";
  if (typ !== undefined && !TOKEN_TYPES.has(String(typ).toLowerCase())) return "The token is not an access token";
  return { ...header, alg };
}

async function verifySignature(
  jose: Jose,
  token: string,
  keys: readonly CryptoKey[],
  options: JwtOptions,
  now: number,
): Promise<JWTPayload> {
  // The audience is checked with the other claims, as it is for introspected tokens.
  const checks: JWTVerifyOptions = {
    issuer: options.issuer,
    algorithms: [...options.algorithms],
    requiredClaims: ["exp", "sub"],
    clockTolerance: CLOCK_TOLERANCE,
    currentDate: new Date(now),
  };
  let failure: unknown = new jose.errors.JWSSignatureVerificationFailed();
  for (const key of keys) {
    try {
      return (await jose.jwtVerify(token, key, checks)).payload;
    } catch (error) {
      failure = error;
      if (!(error instanceof jose.errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw failure;
}

async function accept(payload: JWTPayload, options: JwtOptions): Promise<Verdict> {
  const result = await authorizedPrincipal(payload, options.issuer, options.audiences);
  if (typeof result === "string") return { status: "invalid", reason: result };
  const expiresAt = ((payload.exp ?? 0) + CLOCK_TOLERANCE) * 1000;
  return { status: "valid", principal: result, expiresAt, cacheFor: CACHE_MS };
}

function verdictOf(jose: Jose, error: unknown, deps: AuthDependencies): Verdict {
  if (error instanceof KeysUnavailable) {
    return { status: "unavailable", reason: error.message, retryAfterSeconds: error.retryAfterSeconds };
  }
  const { JWTExpired, JWTClaimValidationFailed, JWKSNoMatchingKey, JWSSignatureVerificationFailed } = jose.errors;
  const { JWSInvalid, JWTInvalid } = jose.errors;
  if (error instanceof JWTExpired) return { status: "invalid", reason: "The token has expired" };
  if (error instanceof JWTClaimValidationFailed) {
    return { status: "invalid", reason: CLAIM_REASONS[error.claim] ?? "A claim of the token is missing or wrong" };
  }
  if (error instanceof JWKSNoMatchingKey) {
    return { status: "invalid", reason: "The token is signed with a key that its issuer does not have" };
  }
  if (error instanceof JWSSignatureVerificationFailed) {
    return { status: "invalid", reason: "The token's signature is wrong" };
  }
  if (error instanceof JWSInvalid || error instanceof JWTInvalid || error instanceof TypeError) {
    return { status: "invalid", reason: "The token is malformed" };
  }
  // Such as a key of a kind that this runtime's WebCrypto does not know.
  deps.log(`A token could not be verified: ${error instanceof Error ? error.message : String(error)}`);
  return { status: "invalid", reason: "The token could not be verified" };
}

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  iss: "The token is from another issuer",
  nbf: "The token is not valid yet",
  exp: "The token has no expiry",
  sub: "The token has no subject",
};
