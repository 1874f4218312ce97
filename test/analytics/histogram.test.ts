import fc from 'fast-check';
import { expect, test } from 'vitest';
import { histogramOf } from '../../src/analytics/histogram.ts';
import { addValue, sketchOfSum, sketchSum } from '../../src/statistics/sketch-sum.ts';

function sketchedOf(values: readonly number[]) {
  const sum = sketchSum();
  for (const value of values) addValue(sum, value);
  return sketchOfSum(sum);
}

test.each([
  { name: 'no values', values: [], bins: [] },
  { name: 'zeros have a separate bin', values: [0, 0], bins: [[0, 0, 2]] },
  {
    name: 'edges are 1, 2 and 5 times a power of ten, without gaps',
    values: [0.3, 4, 4],
    bins: [
      [0.2, 0.5, 1],
      [0.5, 1, 0],
      [1, 2, 0],
      [2, 5, 2],
    ],
  },
])('histogram: $name', ({ values, bins }) => {
  expect(histogramOf(sketchedOf(values)).map(({ from, to, count }) => [from, to, count])).toEqual(bins);
});

test('histogram: in another unit', () => {
  expect(histogramOf(sketchedOf([3_000_000]), 1_000_000)).toEqual([{ from: 2, to: 5, count: 1 }]);
});

test('histogram: every value is in one bin, and bins are bounded', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e300, noNaN: true }), { maxLength: 50 }), (values) => {
      const bins = histogramOf(sketchedOf(values));
      expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
      expect(bins.length).toBeLessThanOrEqual(61);
      for (const [at, bin] of bins.entries()) expect(bin.from).toBeGreaterThanOrEqual(bins[at - 1]?.to ?? 0);
    }),
  );
});
