/**
 * Several tests at once. Holm, “A simple sequentially rejective multiple test procedure”, Scandinavian Journal of Statistics 6 (1979): the
 * probability of one false alarm or more stays below the level, with any dependence of the tests.
 */

/** Adjusted p-values in the order given: each may be held against the level of the whole family. */
export function holmAdjusted(pValues: readonly number[]): readonly number[] {
  return discreteHolmAdjusted(pValues.map((p) => ({ p, least: 0 })));
}

/** The relative error of a p-value from the gamma function. */
const sameWithin = 1e-9;

/** A test of counts: few items make few p-values. */
export interface DiscreteTest {
  readonly p: number;
  /** The least p-value that the test could have, for any direction of its items; 0 for a continuous test. */
  readonly least: number;
}

/**
 * Holm's method after Tarone, “A modified Bonferroni method for discrete data”, Biometrics 46 (1990): a p-value is multiplied by the number of
 * tests that could have reached it. A test of no differing item has the least p-value 1 and costs the others nothing.
 */
export function discreteHolmAdjusted(tests: readonly DiscreteTest[]): readonly number[] {
  const ordered = tests.map((test, at) => ({ ...test, at })).sort((one, other) => one.p - other.p);
  const adjusted = tests.map(() => 1);
  let highest = 0;
  for (const [rank, { p, at }] of ordered.entries()) {
    const rivals = ordered.slice(rank).filter(({ least }, other) => other === 0 || least <= p * (1 + sameWithin)).length;
    highest = Math.max(highest, Math.min(1, p * rivals));
    adjusted[at] = highest;
  }
  return adjusted;
}
