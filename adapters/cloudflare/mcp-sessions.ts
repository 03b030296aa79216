import type { SessionMemory } from "../../src/mcp/legacy.ts";
import type { DurableObjectStorage } from "../drivers/durable-object.ts";

const PREFIX = "mcp:";
/** Sessions beyond this are forgotten, the oldest first. */
const MAX_SESSIONS = 100;
const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** A longer opening message is not kept; its session ends with the object. */
const MAX_CHARS = 16 * 1024;

type Kept = { readonly at: number; readonly initialize: string };

/**
 * Keeps MCP sessions of 2025 clients in the storage of their owner's object: the platform ends an object that is idle
 * for a while, and these clients do not start anew by themselves.
 */
export function createSessionMemory(storage: DurableObjectStorage, now: () => number = Date.now): SessionMemory {
  const keyOf = (id: string): string => PREFIX + id;
  return {
    async load(id) {
      const kept = (await storage.get(keyOf(id))) as Kept | undefined;
      return kept && now() - kept.at < MAX_AGE_MS ? JSON.parse(kept.initialize) : undefined;
    },
    async save(id, message) {
      const initialize = JSON.stringify(message);
      if (initialize.length > MAX_CHARS) return;
      await storage.put(keyOf(id), { at: now(), initialize } satisfies Kept);
      await prune(storage, now());
    },
    async forget(id) {
      await storage.delete(keyOf(id));
    },
  };
}

async function prune(storage: DurableObjectStorage, now: number): Promise<void> {
  const kept = [...(await storage.list({ prefix: PREFIX }))] as [string, Kept][];
  kept.sort(([, a], [, b]) => b.at - a.at);
  const old = kept.filter(([, { at }], index) => index >= MAX_SESSIONS || now - at >= MAX_AGE_MS);
  for (const [key] of old) await storage.delete(key);
}
