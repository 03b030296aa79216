import { AppError } from "../core/errors.ts";
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
 * Stores a block that was in flight when an earlier server ended, or that could not be stored when it ended, so that the
 * record's one slot is free again. The caller holds the session's turn, or knows that nobody does.
 * Resolves to a block that was cut off; undefined when there is none.
 */
export async function settle(
  context: ServiceContext,
  live: LiveSession,
  { pending }: SessionRecord,
): Promise<Block | undefined> {
  if (!pending || pending.sequence <= live.completed) return undefined;
  const [stored] = await context.store.readBlocks(live.owner, live.id, [pending.sequence]);
  const ended = live.unsaved?.sequence === pending.sequence ? live.unsaved : undefined;
  const block = stored ?? ended ?? interrupted(context, pending);
  try {
    if (!stored) await context.store.writeBlock(live.owner, live.id, block);
  } catch (error) {
    if (!(ended && error instanceof AppError && error.code === "STORAGE_UNAVAILABLE")) throw error;
    if (!(await storeBare(context, live, ended))) return undefined;
  }
  live.unsaved = undefined;
  live.completed = pending.sequence;
  return stored || ended ? undefined : block;
}

/** On a disk that is full there may be room for the code, when there is none for the output. */
async function storeBare({ store, log }: ServiceContext, live: LiveSession, block: Block): Promise<boolean> {
  const told = "Its output could not be stored";
  const note = block.note === undefined ? told : `${block.note}\n${told}`;
  try {
    await store.writeBlock(live.owner, live.id, { ...block, outputs: [], note });
    return true;
  } catch (error) {
    log("block not saved", { session: live.id, error: String(error) });
    return false;
  }
}

/** A block whose server ended: a local kernel ended with it, a remote one may have run the code to its end. */
export function interrupted({ backend }: ServiceContext, block: Block): Block {
  const remote = backend.supports.attach;
  const what = remote ? "its output is lost, and how far it ran is not known" : "its output and the variables are lost";
  return {
    ...block,
    status: "interrupted",
    state: remote ? "kept" : "lost",
    note: `${block.note ? `${block.note}\n` : ""}The server stopped while this block ran: ${what}`,
  };
}

/** Does the pending block run at this moment, in this process or in another one that shares the store? */
export async function isInFlight({ locks }: ServiceContext, live: LiveSession, pending: Block): Promise<boolean> {
  if (live.running?.block.sequence === pending.sequence || live.current === pending.sequence) return true;
  if (!locks) return false;
  // Whoever runs a block holds the session's turn.
  const free = locks.run(turnOf(live.owner, live.id), async () => true, AbortSignal.timeout(GLIMPSE_MS));
  return !(await free.catch(() => false));
}
