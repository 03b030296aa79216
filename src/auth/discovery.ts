import { fetchJson, type JsonObject } from "./fetch-json.ts";
import { isSafeUrl } from "./safe-url.ts";
import type { AuthDependencies } from "./verdict.ts";

/**
 * Returns the places where an issuer's metadata may be: RFC 8414, and OpenID Connect Discovery with the issuer's
 * path after, and before, the well-known part.
 */
export function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const urls = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  return [...new Set(urls)];
}

/**
 * Finds where an issuer publishes its signing keys.
 * @throws Error with a message for the log when no metadata names this very issuer and a safe key URL.
 */
export async function discoverJwksUrl(issuer: string, deps: AuthDependencies): Promise<string> {
  const failures: string[] = [];
  for (const url of metadataUrls(issuer)) {
    try {
      return jwksUrlOf(await fetchJson(url, { headers: { accept: "application/json" } }, deps), issuer, url);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`The signing keys of ${issuer} were not found: ${failures.join("; ")}`);
}

function jwksUrlOf(metadata: JsonObject, issuer: string, url: string): string {
  // Compared as text, as RFC 8414 section 3.3 wants: an issuer that merely looks alike is another one.
  if (metadata.issuer !== issuer) throw new Error(`${url} is the metadata of another issuer`);
  const jwksUrl = metadata.jwks_uri;
  if (typeof jwksUrl !== "string" || !isSafeUrl(jwksUrl)) throw new Error(`${url} names no https jwks_uri`);
  return jwksUrl;
}
