/** Fisher's exact test of a table of two groups and two outcomes: Fisher, Statistical Methods for Research Workers (1934), section 21.02. */
import type { DiscreteTest } from './holm.ts';

/** Items with the outcome, and all items of the group. */
export interface Group {
  readonly hits: number;
  readonly of: number;
}

/** Rounding must not separate tables that are equally probable. */
const sameWithin = 1e-7;

/**
 * Two-sided: the probability of all tables with the same sums that are at most as probable as this one. `least`: the smallest p-value of a table with
 * these sums. Both are 1 when every item or no item has the outcome.
 */
export function fisherExact(one: Group, other: Group): DiscreteTest {
  const hits = one.hits + other.hits;
  const from = Math.max(0, hits - other.of);
  const weights = weightsFrom(from, { rows: one.of, others: other.of, hits });
  const total = sum(weights);
  if (total === 0) return { p: 1, least: 1 };
  const upTo = (weight: number): number => Math.min(1, sum(weights.filter((own) => own <= weight * (1 + sameWithin))) / total);
  const ends = Math.min(weights[0] ?? 0, weights.at(-1) ?? 0);
  return { p: upTo(weights[one.hits - from] ?? 0), least: upTo(ends) };
}

/** Probabilities of the tables, each divided by that of the most probable one. The first has `from` hits in the first group. */
function weightsFrom(from: number, { rows, others, hits }: { readonly rows: number; readonly others: number; readonly hits: number }) {
  const until = Math.min(rows, hits);
  const logs = [0];
  for (let at = from; at < until; at++)
    logs.push((logs.at(-1) ?? 0) + Math.log(((rows - at) / (at + 1)) * ((hits - at) / (others - hits + at + 1))));
  const highest = logs.reduce((most, log) => Math.max(most, log), Number.NEGATIVE_INFINITY);
  return logs.map((log) => Math.exp(log - highest));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
