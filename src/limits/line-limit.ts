/** Keys that are remembered at once; the one that was added first is forgotten first. */
const MAX_KEYS = 1000;

type Told = { readonly at: number; left: number };

/** Thins out lines of a log that one caller could fill: one line per key and interval, which counts those left out. */
export class LineLimit {
  readonly #told = new Map<string, Told>();
  readonly #intervalMs: number;
  readonly #now: () => number;

  constructor(intervalMs: number, now: () => number = Date.now) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Returns how many lines were left out since the last one; undefined when this one is to be left out too. */
  take(key: string): number | undefined {
    const told = this.#told.get(key);
    const now = this.#now();
    if (told && now - told.at < this.#intervalMs) {
      told.left += 1;
      return undefined;
    }
    this.#told.delete(key);
    this.#told.set(key, { at: now, left: 0 });
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_KEYS && oldest !== undefined) this.#told.delete(oldest);
    return told?.left ?? 0;
  }
}
