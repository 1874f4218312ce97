/** Concurrent work on items within a budget that may have no room for one. */

/**
 * Items in progress reserve more than they cost. A refused item therefore goes back, with fewer at a time, until the budget has no room for
 * the only one. `work` resolves with `undefined` for no room. The result has no entry for items without room.
 */
export async function withinBudget<Item, End>(
  items: readonly Item[],
  places: number,
  work: (item: Item) => Promise<End | undefined>,
): Promise<ReadonlyMap<Item, End>> {
  const ends = new Map<Item, End>();
  const waiting = items.toReversed();
  let working = Math.min(places, items.length);
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const isAlone = working === 1;
      const end = await work(item);
      if (end !== undefined) ends.set(item, end);
      else if (isAlone) return;
      else {
        waiting.push(item);
        if (working > 1) break;
      }
    }
    working--;
  };
  await Promise.all(Array.from({ length: working }, worker));
  return ends;
}
