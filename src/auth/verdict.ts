import type { Principal } from "./principal.ts";

/** What came of checking a token. Reasons are shown to the caller: they never hold text of the token. */
export type Verdict =
  | {
      readonly status: "valid";
      readonly principal: Principal;
      /** Unix milliseconds from which on the token must be refused, when it has an end. */
      readonly expiresAt?: number;
      /** Milliseconds for which the answer may be remembered. */
      readonly cacheFor: number;
    }
  | { readonly status: "invalid"; readonly reason: string }
  | { readonly status: "unavailable"; readonly reason: string; readonly retryAfterSeconds: number };

/** Checks one token's text. Never throws for a bad token. */
export type Verifier = (token: string) => Promise<Verdict>;

/** What authentication needs from outside; all but tests use the defaults. */
export type AuthDependencies = {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Told what an operator should know, such as an authorization server that does not answer; without secrets. */
  readonly log: (message: string) => void;
  /**
   * May one request wait for a fetch that another began? False on Cloudflare Workers, where a request that waits
   * for another request's I/O hangs.
   */
  readonly shareFetches: boolean;
};
