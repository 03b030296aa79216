import type { Block, SessionRecord } from "../core/session.ts";
import type { ServiceContext } from "./context.ts";
import type { LiveSession } from "./live.ts";

/** How long a lock that is free may take to be had, in milliseconds. */
const GLIMPSE_MS = 100;

/** Names a session's turn to run among processes that share a store. */
export function turnOf(owner: string, id: string): string {
  return `run/${owner}/${id}`;
}

/**
 * Stores a block that was in flight when an earlier server ended, so that the record's one slot is free again. The caller
 * holds the session's turn, or knows that nobody does. Resolves to that block; undefined when there is none.
 */
export async function settle(
  context: ServiceContext,
  live: LiveSession,
  { pending }: SessionRecord,
): Promise<Block | undefined> {
  if (!pending || pending.sequence <= live.completed) return undefined;
  const [stored] = await context.store.readBlocks(live.owner, live.id, [pending.sequence]);
  const cutOff = stored ? undefined : interrupted(context, pending);
  if (cutOff) await context.store.writeBlock(live.owner, live.id, cutOff);
  live.completed = pending.sequence;
  return cutOff;
}

/** A block whose server ended: a local kernel ended with it, a remote one may have run the code to its end. */
export function interrupted({ backend }: ServiceContext, block: Block): Block {
  const remote = backend.supports.attach;
  const what = remote ? "its output is lost, and how far it ran is not known" : "its output and the variables are lost";
  return {
    ...block,
    status: "interrupted",
    state: remote ? "kept" : "lost",
    note: `The server stopped while this block ran: ${what}`,
  };
}

/** Does the pending block run at this moment, in this process or in another one that shares the store? */
export async function isInFlight({ locks }: ServiceContext, live: LiveSession, pending: Block): Promise<boolean> {
  if (live.running?.block.sequence === pending.sequence) return true;
  if (!locks) return false;
  // Whoever runs a block holds the session's turn.
  const free = locks.run(turnOf(live.owner, live.id), async () => true, AbortSignal.timeout(GLIMPSE_MS));
  return !(await free.catch(() => false));
}
