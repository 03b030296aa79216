import { type E2bOptions, refOwnsSandbox, type SandboxMeta, sweepSandboxes } from "../src/backends/e2b/backend.ts";
import type { HistoryStore } from "../src/store/history-store.ts";

/** Ends the sandboxes of this deployment that no session owns. @returns How many. */
export function sweep(options: E2bOptions, owns: (meta: SandboxMeta) => Promise<boolean>): Promise<number> {
  return sweepSandboxes(options, owns);
}

/** Does a session of the store have this sandbox as its kernel? */
export async function ownedBy(store: HistoryStore, meta: SandboxMeta): Promise<boolean> {
  const record = await store.readSession(meta.owner, meta.session);
  return refOwnsSandbox(record?.kernelRef, meta);
}
