/** Comparison and search of nanosecond times. */

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The earlier of two times; either may be missing. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Sorts in place. Checks first, as most lists are in order. */
export function sortedBy<Item>(list: Item[], order: (a: Item, b: Item) => number): Item[] {
  for (let at = 1; at < list.length; at++) if (order(list[at - 1] as Item, list[at] as Item) > 0) return list.sort(order);
  return list;
}

/** The number of sorted times before `limit`. */
export function countBelow(times: readonly bigint[], limit: bigint): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
