import type { AuthConfig, OAuthConfig, TokenCheck } from "./config.ts";
import { ALGORITHMS, type Algorithm } from "./jwt.ts";
import { urlProblem } from "./safe-url.ts";
import { parseTokenEntries } from "./token-entry.ts";

/** Settings as text, from wherever a platform keeps them. Empty text counts as not set. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** All settings that this file reads, for the check that no unknown one is set. */
export const AUTH_SETTINGS = [
  "REPL_AUTH",
  "REPL_TOKENS",
  "REPL_PUBLIC_URL",
  "REPL_OAUTH_ISSUER",
  "REPL_OAUTH_AUDIENCE",
  "REPL_OAUTH_ALGORITHMS",
  "REPL_OAUTH_JWKS_URL",
  "REPL_OAUTH_INTROSPECTION_URL",
  "REPL_OAUTH_CLIENT_ID",
  "REPL_OAUTH_CLIENT_SECRET",
] as const;

type Name = (typeof AUTH_SETTINGS)[number];

/**
 * Reads who may call. A setting that belongs to another mode is refused: whoever set it believes it protects them.
 * @throws Error with one sentence that names the setting; values that are secret are not in it.
 */
export function parseAuthSettings(settings: Settings): AuthConfig {
  const mode = read(settings, "REPL_AUTH") ?? "none";
  if (mode !== "none" && mode !== "token" && mode !== "oauth") {
    throw new Error(`REPL_AUTH is ${JSON.stringify(mode)}; wanted none, token or oauth`);
  }
  for (const name of AUTH_SETTINGS) {
    const belongs: string = name === "REPL_TOKENS" ? "token" : name.startsWith("REPL_OAUTH_") ? "oauth" : mode;
    if (belongs !== mode && read(settings, name) !== undefined) {
      throw new Error(`${name} is set, but REPL_AUTH is ${mode}; set REPL_AUTH=${belongs} or remove ${name}`);
    }
  }
  if (mode === "none") return { mode };
  if (mode === "oauth") return parseOAuth(settings);
  try {
    return { mode, tokens: parseTokenEntries(required(settings, "REPL_TOKENS", "REPL_AUTH=token")) };
  } catch (error) {
    const message = (error as Error).message;
    throw new Error(message.startsWith("REPL_") ? message : `REPL_TOKENS is not sound: ${message}`);
  }
}

function parseOAuth(settings: Settings): OAuthConfig {
  const issuer = requiredUrl(settings, "REPL_OAUTH_ISSUER", "REPL_AUTH=oauth");
  const publicUrl = requiredUrl(settings, "REPL_PUBLIC_URL", "REPL_AUTH=oauth").replace(/\/$/, "");
  for (const [name, url] of [["REPL_OAUTH_ISSUER", issuer] as const, ["REPL_PUBLIC_URL", publicUrl] as const]) {
    if (new URL(url).search !== "") throw new Error(`${name} must not have a query, but is ${JSON.stringify(url)}`);
  }
  const audiences = listOf(read(settings, "REPL_OAUTH_AUDIENCE"));
  return { mode: "oauth", issuer, publicUrl, audiences, check: parseCheck(settings) };
}

function parseCheck(settings: Settings): TokenCheck {
  if (read(settings, "REPL_OAUTH_INTROSPECTION_URL") !== undefined) {
    for (const name of ["REPL_OAUTH_JWKS_URL", "REPL_OAUTH_ALGORITHMS"] as const) {
      if (read(settings, name) === undefined) continue;
      throw new Error(`${name} is of no use with REPL_OAUTH_INTROSPECTION_URL; remove one of the two`);
    }
    const why = "REPL_OAUTH_INTROSPECTION_URL";
    return {
      kind: "introspection",
      url: requiredUrl(settings, "REPL_OAUTH_INTROSPECTION_URL", why),
      clientId: required(settings, "REPL_OAUTH_CLIENT_ID", why),
      clientSecret: required(settings, "REPL_OAUTH_CLIENT_SECRET", why),
    };
  }
  for (const name of ["REPL_OAUTH_CLIENT_ID", "REPL_OAUTH_CLIENT_SECRET"] as const) {
    if (read(settings, name) === undefined) continue;
    throw new Error(`${name} is of use only with REPL_OAUTH_INTROSPECTION_URL; set that too or remove ${name}`);
  }
  const check = { kind: "jwt", algorithms: parseAlgorithms(read(settings, "REPL_OAUTH_ALGORITHMS")) } as const;
  if (read(settings, "REPL_OAUTH_JWKS_URL") === undefined) return check;
  return { ...check, jwksUrl: requiredUrl(settings, "REPL_OAUTH_JWKS_URL", "") };
}

function parseAlgorithms(text: string | undefined): readonly Algorithm[] {
  const named = listOf(text);
  const unknown = named.find((name) => !(ALGORITHMS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new Error(`REPL_OAUTH_ALGORITHMS names ${JSON.stringify(unknown)}; wanted some of ${ALGORITHMS.join(", ")}`);
  }
  return named.length === 0 ? ALGORITHMS : ALGORITHMS.filter((name) => named.includes(name));
}

function read(settings: Settings, name: Name): string | undefined {
  const value = settings[name]?.trim();
  return value === "" ? undefined : value;
}

function required(settings: Settings, name: Name, why: string): string {
  const value = read(settings, name);
  if (value === undefined) throw new Error(`${name} must be set with ${why}`);
  return value;
}

function requiredUrl(settings: Settings, name: Name, why: string): string {
  const value = required(settings, name, why);
  const problem = urlProblem(value);
  // The value is not shown: a URL with a password in it is one of the problems.
  if (problem !== undefined) throw new Error(`${name} ${problem}`);
  return value;
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? "").split(/[\s,]+/).filter((item) => item !== "");
}
