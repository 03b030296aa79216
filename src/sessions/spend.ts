import type { Kernel } from "../core/backend.ts";
import { AppError } from "../core/errors.ts";
import { MinuteMeter } from "../limits/quota.ts";
import type { ServiceContext } from "./context.ts";
import type { LiveSession } from "./live.ts";

/** Owners of whom it is known that their stored minutes were read. */
const MAX_OWNERS = 10_000;
/** The store is told of a long life this often, in minutes. */
const SAVE_MINUTES = 1;

/** Undefined where nothing is counted: without a limit, and for local kernels, which cost nothing by the minute. */
export function createSpend(context: ServiceContext): Spend | undefined {
  const minutes = context.limits.sandboxMinutes ?? 0;
  return minutes > 0 && context.backend.supports.attach ? new Spend(context, minutes) : undefined;
}

/**
 * Counts how long an owner's remote kernels live, by what this process sees of them. It bounds what an owner can cost;
 * it is no bill: what lives on unseen, while no process knows of it, is not counted.
 */
export class Spend {
  readonly #context: ServiceContext;
  readonly #meter: MinuteMeter;
  readonly #counted = new Map<string, { readonly owner: string; readonly kernel: Kernel }>();
  readonly #restored = new Map<string, Promise<void>>();
  readonly #saved = new Map<string, number>();

  constructor(context: ServiceContext, minutesPerDay: number) {
    this.#context = context;
    this.#meter = new MinuteMeter({ minutesPerDay, now: context.now });
  }

  /** @throws AppError LIMIT_REACHED when the owner has used up the minutes of today. What runs goes on. */
  async check(owner: string): Promise<void> {
    await this.#restore(owner);
    const now = this.#context.now();
    for (const [key, { owner: of, kernel }] of this.#counted) {
      if (of === owner && (kernel.endsAt ?? Number.POSITIVE_INFINITY) <= now) this.#end(key, owner, kernel);
    }
    const seconds = this.#meter.exceeded(owner);
    if (seconds > 0) throw usedUp(this.#meter.minutesPerDay, seconds);
    if (Math.abs(this.#meter.used(owner) - (this.#saved.get(owner) ?? 0)) >= SAVE_MINUTES) this.#save(owner);
  }

  /** A session has this kernel now; telling it again changes nothing. */
  began({ key, owner }: LiveSession, kernel: Kernel): void {
    const before = this.#counted.get(key);
    if (before && before.kernel !== kernel) this.#end(key, owner, before.kernel);
    this.#meter.begin(owner, key);
    this.#counted.set(key, { owner, kernel });
  }

  /** The kernel is gone, or about to be; telling it again changes nothing. */
  ended({ key, owner }: LiveSession, kernel: Kernel): void {
    this.#end(key, owner, kernel);
  }

  #end(key: string, owner: string, kernel: Kernel): void {
    if (this.#counted.get(key)?.kernel !== kernel) return;
    this.#counted.delete(key);
    // What nobody used ended by itself at the end of its lease, not when that was noticed.
    const now = this.#context.now();
    this.#meter.end(owner, key, Math.min(now, kernel.endsAt ?? now));
    this.#save(owner);
  }

  #restore(owner: string): Promise<void> {
    const known = this.#restored.get(owner);
    if (known) return known;
    const [oldest] = this.#restored.keys();
    if (this.#restored.size >= MAX_OWNERS && oldest !== undefined) this.#restored.delete(oldest);
    const reading = this.#context.store.readUsage(owner).then((usage) => {
      if (usage) this.#meter.restore(owner, usage);
    });
    this.#restored.set(owner, reading);
    reading.catch(() => this.#restored.delete(owner));
    return reading;
  }

  #save(owner: string): void {
    const { store, log, defer } = this.#context;
    const usage = this.#meter.usage(owner);
    this.#saved.set(owner, usage.used);
    const writing = store
      .writeUsage(owner, usage)
      .catch((error: unknown) => log("usage not saved", { owner, error: String(error) }));
    defer?.(writing);
  }
}

function usedUp(minutes: number, seconds: number): AppError {
  const hours = Math.ceil(seconds / 360) / 10;
  return new AppError(
    "LIMIT_REACHED",
    `You have used the ${minutes} minutes of sandboxes that you have a day; the next day begins in ${hours} h (UTC)`,
  );
}
