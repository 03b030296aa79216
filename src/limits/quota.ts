const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What an owner has used on one day, fit for a store. */
export type DailyUsage = {
  /** Days since 1970 in UTC. */
  readonly day: number;
  readonly used: number;
};

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Returns today's usage after adding `amount`; an earlier day's is forgotten. */
export function addUsage(usage: DailyUsage | undefined, amount: number, now: number): DailyUsage {
  return { day: dayOf(now), used: usedToday(usage, now) + amount };
}

export function usedToday(usage: DailyUsage | undefined, now: number): number {
  return usage !== undefined && usage.day === dayOf(now) ? usage.used : 0;
}

/** Seconds until the next day begins in UTC. */
export function secondsToReset(now: number): number {
  return Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1000);
}

type Account = { usage: DailyUsage; readonly live: Map<string, number> };

export type MeterOptions = {
  /** Minutes per owner and day. */
  readonly minutesPerDay: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
};

/**
 * Counts how long an owner's sandboxes lived today, over all of them: two that live for a minute are two minutes.
 * Sandboxes that are still alive count too, so that the limit is noticed while they run.
 */
export class MinuteMeter {
  readonly #accounts = new Map<string, Account>();
  readonly #now: () => number;
  readonly minutesPerDay: number;

  constructor(options: MeterOptions) {
    this.minutesPerDay = options.minutesPerDay;
    this.#now = options.now ?? Date.now;
  }

  /** Starts to count a sandbox; one that is counted already is left as it is. */
  begin(owner: string, sandbox: string): void {
    const account = this.#account(owner);
    if (!account.live.has(sandbox)) account.live.set(sandbox, this.#now());
  }

  /** Ends the count of a sandbox; unknown ones are ignored. @param at When it ended, if that was before now. */
  end(owner: string, sandbox: string, at = this.#now()): void {
    const account = this.#accounts.get(owner);
    const since = account?.live.get(sandbox);
    if (account === undefined || since === undefined) return;
    const now = this.#now();
    account.live.delete(sandbox);
    account.usage = addUsage(account.usage, minutesToday(since, now, Math.min(at, now)), now);
    this.#sweep(now);
  }

  /** Minutes used today. */
  used(owner: string): number {
    const account = this.#accounts.get(owner);
    if (account === undefined) return 0;
    const now = this.#now();
    let minutes = usedToday(account.usage, now);
    for (const since of account.live.values()) minutes += minutesToday(since, now);
    return minutes;
  }

  /** Returns 0 while the owner may start a sandbox, else the seconds after which it may again. */
  exceeded(owner: string): number {
    return this.used(owner) < this.minutesPerDay ? 0 : secondsToReset(this.#now());
  }

  /** What to store, with the living counted up to now, so that a restart forgets nothing. */
  usage(owner: string): DailyUsage {
    return { day: dayOf(this.#now()), used: this.used(owner) };
  }

  /** Takes over what was stored, when this process has not counted for that owner. */
  restore(owner: string, usage: DailyUsage): void {
    if (!this.#accounts.has(owner)) this.#accounts.set(owner, { usage, live: new Map() });
  }

  #account(owner: string): Account {
    let account = this.#accounts.get(owner);
    if (account === undefined) {
      account = { usage: { day: dayOf(this.#now()), used: 0 }, live: new Map() };
      this.#accounts.set(owner, account);
    }
    return account;
  }

  /** Forgets owners of earlier days, a few at a time and each in turn, so that memory follows who is active. */
  #sweep(now: number): void {
    let looked = 0;
    for (const [owner, account] of this.#accounts) {
      this.#accounts.delete(owner);
      if (account.live.size > 0 || account.usage.day === dayOf(now)) this.#accounts.set(owner, account);
      if (++looked >= 4) return;
    }
  }

  /** Owners that are remembered. */
  get size(): number {
    return this.#accounts.size;
  }
}

/** @param until The end of what is counted, when that is not now. */
function minutesToday(since: number, now: number, until = now): number {
  return Math.max(0, until - Math.max(since, dayOf(now) * DAY_MS)) / MINUTE_MS;
}
