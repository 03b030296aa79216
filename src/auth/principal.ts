import type { AuthInfo } from "@modelcontextprotocol/server";
import { sha256, toHex } from "./bytes.ts";

/** `repl:read`: list and history. `repl:run`: everything that executes or changes. Neither implies the other. */
export const SCOPES = ["repl:read", "repl:run"] as const;

export type Scope = (typeof SCOPES)[number];

/** Who is calling. */
export type Principal = {
  /** Key of all that belongs to the caller: `local`, or 40 hex digits that do not reveal the subject. */
  readonly owner: string;
  /** For people: the token's name or the OAuth client's id. At most 64 printable ASCII characters. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** For the SDK's handlers. Its `token` is always empty: a token goes no further than the authenticator. */
  readonly authInfo?: AuthInfo;
};

/** The owner of a server without authentication. */
export const LOCAL_OWNER = "local";

export const LOCAL_PRINCIPAL: Principal = { owner: LOCAL_OWNER, name: "local", scopes: SCOPES };

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

export function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes.includes(scope);
}

/**
 * Returns the owner for an identity: `["token", name]` or `["oauth", issuer, subject]`. The parts are hashed as
 * JSON, so that no two lists of parts run together into the same text. 160 bits: no caller can aim at another's.
 */
export async function ownerOf(parts: readonly string[]): Promise<string> {
  return toHex((await sha256(JSON.stringify(["edge-python-repl", ...parts]))).subarray(0, 20));
}

/** Makes text that came from outside fit for `Principal.name`, a log line and a history entry. */
export function displayName(text: string | undefined, fallback: string): string {
  const clean = (text ?? "").replaceAll(/[^\x21-\x7e]/g, "").slice(0, 64);
  return clean === "" ? fallback : clean;
}
