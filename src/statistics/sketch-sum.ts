/** A quantile sketch that grows in place, for sums over many values, and its form in a stored text. */
import type { QuantileSketch } from '../model/quantile-sketch.ts';
import { bucketIndex, bucketMiddle, bucketsMax } from './quantile-sketch.ts';

export interface SketchSum {
  /** Values of 0 or below. */
  zeros: number;
  readonly buckets: Map<number, number>;
}

export function sketchSum(): SketchSum {
  return { zeros: 0, buckets: new Map() };
}

/** Ignores values that are not finite numbers. */
export function addValue(sum: SketchSum, value: number, times = 1): void {
  if (!Number.isFinite(value)) return;
  if (value > 0) addToBucket(sum, bucketIndex(value), times);
  else sum.zeros += times;
}

function addToBucket({ buckets }: SketchSum, index: number, times: number): void {
  buckets.set(index, (buckets.get(index) ?? 0) + times);
}

/** Zeros, then index and count of each bucket, by index. */
export type EncodedSketch = readonly number[];

export function addEncoded(sum: SketchSum, encoded: EncodedSketch): void {
  sum.zeros += encoded[0] ?? 0;
  for (let at = 1; at + 1 < encoded.length; at += 2) addToBucket(sum, encoded[at] ?? 0, encoded[at + 1] ?? 0);
}

export function encodedSketch(sum: SketchSum): EncodedSketch {
  const encoded = [sum.zeros];
  for (const [index, count] of bounded(sum)) encoded.push(index, count);
  return encoded;
}

/** Its `low` and `high` are the middles of the outermost buckets. */
export function sketchOfSum(sum: SketchSum): QuantileSketch {
  const buckets = bounded(sum);
  const [lowest, highest] = [buckets.at(0), buckets.at(-1)];
  return {
    count: buckets.reduce((all, [, count]) => all + count, sum.zeros),
    zeros: sum.zeros,
    low: sum.zeros > 0 || lowest === undefined ? 0 : bucketMiddle(lowest[0]),
    high: highest === undefined ? 0 : bucketMiddle(highest[0]),
    buckets,
  };
}

/** Beyond the limit the lowest buckets stand together. */
function bounded({ buckets }: SketchSum): readonly (readonly [index: number, count: number])[] {
  const ordered = [...buckets].sort(([one], [other]) => one - other);
  const surplus = ordered.length - bucketsMax;
  if (surplus <= 0) return ordered;
  const lowest = ordered.slice(0, surplus + 1);
  return [[lowest.at(-1)?.[0] ?? 0, lowest.reduce((all, [, count]) => all + count, 0)], ...ordered.slice(surplus + 1)];
}
