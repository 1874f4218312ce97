import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptySketch } from '../../src/model/quantile-sketch.ts';
import { bucketsMax, mergedSketch, quantileOf, sketchOf } from '../../src/statistics/quantile-sketch.ts';
import { addEncoded, addValue, encodedSketch, sketchOfSum, sketchSum } from '../../src/statistics/sketch-sum.ts';

const values = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 1e-6, max: 1e9, noNaN: true })), { maxLength: 60 });

function sumOf(all: readonly number[]) {
  const sum = sketchSum();
  for (const value of all) addValue(sum, value);
  return sum;
}

test('sketch sums: the same buckets as sketches that are merged one by one', () => {
  fc.assert(
    fc.property(values, (all) => {
      const { low: _low, high: _high, ...merged } = all.map(sketchOf).reduce(mergedSketch, emptySketch);
      expect(sketchOfSum(sumOf(all))).toMatchObject(merged);
    }),
  );
});

test('sketch sums: two encoded halves add up to the whole, and quantiles stay within the accuracy', () => {
  fc.assert(
    fc.property(values, values, (one, other) => {
      const joined = sketchSum();
      for (const half of [one, other]) addEncoded(joined, JSON.parse(JSON.stringify(encodedSketch(sumOf(half)))) as readonly number[]);
      expect(sketchOfSum(joined)).toEqual(sketchOfSum(sumOf([...one, ...other])));
      const sorted = [...one, ...other].toSorted((a, b) => a - b);
      if (sorted.length === 0) return;
      const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
      const found = quantileOf(sketchOfSum(joined), Math.floor((sorted.length - 1) / 2) / Math.max(1, sorted.length - 1)) ?? Number.NaN;
      expect(Math.abs(found - median)).toBeLessThanOrEqual(0.0201 * median);
    }),
  );
});

test('sketch sums: bounded, with the lowest buckets together, and without values that are not numbers', () => {
  const sum = sketchSum();
  for (let power = -300; power < 300; power++) addValue(sum, 10 ** power);
  for (const value of [Number.NaN, Infinity, -1]) addValue(sum, value);
  const sketch = sketchOfSum(sum);
  expect([sketch.count, sketch.zeros, sketch.buckets.length]).toEqual([601, 1, bucketsMax]);
  expect(sketch.high).toBeCloseTo(1e299, -298);
});
