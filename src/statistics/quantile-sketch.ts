/**
 * Quantiles of a stream within a bounded number of counters: buckets on a logarithmic scale, so that every quantile is within `accuracy` of
 * the true value. Masson, Rim and Lee, “DDSketch”, Proceedings of the VLDB Endowment 12 (2019). Sketches add up in any order.
 */
import { emptySketch, type QuantileSketch } from '../model/quantile-sketch.ts';

/** Relative error of a quantile. */
export const accuracy = 0.02;
/** At this accuracy they cover five decades and more; beyond them the lowest ones stand together. */
export const bucketsMax = 400;

const ratio = (1 + accuracy) / (1 - accuracy);
const logRatio = Math.log(ratio);

/** The bucket of a value above 0. */
export function bucketIndex(value: number): number {
  return Math.ceil(Math.log(value) / logRatio);
}

/** The middle of a bucket in relative terms. */
export function bucketMiddle(index: number): number {
  return (2 * ratio ** index) / (ratio + 1);
}

/** The sketch of one value; empty when the value is not a finite number. */
export function sketchOf(value: number): QuantileSketch {
  if (!Number.isFinite(value)) return emptySketch;
  const own = Math.max(0, value);
  return own === 0
    ? { count: 1, zeros: 1, low: 0, high: 0, buckets: [] }
    : { count: 1, zeros: 0, low: own, high: own, buckets: [[bucketIndex(own), 1]] };
}

export function mergedSketch(one: QuantileSketch, other: QuantileSketch): QuantileSketch {
  if (one.count === 0) return other;
  if (other.count === 0) return one;
  const counts = new Map(one.buckets);
  for (const [index, count] of other.buckets) counts.set(index, (counts.get(index) ?? 0) + count);
  const buckets = [...counts].sort(([left], [right]) => left - right);
  const surplus = Math.max(0, buckets.length - bucketsMax);
  const lowest = buckets.slice(0, surplus + 1);
  const [index = 0] = lowest.at(-1) ?? [];
  return {
    count: one.count + other.count,
    zeros: one.zeros + other.zeros,
    low: Math.min(one.low, other.low),
    high: Math.max(one.high, other.high),
    buckets: surplus === 0 ? buckets : [[index, lowest.reduce((sum, [, count]) => sum + count, 0)], ...buckets.slice(surplus + 1)],
  };
}

/** Half of the observations, for a window that slides. */
export function halvedSketch({ zeros, low, high, buckets }: QuantileSketch): QuantileSketch {
  const halves = buckets.map(([index, count]) => [index, Math.floor(count / 2)] as const).filter(([, count]) => count > 0);
  const kept = { zeros: Math.floor(zeros / 2), buckets: halves };
  const count = halves.reduce((sum, [, own]) => sum + own, kept.zeros);
  return count === 0 ? emptySketch : { count, ...kept, low, high };
}

/** The value below which the share lies (0..1); `undefined` of no values. */
export function quantileOf({ count, zeros, low, high, buckets }: QuantileSketch, share: number): number | undefined {
  if (count === 0 || !(share >= 0 && share <= 1)) return undefined;
  const rank = share * (count - 1);
  let passed = zeros;
  if (rank < passed) return 0;
  for (const [index, own] of buckets) {
    passed += own;
    if (rank < passed) return Math.min(high, Math.max(low, bucketMiddle(index)));
  }
  return high;
}
