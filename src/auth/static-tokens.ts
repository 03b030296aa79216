import { equalBytes, fromHex, sha256, toBase64Url } from "./bytes.ts";
import { ownerOf, type Principal } from "./principal.ts";
import type { TokenEntry } from "./token-entry.ts";
import type { Verdict } from "./verdict.ts";

/** How long a token that was found needs not be looked up again, in milliseconds. */
const CACHE_MS = 300_000;

/** The same words for all that is wrong, so that an answer does not tell whether a token ever was valid. */
const REFUSED: Verdict = { status: "invalid", reason: "The token is not known or has expired" };

/** Makes a new token: a prefix that secret scanners can find, and 256 random bits. */
export function newToken(): string {
  return `epr_${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** The configured tokens, of which only hashes are known. */
export class StaticTokens {
  readonly #entries: readonly TokenEntry[];
  readonly #now: () => number;
  readonly #owners = new Map<string, string>();

  constructor(entries: readonly TokenEntry[], now: () => number) {
    this.#entries = entries;
    this.#now = now;
  }

  async verify(token: string): Promise<Verdict> {
    return this.#judge(findEntry(this.#entries, await sha256(token)));
  }

  /** Judges a token by the hexadecimal SHA-256 of its text. */
  async verifyHash(hex: string): Promise<Verdict> {
    const hash = fromHex(hex);
    return hash === undefined ? REFUSED : this.#judge(findEntry(this.#entries, hash));
  }

  async #judge(entry: TokenEntry | undefined): Promise<Verdict> {
    if (entry === undefined) return REFUSED;
    const { expiresAt } = entry;
    if (expiresAt === undefined) {
      return { status: "valid", principal: await this.#principalOf(entry), cacheFor: CACHE_MS };
    }
    if (expiresAt <= this.#now()) return REFUSED;
    return { status: "valid", principal: await this.#principalOf(entry), expiresAt, cacheFor: CACHE_MS };
  }

  async #principalOf(entry: TokenEntry): Promise<Principal> {
    const owner = this.#owners.get(entry.name) ?? (await ownerOf(["token", entry.name]));
    this.#owners.set(entry.name, owner);
    const authInfo = { token: "", clientId: entry.name, scopes: [...entry.scopes], ...expiryOf(entry) };
    return { owner, name: entry.name, scopes: entry.scopes, authInfo };
  }
}

/** Compares with every entry, found or not, so that the time taken does not depend on the token. */
export function findEntry(entries: readonly TokenEntry[], hash: Uint8Array): TokenEntry | undefined {
  let found: TokenEntry | undefined;
  for (const entry of entries) {
    if (equalBytes(entry.hash, hash)) found = entry;
  }
  return found;
}

function expiryOf(entry: TokenEntry): { expiresAt?: number } {
  return entry.expiresAt === undefined ? {} : { expiresAt: Math.floor(entry.expiresAt / 1000) };
}
