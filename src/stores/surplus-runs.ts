/** How many of the oldest runs go at once where a store holds more bytes than it may: as many as bear what is too much if all are alike, and at least one. */
export function surplusRuns({ used, bytesMax, runs }: { readonly used: number; readonly bytesMax: number; readonly runs: number }): number {
  return used <= bytesMax ? 0 : Math.max(1, Math.ceil((runs * (used - bytesMax)) / used));
}
