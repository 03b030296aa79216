type Entry<V> = { readonly value: V; readonly until: number };

/**
 * A map of at most `limit` entries that forgets each at its time; the least recently used goes first when full.
 * Time is passed in, in milliseconds, so that the cache itself reads no clock. All operations are O(1).
 */
export class ExpiringCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, now: number): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.until <= now) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, until: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until });
    if (this.#entries.size <= this.#limit) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
