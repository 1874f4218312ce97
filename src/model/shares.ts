/**
 * One bound that several tenants share. Up to the bound each may take what it needs. Beyond it a tenant may take while it holds less than an equal
 * share, so a flood of one leaves room for each of the others. All of n tenants together hold at most 1 + 1/2 + … + 1/n times the bound.
 */
export interface Shares {
  mayTake(holder: string): boolean;
  take(holder: string): void;
  giveBack(holder: string): void;
}

export function shares(max: number): Shares {
  const held = new Map<string, number>();
  let total = 0;
  return {
    mayTake(holder) {
      const own = held.get(holder) ?? 0;
      return total < max || own < max / (held.size + Number(own === 0));
    },
    take(holder) {
      total++;
      held.set(holder, (held.get(holder) ?? 0) + 1);
    },
    giveBack(holder) {
      const own = held.get(holder) ?? 0;
      if (own === 0) return;
      total--;
      if (own === 1) held.delete(holder);
      else held.set(holder, own - 1);
    },
  };
}

/**
 * The oldest item of the holder with the most. At a bound this one goes, so that a flood of one holder leaves the items of the others. The items stand
 * oldest first.
 */
export function oldestOfLargest<Item>(
  items: Iterable<Item>,
  holderOf: (item: Item) => string,
  weightOf: (item: Item) => number = () => 1,
): Item | undefined {
  const holders = new Map<string, { readonly oldest: Item; weight: number }>();
  for (const item of items) {
    const holder = holderOf(item);
    const own = holders.get(holder);
    if (own === undefined) holders.set(holder, { oldest: item, weight: weightOf(item) });
    else own.weight += weightOf(item);
  }
  let largest: { readonly oldest: Item; readonly weight: number } | undefined;
  for (const own of holders.values()) if (largest === undefined || own.weight > largest.weight) largest = own;
  return largest?.oldest;
}

/** The items in the order in which they came, one of each holder in turn. */
export function inTurns<Item>(items: readonly Item[], holderOf: (item: Item) => string): readonly Item[] {
  const byHolder = [...Map.groupBy(items, holderOf).values()];
  const longest = Math.max(0, ...byHolder.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => byHolder.flatMap((own) => own.slice(at, at + 1))).flat();
}
