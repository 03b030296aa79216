import { type E2bOptions, refOwnsSandbox, type SandboxMeta, sweepSandboxes } from "../src/backends/e2b/backend.ts";
import type { Config } from "../src/config.ts";
import type { HistoryStore } from "../src/store/history-store.ts";
import type { Log } from "./log.ts";

/** Milliseconds between two sweeps of a server that sweeps by itself. */
const EVERY_MS = 10 * 60 * 1000;

/** Ends the sandboxes of this deployment that no session owns. @returns How many. */
export function sweep(options: E2bOptions, owns: (meta: SandboxMeta) => Promise<boolean>): Promise<number> {
  return sweepSandboxes(options, owns);
}

/** Does a session of the store have this sandbox as its kernel? */
export async function ownedBy(store: HistoryStore, meta: SandboxMeta): Promise<boolean> {
  const record = await store.readSession(meta.owner, meta.session);
  return refOwnsSandbox(record?.kernelRef, meta);
}

/**
 * May a server sweep unasked? Only where a name of its own tells its sandboxes from those of other servers with the same
 * API key, whose sessions it does not know.
 */
export function sweepsByItself({ REPL_BACKEND, REPL_DEPLOYMENT }: Config): boolean {
  return REPL_BACKEND === "e2b" && REPL_DEPLOYMENT !== "default";
}

/** Sweeps again and again. @returns What ends it. */
export function sweepEvery(options: E2bOptions, store: HistoryStore, log: Log): () => void {
  const once = (): void => {
    sweep(options, (meta) => ownedBy(store, meta)).then(
      (ended) => log("sweep", { ended }),
      (error: unknown) => log("sweep failed", { error: String(error) }),
    );
  };
  const timer = setInterval(once, EVERY_MS);
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
