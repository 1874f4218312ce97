/** Comparing and counting nanoseconds. */

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How many of the sorted times are earlier. */
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
