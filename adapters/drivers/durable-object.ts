import type { Driver } from "unstorage";
import { createLocalLocks } from "../../src/store/locks.ts";
import { type BlockTierOptions, createBlockTier, type FarStore } from "./cloudflare-blocks.ts";
import { type OpenedStorage, opened } from "./opened.ts";

/** The part of a Durable Object's storage that is used; the object must be one with SQLite storage. */
export type DurableObjectStorage = {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
  list(options: { prefix: string }): Promise<Map<string, unknown>>;
};

/** A SQLite-backed object takes 2 MB for key and value together, with what its encoding adds. */
export const DURABLE_OBJECT_MAX_VALUE_BYTES = 2_000_000 - 4_096;

/** So that other code of the object can keep values of its own. */
const PREFIX = "store:";

/**
 * The store of one Durable Object, which nobody else can write to.
 * @param options.blocks Where blocks move to after they were written: `r2Blocks` or `kvBlocks`.
 */
export function openDurableObject(
  storage: DurableObjectStorage,
  { blocks, ...options }: BlockTierOptions & { readonly blocks?: FarStore } = {},
): OpenedStorage {
  const driver = createDurableObjectDriver(storage);
  return opened({
    driver: blocks === undefined ? driver : createBlockTier(driver, blocks, options),
    locks: createLocalLocks(),
    exclusive: true,
    maxValueBytes: DURABLE_OBJECT_MAX_VALUE_BYTES,
    description: "the storage of this Durable Object",
  });
}

/**
 * Values as UTF-8 bytes in the storage of one Durable Object: a string with a single wide character would take two bytes
 * for each. The runtime holds replies back until what was written before them is on the disk.
 */
export function createDurableObjectDriver(storage: DurableObjectStorage): Driver {
  const getKeys = async (base = ""): Promise<string[]> => {
    const found = await storage.list({ prefix: PREFIX + base });
    return [...found.keys()].map((key) => key.slice(PREFIX.length));
  };
  return {
    name: "durable-object",
    getInstance: () => storage,
    hasItem: async (key) => (await storage.get(PREFIX + key)) !== undefined,
    async getItem(key) {
      const value = await storage.get(PREFIX + key);
      return value instanceof Uint8Array ? new TextDecoder().decode(value) : null;
    },
    setItem: (key, value) => storage.put(PREFIX + key, new TextEncoder().encode(value)),
    async removeItem(key) {
      await storage.delete(PREFIX + key);
    },
    getKeys,
    async clear(base) {
      for (const key of await getKeys(base)) await storage.delete(PREFIX + key);
    },
  };
}
