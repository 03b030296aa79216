export type SlotLimits = {
  /** Slots that one owner may hold. */
  readonly perOwner: number;
  /** Slots in all. */
  readonly total: number;
};

export type SlotResult =
  | { readonly ok: true; readonly release: () => void }
  /** `owner`: the owner holds all it may; `total`: the server has no more. */
  | { readonly ok: false; readonly full: "owner" | "total" };

/** Counts what is held at once, such as live kernels, per owner and in all. Memory follows the slots held. */
export class Slots {
  readonly #held = new Map<string, number>();
  readonly limits: SlotLimits;
  #total = 0;

  constructor(limits: SlotLimits) {
    this.limits = limits;
  }

  /** Takes a slot; `release` gives it back, however often it is called. */
  acquire(owner: string): SlotResult {
    if (this.held(owner) >= this.limits.perOwner) return { ok: false, full: "owner" };
    if (this.#total >= this.limits.total) return { ok: false, full: "total" };
    this.#change(owner, 1);
    let held = true;
    const release = (): void => {
      if (held) this.#change(owner, -1);
      held = false;
    };
    return { ok: true, release };
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  get total(): number {
    return this.#total;
  }

  #change(owner: string, by: 1 | -1): void {
    const held = this.held(owner) + by;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
    this.#total += by;
  }
}
