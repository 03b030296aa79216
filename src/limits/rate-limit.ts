/** Owners that are remembered at once; the one that has been silent longest is forgotten first. */
const MAX_OWNERS = 10_000;

export type RateLimitOptions = {
  /** Requests that an owner may make per minute, in the long run. */
  readonly perMinute: number;
  /** Requests that may come at once after a pause; absent: a minute's worth. */
  readonly burst?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly maxOwners?: number;
};

/**
 * A token bucket per owner, kept as the one moment at which the bucket is full again: O(1) in time and, with the bound
 * on owners, in memory. A refused request costs no token, so a client that hammers recovers as fast as a polite one.
 */
export class RateLimiter {
  readonly #fullAt = new Map<string, number>();
  readonly #interval: number;
  readonly #capacity: number;
  readonly #now: () => number;
  readonly #maxOwners: number;
  readonly perMinute: number;

  /** @throws RangeError when a number is not positive. */
  constructor(options: RateLimitOptions) {
    const { perMinute, burst = perMinute, now = Date.now, maxOwners = MAX_OWNERS } = options;
    if (!(perMinute > 0) || !(burst >= 1))
      throw new RangeError(`No limit can be ${perMinute} per minute, ${burst} at once`);
    this.perMinute = perMinute;
    this.#interval = 60_000 / perMinute;
    this.#capacity = burst * this.#interval;
    this.#now = now;
    this.#maxOwners = maxOwners;
  }

  /** Counts a request. Returns 0 when it may go ahead, else the seconds after which one may. */
  take(owner: string): number {
    const now = this.#now();
    const before = Math.max(this.#fullAt.get(owner) ?? now, now);
    const after = before + this.#interval;
    const excess = after - now - this.#capacity;
    // A thousandth of a millisecond of rounding must not refuse the last request of a full bucket.
    if (excess > 1e-3) return excess / 1000;
    this.#remember(owner, after);
    return 0;
  }

  /** Owners that are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  #remember(owner: string, fullAt: number): void {
    this.#fullAt.delete(owner);
    this.#fullAt.set(owner, fullAt);
    if (this.#fullAt.size <= this.#maxOwners) return;
    const silent = this.#fullAt.keys().next();
    if (!silent.done) this.#fullAt.delete(silent.value);
  }
}

/** Builds the 429 of a request that came too soon. @param waitSeconds What `take` returned. */
export function tooManyRequests(waitSeconds: number, perMinute: number): Response {
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  const message = `More than ${perMinute} requests per minute; try again in ${seconds} s`;
  const body = { jsonrpc: "2.0", error: { code: -32000, message }, id: null };
  return Response.json(body, { status: 429, headers: { "Retry-After": String(seconds), "Cache-Control": "no-store" } });
}
