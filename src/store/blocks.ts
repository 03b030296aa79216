import type { Block } from "../core/session.ts";
import { mapBounded } from "./bounded.ts";
import type { StoreContext } from "./context.ts";
import { blockKey } from "./keys.ts";
import { checkBlock, type Tombstone } from "./schemas.ts";

const PARALLEL = 32;
const STRIDE = 250;

export function readBlocks(
  context: StoreContext,
  owner: string,
  id: string,
  sequences: readonly number[],
): Promise<(Block | undefined)[]> {
  return mapBounded(sequences, PARALLEL, (sequence) => readBlock(context, owner, id, sequence));
}

export function writeBlock(context: StoreContext, owner: string, id: string, block: Block): Promise<void> {
  return context.values.write(blockKey(owner, id, block.sequence), block);
}

export async function deleteBlocks(
  context: StoreContext,
  owner: string,
  id: string,
  sequences: readonly number[],
): Promise<void> {
  await mapBounded(sequences, PARALLEL, (sequence) => context.values.remove(blockKey(owner, id, sequence)));
}

/**
 * Removes whatever blocks a session may have, those of deletions that were cut off too, and then the tombstone that
 * stands in its place. From the last block back, and lowering the tombstone on the way: what is cut off once more, be it
 * by a platform's limit of calls, goes on where it was.
 */
export async function finishRemoval(
  context: StoreContext,
  owner: string,
  id: string,
  { nextSequence }: Tombstone,
): Promise<void> {
  for (let end = nextSequence; end > 0; end -= STRIDE) {
    const start = Math.max(0, end - STRIDE);
    await deleteBlocks(
      context,
      owner,
      id,
      Array.from({ length: end - start }, (_, offset) => start + offset),
    );
    if (start > 0) await context.records.bury(owner, id, { removed: true, nextSequence: start });
  }
  await context.records.remove(owner, id);
}

async function readBlock(
  context: StoreContext,
  owner: string,
  id: string,
  sequence: number,
): Promise<Block | undefined> {
  const key = blockKey(owner, id, sequence);
  const value = await context.values.read(key);
  if (value === undefined) return undefined;
  const checked = checkBlock(value);
  if ("value" in checked && checked.value.sequence === sequence) return checked.value;
  const reason = "reason" in checked ? checked.reason : `it carries the sequence number ${checked.value.sequence}`;
  context.log(`The stored value ${key} is taken as absent: ${reason}`);
  return undefined;
}
