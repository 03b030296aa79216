import type { createLocalJWKSet, JWTHeaderParameters } from "jose";
import { discoverJwksUrl } from "./discovery.ts";
import { fetchJson } from "./fetch-json.ts";
import type { AuthDependencies } from "./verdict.ts";

/** Milliseconds for which fetched keys are used without asking again. */
const FRESH_MS = 600_000;
/** Milliseconds for which keys outlive that while the authorization server does not answer. */
const STALE_MS = 3_600_000;
/** Least milliseconds between two fetches: tokens that name unknown keys cause no more traffic than this. */
const COOL_DOWN_MS = 30_000;
/** The same after a fetch that failed. */
const RETRY_MS = 5000;

type LocalKeys = ReturnType<typeof createLocalJWKSet>;
type Jose = typeof import("./jose.ts");

/** No key could be had from the authorization server, so that nothing can be said about a token. */
export class KeysUnavailable extends Error {
  readonly retryAfterSeconds = RETRY_MS / 1000;
  override readonly name = "KeysUnavailable";
}

/**
 * Public keys of one issuer. Fetched at first use, kept, and fetched again when they are old or a token names a key
 * that is not among them. jose's own remote set neither cools down after a failure nor bounds the answer.
 */
export class IssuerKeys {
  readonly #issuer: string;
  readonly #jose: Jose;
  readonly #deps: AuthDependencies;
  #url: string | undefined;
  #keys: LocalKeys | undefined;
  #loadedAt = 0;
  #nextAttempt = 0;
  #pending: Promise<void> | undefined;

  /** @param url Where the keys are; found by the issuer's metadata when undefined. */
  constructor(issuer: string, url: string | undefined, jose: Jose, deps: AuthDependencies) {
    this.#issuer = issuer;
    this.#url = url;
    this.#jose = jose;
    this.#deps = deps;
  }

  /**
   * Returns the keys that may have signed a token with this header: one, or a few when the header names none.
   * @throws KeysUnavailable, and jose's JWKSNoMatchingKey when the issuer has no such key.
   */
  async find(header: JWTHeaderParameters): Promise<readonly CryptoKey[]> {
    const keys = await this.#fresh();
    try {
      return await this.#select(keys, header);
    } catch (error) {
      if (!(error instanceof this.#jose.errors.JWKSNoMatchingKey)) throw error;
      if (this.#pending === undefined && this.#deps.now() < this.#nextAttempt) throw error;
      await this.#load();
      return this.#select(this.#keys ?? keys, header);
    }
  }

  async #select(keys: LocalKeys, header: JWTHeaderParameters): Promise<readonly CryptoKey[]> {
    try {
      return [await keys(header)];
    } catch (error) {
      if (!(error instanceof this.#jose.errors.JWKSMultipleMatchingKeys)) throw error;
      const found: CryptoKey[] = [];
      for await (const key of error) {
        if (found.push(key) === 4) break;
      }
      return found;
    }
  }

  async #fresh(): Promise<LocalKeys> {
    const age = this.#deps.now() - this.#loadedAt;
    if (this.#keys !== undefined && age < FRESH_MS) return this.#keys;
    const usable = this.#keys !== undefined && age < STALE_MS;
    if (this.#pending !== undefined || this.#deps.now() >= this.#nextAttempt) {
      const loading = this.#load();
      // With keys at hand nobody waits; `#load` never rejects.
      if (!usable || !this.#deps.shareFetches) await loading;
    }
    if (this.#keys === undefined || this.#deps.now() - this.#loadedAt >= STALE_MS) {
      throw new KeysUnavailable("The authorization server's keys could not be fetched");
    }
    return this.#keys;
  }

  async #load(): Promise<void> {
    if (this.#pending !== undefined) return this.#pending;
    if (this.#keys !== undefined) this.#nextAttempt = this.#deps.now() + COOL_DOWN_MS;
    const loading = this.#fetchKeys().finally(() => {
      if (this.#pending === loading) this.#pending = undefined;
    });
    if (this.#deps.shareFetches) this.#pending = loading;
    return loading;
  }

  async #fetchKeys(): Promise<void> {
    try {
      this.#url ??= await discoverJwksUrl(this.#issuer, this.#deps);
      const headers = { accept: "application/jwk-set+json, application/json" };
      const document = await fetchJson(this.#url, { headers }, this.#deps);
      // jose checks the shape of the document, and refuses one that is not a key set.
      this.#keys = this.#jose.createLocalJWKSet(document as unknown as Parameters<typeof createLocalJWKSet>[0]);
      this.#loadedAt = this.#deps.now();
      this.#nextAttempt = this.#loadedAt + COOL_DOWN_MS;
    } catch (error) {
      this.#nextAttempt = this.#deps.now() + RETRY_MS;
      this.#deps.log(`The keys of ${this.#issuer} could not be fetched: ${(error as Error).message}`);
    }
  }
}
