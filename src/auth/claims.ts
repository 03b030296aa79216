import { displayName, isScope, ownerOf, type Principal, SCOPES, type Scope } from "./principal.ts";

/** Claims of an access token, verified or told by introspection. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Turns the claims of a token that is known to be genuine into a principal.
 * @returns The reason for refusing instead, when the token is bound to a key or names no subject.
 */
export async function authorizedPrincipal(
  claims: Claims,
  issuer: string,
  audiences: readonly string[],
): Promise<Principal | string> {
  // RFC 9449 and RFC 8705: such a token is worth nothing without a proof, which a Bearer request does not carry.
  if (claims.cnf !== undefined) return "The token is bound to a key, which this server does not support";
  const identity = identityOf(claims, issuer);
  if (identity === undefined) return "The token has no subject";
  const resource = grantedAudience(claims, audiences);
  if (resource === undefined) return "The token is for another audience";
  const scopes = grantedScopes(claims);
  const name = displayName(clientOf(claims), "oauth");
  const authInfo = { token: "", clientId: name, scopes: [...scopes], ...expiryOf(claims), ...resourceOf(resource) };
  return { owner: await ownerOf(identity), name, scopes, authInfo };
}

/**
 * The subject, or the client when it acts for itself and the server names no subject (RFC 7662 leaves it open).
 * A client whose id is some person's subject does not become that person.
 */
function identityOf(claims: Claims, issuer: string): readonly string[] | undefined {
  const { sub, client_id: client } = claims;
  if (typeof sub === "string" && sub !== "") return ["oauth", issuer, sub];
  return sub === undefined && typeof client === "string" ? ["oauth client", issuer, client] : undefined;
}

/** Returns the first of the token's audiences that is ours (RFC 8707). */
export function grantedAudience(claims: Claims, audiences: readonly string[]): string | undefined {
  return listOf(claims.aud).find((audience) => audiences.includes(audience));
}

/** Reads `scope` (RFC 6749), `scp` (Microsoft, Okta) and `permissions` (Auth0); unknown scopes are left out. */
export function grantedScopes(claims: Claims): readonly Scope[] {
  const named = [claims.scope, claims.scp, claims.permissions]
    .flatMap(listOf)
    .flatMap((item) => item.split(" "))
    .filter(isScope);
  return SCOPES.filter((scope) => named.includes(scope));
}

function listOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function clientOf(claims: Claims): string | undefined {
  return [claims.client_id, claims.azp, claims.cid, claims.appid].find((item) => typeof item === "string");
}

function expiryOf(claims: Claims): { expiresAt?: number } {
  return typeof claims.exp === "number" ? { expiresAt: claims.exp } : {};
}

function resourceOf(audience: string): { resource?: URL } {
  return URL.canParse(audience) ? { resource: new URL(audience) } : {};
}
