import { fromHex, toHex } from "./bytes.ts";
import { isScope, SCOPES, type Scope } from "./principal.ts";

/**
 * One configured token. Written `name:sha256-hex`, `name:sha256-hex:scopes` or `name:sha256-hex:scopes:expiry`;
 * scopes are `read`, `run` or `read+run` (empty or absent: both); the expiry is a date (its start, UTC) or a
 * date-time with a zone. Two entries may share a name while a token is being replaced: the name is the owner.
 */
export type TokenEntry = {
  readonly name: string;
  /** SHA-256 of the token's text. */
  readonly hash: Uint8Array<ArrayBuffer>;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds. */
  readonly expiresAt?: number;
};

export const MAX_TOKENS = 1000;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export function isTokenName(text: string): boolean {
  return NAME.test(text);
}

/**
 * Reads a list of entries separated by white space or commas.
 * @throws Error with one sentence that names the entry by its place and, when that is sound, its name; never its hash.
 */
export function parseTokenEntries(text: string): readonly TokenEntry[] {
  const items = text.split(/[\s,]+/).filter((item) => item !== "");
  if (items.length === 0) throw new Error("It holds no entry; wanted name:sha256-hex[:scopes[:expiry]]");
  if (items.length > MAX_TOKENS) throw new Error(`It holds ${items.length} entries; at most ${MAX_TOKENS} are allowed`);
  const entries = items.map((item, index) => parseTokenEntry(item, index + 1));
  const seen = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const hex = toHex(entry.hash);
    const earlier = seen.get(hex);
    if (earlier !== undefined) throw new Error(`Entries ${earlier} and ${index + 1} hold the same hash`);
    seen.set(hex, index + 1);
  }
  return entries;
}

function parseTokenEntry(item: string, place: number): TokenEntry {
  const [name = "", hex = "", scopes = "", ...rest] = item.split(":");
  if (!isTokenName(name)) {
    throw new Error(
      `Entry ${place} has a bad name; wanted 1 to 64 of A-Z a-z 0-9 . _ -, starting with a letter or digit`,
    );
  }
  const hash = hex.length === 64 ? fromHex(hex) : undefined;
  if (hash === undefined) {
    throw new Error(`Entry ${place} (${name}) has a bad hash; wanted the 64 hexadecimal digits of a SHA-256`);
  }
  const entry = { name, hash, scopes: parseScopes(scopes, `Entry ${place} (${name})`) };
  // A time of day holds colons too, so all that follows the third colon is the expiry.
  const expiry = rest.join(":");
  return expiry === "" ? entry : { ...entry, expiresAt: parseInstant(expiry, `Entry ${place} (${name})`) };
}

/**
 * Reads `read`, `run` or `read+run`; empty means both.
 * @param what Subject of the error's sentence.
 */
export function parseScopes(text: string, what: string): readonly Scope[] {
  if (text === "") return SCOPES;
  const named = text.split("+").map((word) => `repl:${word}`);
  if (!named.every(isScope)) throw new Error(`${what} has the scopes ${quote(text)}; wanted read, run or read+run`);
  return SCOPES.filter((scope) => named.includes(scope));
}

/** Reads a date or a date-time with a zone to Unix milliseconds. @param what Subject of the error's sentence. */
export function parseInstant(text: string, what: string): number {
  const instant = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  const rolledOver = !Number.isNaN(instant) && !text.includes("T") && !new Date(instant).toISOString().startsWith(text);
  if (Number.isNaN(instant) || rolledOver) {
    throw new Error(`${what} has the expiry ${quote(text)}; wanted a date like 2027-01-31 or 2027-01-31T12:00:00Z`);
  }
  return instant;
}

/** Writes an entry so that `parseTokenEntries` reads the same back. */
export function formatTokenEntry(entry: TokenEntry): string {
  const scopes = entry.scopes.map((scope) => scope.slice("repl:".length)).join("+");
  const line = `${entry.name}:${toHex(entry.hash)}:${scopes}`;
  if (entry.expiresAt === undefined) return line;
  return `${line}:${new Date(entry.expiresAt).toISOString().replace(".000Z", "Z")}`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
