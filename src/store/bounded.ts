/** After so many items the event loop gets a turn: a store that answers at once would otherwise hold it throughout. */
const ITEMS_PER_TURN = 256;

/**
 * Returns `task` of each item, in order, with at most `limit` of them under way at once.
 * @throws What the first failing task throws; no further item is begun.
 */
export async function mapBounded<In, Out>(
  items: readonly In[],
  limit: number,
  task: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results = new Array<Out>(items.length);
  const queue = items.entries();
  const perTurn = Math.ceil(ITEMS_PER_TURN / limit);
  let failed = false;
  const work = async (): Promise<void> => {
    let done = 0;
    for (const [position, item] of queue) {
      if (failed) return;
      done += 1;
      if (done % perTurn === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      try {
        results[position] = await task(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
