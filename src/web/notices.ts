/** Something to tell on a session's page about what was asked there. */
export type Notice = { readonly kind: "info" | "problem"; readonly text: string };

/** Sessions whose notice is remembered; the oldest is forgotten first. */
const MAX_NOTICES = 200;

/**
 * What came of actions that outlive their request, until the next one: their page has been answered already. Kept by
 * this process alone; what matters for the history is in the history.
 */
export class Notices {
  readonly #notices = new Map<string, Notice>();

  get(owner: string, id: string): Notice | undefined {
    return this.#notices.get(`${owner}/${id}`);
  }

  set(owner: string, id: string, notice: Notice | undefined): void {
    const key = `${owner}/${id}`;
    this.#notices.delete(key);
    if (notice === undefined) return;
    this.#notices.set(key, notice);
    if (this.#notices.size <= MAX_NOTICES) return;
    const [oldest] = this.#notices.keys();
    if (oldest !== undefined) this.#notices.delete(oldest);
  }
}
