import type { Driver } from "unstorage";
import { createLeaseLocks, type Lease, type Locks } from "../../src/store/locks.ts";

/** The part of Deno's KV that is used. */
export type DenoKvKey = readonly string[];
export type DenoKvEntry = { readonly key: DenoKvKey; readonly value: unknown; readonly versionstamp: string | null };
export type DenoKvAtomic = {
  check(check: { key: DenoKvKey; versionstamp: string | null }): DenoKvAtomic;
  set(key: DenoKvKey, value: unknown, options?: { expireIn?: number }): DenoKvAtomic;
  delete(key: DenoKvKey): DenoKvAtomic;
  commit(): Promise<{ readonly ok: boolean; readonly versionstamp?: string }>;
};
export type DenoKv = {
  get(key: DenoKvKey): Promise<DenoKvEntry>;
  set(key: DenoKvKey, value: unknown): Promise<unknown>;
  delete(key: DenoKvKey): Promise<void>;
  list(selector: { prefix: DenoKvKey }): AsyncIterable<DenoKvEntry>;
  atomic(): DenoKvAtomic;
  close(): void;
};

/** Deno KV takes 64 KiB a value, with what its encoding adds. */
export const DENO_KV_MAX_VALUE_BYTES = 65_000;

const VALUES = "edge-python-repl";
const LOCKS = "edge-python-repl-locks";
/** The lock of a process that ended is free again after this; a living one renews it three times meanwhile. */
const LEASE_MS = 6_000;

/** How often, and with what longest pause, a call is tried on a local database that another process is writing to. */
const BUSY_TRIES = 100;
const BUSY_PAUSE_MS = 50;

/**
 * Values as UTF-8 bytes: Deno stores a string with a single wide character at two bytes each, so that its length would
 * not tell whether it fits. Reads are strongly consistent, Deno KV's default.
 */
export function createDenoKvDriver(kv: DenoKv): Driver {
  const keyOf = (key: string): DenoKvKey => [VALUES, ...key.split(":").filter((segment) => segment !== "")];
  const getKeys = async (base = ""): Promise<string[]> => {
    const keys: string[] = [];
    await whileBusy(async () => {
      keys.length = 0;
      for await (const entry of kv.list({ prefix: keyOf(base) })) keys.push(entry.key.slice(1).join(":"));
    });
    return keys;
  };
  return {
    name: "deno-kv",
    getInstance: () => kv,
    hasItem: async (key) => (await whileBusy(() => kv.get(keyOf(key)))).versionstamp !== null,
    async getItem(key) {
      const { value } = await whileBusy(() => kv.get(keyOf(key)));
      return value instanceof Uint8Array ? new TextDecoder().decode(value) : null;
    },
    async setItem(key, value) {
      await whileBusy(() => kv.set(keyOf(key), new TextEncoder().encode(value)));
    },
    removeItem: (key) => whileBusy(() => kv.delete(keyOf(key))),
    getKeys,
    async clear(base) {
      for (const key of await getKeys(base)) await whileBusy(() => kv.delete(keyOf(key)));
    },
    dispose: () => kv.close(),
  };
}

/**
 * Locks by entries that carry the time they end at: Deno's own expiry is only a promise not to remove them earlier. The
 * clocks of processes that share a store must agree within a few seconds.
 */
export function createDenoKvLocks(kv: DenoKv, leaseMs = LEASE_MS): Locks {
  return createLeaseLocks((key) => acquire(kv, [LOCKS, key], leaseMs));
}

async function acquire(kv: DenoKv, key: DenoKvKey, leaseMs: number): Promise<Lease | undefined> {
  const present = await whileBusy(() => kv.get(key));
  if (typeof present.value === "number" && present.value > Date.now()) return undefined;
  let version = await take(kv, key, present.versionstamp, leaseMs);
  if (version === undefined) return undefined;
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    if (version !== undefined) version = await take(kv, key, version, leaseMs);
  };
  const timer = setInterval(() => {
    renewing = renewing.then(renew).catch(() => {}); // The next renewal tries again.
  }, leaseMs / 3);
  return {
    async release() {
      clearInterval(timer);
      await renewing;
      if (version === undefined) return; // Another process has taken it after a long silence.
      const removal = kv.atomic().check({ key, versionstamp: version }).delete(key);
      await whileBusy(() => removal.commit()).catch(() => {}); // It ends by itself.
    },
  };
}

/** Sets the end of the lock if nobody changed it since `versionstamp`. Returns the new version; undefined if they did. */
async function take(
  kv: DenoKv,
  key: DenoKvKey,
  versionstamp: string | null,
  leaseMs: number,
): Promise<string | undefined> {
  const end = Date.now() + leaseMs;
  const change = kv.atomic().check({ key, versionstamp }).set(key, end, { expireIn: leaseMs });
  const result = await whileBusy(() => change.commit());
  return result.ok ? result.versionstamp : undefined;
}

/** Deno gives up at once, with nothing done, when another process has the local database locked. */
async function whileBusy<T>(task: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await task();
    } catch (error) {
      if (tries === BUSY_TRIES || !String(error).includes("database is locked")) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(BUSY_PAUSE_MS, tries)));
  }
}
