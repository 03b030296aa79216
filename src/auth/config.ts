import type { Algorithm } from "./jwt.ts";
import type { TokenEntry } from "./token-entry.ts";

/** How an OAuth access token is checked. */
export type TokenCheck =
  | { readonly kind: "jwt"; readonly algorithms: readonly Algorithm[]; readonly jwksUrl?: string }
  | {
      readonly kind: "introspection";
      readonly url: string;
      readonly clientId: string;
      readonly clientSecret: string;
    };

export type OAuthConfig = {
  readonly mode: "oauth";
  /** Exactly as the tokens' `iss` has it. */
  readonly issuer: string;
  /** Where clients reach the server, without a final slash. */
  readonly publicUrl: string;
  /** What a token's `aud` may be; empty: the URLs of the server and its endpoints. */
  readonly audiences: readonly string[];
  readonly check: TokenCheck;
};

export type AuthConfig =
  | { readonly mode: "none" }
  | { readonly mode: "token"; readonly tokens: readonly TokenEntry[] }
  | OAuthConfig;
