import type { Driver } from "unstorage";
import { isBlockKey } from "../../src/store/keys.ts";

/** The part of a Workers KV namespace that is used. */
export type KvNamespace = {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
};

/** The part of an R2 bucket that is used. */
export type R2Bucket = {
  get(key: string): Promise<{ text(): Promise<string> } | null>;
  put(key: string, value: string): Promise<unknown>;
  delete(key: string): Promise<void>;
};

/** A place for many values that is cheaper than a Durable Object's own storage, and slower. */
export type FarStore = {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /** How long after a write, in milliseconds, every read sees it. */
  readonly settleMs: number;
};

export type BlockTierOptions = {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Keeps the runtime awake for work that outlives a call (`waitUntil`). */
  readonly defer?: (work: Promise<void>) => void;
  /** Told of what could not be moved; it is tried again at the next write. */
  readonly log?: (message: string) => void;
};

/** Workers KV shows a write everywhere after "up to 60 seconds or more", and remembers as long that a key was missing. */
const KV_SETTLE_MS = 300_000;
/** Blocks that are copied, and removed, after one write: more than come with it, so that a backlog goes down. */
const MOVES_PER_WRITE = 16;

export function kvBlocks(namespace: KvNamespace): FarStore {
  return {
    get: (key) => namespace.get(key),
    put: (key, value) => namespace.put(key, value),
    delete: (key) => namespace.delete(key),
    settleMs: KV_SETTLE_MS,
  };
}

/** R2 shows a write to every read that begins after it: nothing has to settle. */
export function r2Blocks(bucket: R2Bucket): FarStore {
  return {
    get: async (key) => (await bucket.get(key))?.text() ?? null,
    put: async (key, value) => void (await bucket.put(key, value)),
    delete: (key) => bucket.delete(key),
    settleMs: 0,
  };
}

type Tier = Required<BlockTierOptions> & {
  readonly near: Driver;
  readonly far: FarStore;
  /** Blocks that only the near store has, in order of writing. The symbol tells one write from the next. */
  readonly fresh: Map<string, symbol>;
  /** Blocks that both have, in order of copying, with the time of that. */
  readonly copied: Map<string, number>;
  /** The copy under way. */
  copying: Promise<void>;
  listed: Promise<void> | undefined;
  moving: boolean;
};

/**
 * Keeps sessions in `near` and moves their blocks to `far`. A block is written to `near`, copied to `far` behind the
 * reply, and removed from `near` only when every read of `far` is bound to see the copy; reads ask `near` first. So what
 * is read is always what was last written, although KV alone may answer with old values for a minute.
 *
 * Only one process may use it at a time, as is so with a Durable Object. Blocks in `far` are not among the listed keys.
 */
export function createBlockTier(near: Driver, far: FarStore, options: BlockTierOptions = {}): Driver {
  const tier = createTier(near, far, options);
  return {
    ...near,
    name: `${near.name ?? "near"} with blocks elsewhere`,
    getItem: async (key, opts) => (await near.getItem(key, opts)) ?? (isBlockKey(key) ? far.get(key) : null),
    hasItem: async (key, opts) => (await near.hasItem(key, opts)) || (isBlockKey(key) && (await far.get(key)) !== null),
    async setItem(key, value, opts) {
      forget(tier, key); // Before the write: else the new value could be removed in place of the old.
      await near.setItem?.(key, value, opts);
      if (!isBlockKey(key)) return;
      tier.fresh.set(key, Symbol("write"));
      tier.defer(move(tier));
    },
    async removeItem(key, opts) {
      forget(tier, key);
      await near.removeItem?.(key, opts);
      if (!isBlockKey(key)) return;
      await tier.copying; // Else the copy could arrive after the removal.
      await far.delete(key);
    },
  };
}

function createTier(near: Driver, far: FarStore, { now = Date.now, defer, log }: BlockTierOptions): Tier {
  return {
    near,
    far,
    now,
    defer: defer ?? (() => {}),
    log: log ?? (() => {}),
    fresh: new Map(),
    copied: new Map(),
    copying: Promise.resolve(),
    listed: undefined,
    moving: false,
  };
}

function forget({ fresh, copied }: Tier, key: string): void {
  fresh.delete(key);
  copied.delete(key);
}

/** Copies and removes what is due; never rejects. */
async function move(tier: Tier): Promise<void> {
  if (tier.moving) return;
  tier.moving = true;
  try {
    tier.listed ??= listFresh(tier);
    await tier.listed;
    for (const [key, write] of [...tier.fresh].slice(0, MOVES_PER_WRITE)) {
      tier.copying = tryCopy(tier, key, write);
      await tier.copying;
    }
    for (const [key, at] of [...tier.copied].slice(0, MOVES_PER_WRITE)) {
      if (tier.now() - at < tier.far.settleMs) break;
      if (tier.copied.delete(key)) await tier.near.removeItem?.(key, {});
    }
  } catch (error) {
    tier.log(`Blocks could not be moved: ${String(error)}`);
  } finally {
    tier.moving = false;
  }
}

/** Copies the block; when that fails it goes to the end of the line. */
async function tryCopy(tier: Tier, key: string, write: symbol): Promise<void> {
  try {
    await copy(tier, key, write);
  } catch (error) {
    tier.log(`The block ${key} could not be moved: ${String(error)}`);
    if (tier.fresh.get(key) !== write) return;
    tier.fresh.delete(key);
    tier.fresh.set(key, write);
  }
}

async function copy({ near, far, fresh, copied, now }: Tier, key: string, write: symbol): Promise<void> {
  const value = await near.getItem(key, {});
  if (typeof value !== "string" || fresh.get(key) !== write) return;
  await far.put(key, value);
  if (fresh.get(key) !== write) return; // Written again meanwhile, or removed.
  fresh.delete(key);
  copied.set(key, now());
}

/** What an earlier life of the object left in the near store; whether it was copied nobody knows. */
async function listFresh({ near, fresh }: Tier): Promise<void> {
  const keys = await near.getKeys("", {});
  for (const key of keys) if (isBlockKey(key) && !fresh.has(key)) fresh.set(key, Symbol("found"));
}
