/**
 * Several tests at once. Holm, “A simple sequentially rejective multiple test procedure”, Scandinavian Journal of Statistics 6 (1979):
 * the probability of one false alarm or more stays below the level, whatever the dependence of the tests.
 */

/** Adjusted p-values in the order given: each may be held against the level of the whole family. */
export function holmAdjusted(pValues: readonly number[]): readonly number[] {
  const ordered = pValues.map((p, at) => ({ p, at })).sort((one, other) => one.p - other.p);
  const adjusted = pValues.map(() => 1);
  let highest = 0;
  for (const [rank, { p, at }] of ordered.entries()) {
    highest = Math.max(highest, Math.min(1, p * (pValues.length - rank)));
    adjusted[at] = highest;
  }
  return adjusted;
}
