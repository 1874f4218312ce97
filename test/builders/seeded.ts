/** Chance that repeats itself: the same seed gives the same sequence. */

export interface Chance {
  /** 0 (inclusive) to 1 (exclusive). */
  readonly share: () => number;
  /** A whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
  readonly shuffled: <T>(list: readonly T[]) => readonly T[];
}

/** Mulberry32: 32 bits of state, good enough to shuffle tests. */
export function seeded(seed: number): Chance {
  let state = seed >>> 0;
  const share = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(share() * limit);
  return {
    share,
    below,
    pick(from) {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
    shuffled: (list) =>
      list
        .map((item) => ({ item, key: share() }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
  };
}
