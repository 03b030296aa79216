/**
 * Lets each owner begin one task per turn of the event loop: of a hundred requests that come at once, other owners' pass
 * in between. Who makes one request after the other never waits.
 */
export class Turns {
  /** Tasks that wait, of owners who have begun one in this turn. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when the owner may begin. */
  take(owner: string): Promise<void> | undefined {
    const line = this.#waiting.get(owner);
    if (line) return new Promise((resolve) => line.push(resolve));
    this.#waiting.set(owner, []);
    setTimeout(() => this.#next(owner), 0);
    return undefined;
  }

  #next(owner: string): void {
    const begin = this.#waiting.get(owner)?.shift();
    if (!begin) {
      this.#waiting.delete(owner);
      return;
    }
    begin();
    setTimeout(() => this.#next(owner), 0);
  }

  /** Owners who have begun a task in this turn or wait. */
  get size(): number {
    return this.#waiting.size;
  }
}
