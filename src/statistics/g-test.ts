/** Tests whether two groups fall into the same categories with the same shares: the likelihood-ratio test of a table of two rows. */
import { chiSquareAbove } from './chi-square.ts';

/** Counts of one category in two groups. */
export interface Category {
  readonly first: number;
  readonly second: number;
}

export interface GTest {
  /** The statistic after Williams' correction; chi-square distributed when the shares are the same. */
  readonly g: number;
  readonly degrees: number;
  /** Probability of a statistic of this size or larger when the shares are the same. */
  readonly p: number;
  /** Categories that stand together as one, because too little was expected in each. */
  readonly pooled: number;
}

/** Cochran's rule: the approximation needs this many expected observations in a cell. */
export const expectedMin = 5;

/**
 * The G-test of one or several tables, with Williams' correction of each. The sums of statistics and degrees of freedom of independent
 * tables are those of one test. Sokal and Rohlf, Biometry (1995), section 17.4; Williams, Biometrika 63 (1976). For the transitions of two
 * Markov chains, one table a state, it is the test of Anderson and Goodman, Annals of Mathematical Statistics 28 (1957).
 *
 * Categories with fewer than `expectedMin` expected observations are pooled within their table. `undefined`: no table has two categories
 * and both groups left, so there is nothing to compare.
 */
export function gTest(tables: readonly (readonly Category[])[]): GTest | undefined {
  let [g, degrees, pooled] = [0, 0, 0];
  for (const table of tables) {
    const { dense, together } = pooledTable(table);
    if (dense.length < 2) continue;
    g += statistic(dense) / williams(dense);
    degrees += dense.length - 1;
    pooled += together;
  }
  return degrees === 0 ? undefined : { g, degrees, p: chiSquareAbove(g, degrees), pooled };
}

/** The categories with enough expected observations, and one of all others. Empty when one group has no observations. */
function pooledTable(table: readonly Category[]): { readonly dense: readonly Category[]; readonly together: number } {
  const observed = table.filter(({ first, second }) => first + second > 0);
  const { first, second } = sumOf(observed);
  if (first === 0 || second === 0) return { dense: [], together: 0 };
  const isDense = (one: Category): boolean => ((one.first + one.second) * Math.min(first, second)) / (first + second) >= expectedMin;
  const [dense, sparse] = [observed.filter(isDense), observed.filter((one) => !isDense(one))];
  if (sparse.length === 0) return { dense, together: 0 };
  const rest = sumOf(sparse);
  if (isDense(rest)) return { dense: [...dense, rest], together: sparse.length };
  // Too few even together: they join the smallest of the others.
  const [smallest, ...others] = dense.toSorted((one, other) => one.first + one.second - (other.first + other.second));
  return smallest === undefined ? { dense: [], together: 0 } : { dense: [...others, sumOf([smallest, rest])], together: sparse.length + 1 };
}

function sumOf(categories: readonly Category[]): Category {
  return categories.reduce((sum, { first, second }) => ({ first: sum.first + first, second: sum.second + second }), {
    first: 0,
    second: 0,
  });
}

/** 2 Σ O ln(O/E). */
function statistic(table: readonly Category[]): number {
  const { first, second } = sumOf(table);
  const total = first + second;
  const part = (observed: number, row: number, column: number): number =>
    observed === 0 ? 0 : observed * Math.log((observed * total) / (row * column));
  const sum = table.reduce((all, one) => {
    const column = one.first + one.second;
    return all + part(one.first, first, column) + part(one.second, second, column);
  }, 0);
  // Rounding must not make it negative.
  return Math.max(0, 2 * sum);
}

/** q = 1 + (n Σ 1/row − 1)(n Σ 1/column − 1) / (6 n (rows − 1)(columns − 1)). */
function williams(table: readonly Category[]): number {
  const { first, second } = sumOf(table);
  const total = first + second;
  const rows = total / first + total / second - 1;
  const columns = table.reduce((sum, one) => sum + total / (one.first + one.second), 0) - 1;
  return 1 + (rows * columns) / (6 * total * (table.length - 1));
}
