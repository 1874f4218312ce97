import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptySketch, type QuantileSketch } from '../../src/model/quantile-sketch.ts';
import { accuracy, bucketsMax, halvedSketch, mergedSketch, quantileOf, sketchOf } from '../../src/statistics/quantile-sketch.ts';

const sketch = (values: readonly number[]): QuantileSketch =>
  values.reduce((all, value) => mergedSketch(all, sketchOf(value)), emptySketch);
const value = fc.double({ min: 0.001, max: 1e6, noNaN: true });

test('every quantile is within the accuracy of a value at its rank', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const sorted = values.toSorted((one, other) => one - other);
      const want = sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
      expect(Math.abs((quantileOf(sketch(values), share) ?? -1) / want - 1)).toBeLessThanOrEqual(accuracy + 1e-9);
    }),
  );
});

test('sketches add up in any order', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.nat(40), (values, cut) => {
      const [one, other] = [sketch(values.slice(0, cut)), sketch(values.slice(cut))];
      expect(mergedSketch(one, other)).toEqual(sketch(values));
      expect(mergedSketch(other, one)).toEqual(sketch(values));
    }),
  );
});

test('a sketch never has more buckets than its limit, and the highest values stay exact', () => {
  const values = Array.from({ length: 2_000 }, (_, at) => 1.05 ** at);
  const found = sketch(values);
  expect(found.buckets).toHaveLength(bucketsMax);
  expect(found.count).toBe(2_000);
  expect(found.buckets.reduce((sum, [, count]) => sum + count, 0)).toBe(2_000);
  expect(Math.abs((quantileOf(found, 0.99) ?? 0) / (values[Math.floor(0.99 * 1_999)] ?? 1) - 1)).toBeLessThanOrEqual(accuracy + 1e-9);
});

test('values of 0 and below count as 0, and a value that is not a number does not count', () => {
  const found = sketch([0, -3, Number.NaN, 5]);
  expect(found).toMatchObject({ count: 3, zeros: 2, low: 0, high: 5 });
  expect(quantileOf(found, 0)).toBe(0);
  expect(quantileOf(found, 1)).toBe(5);
  expect(quantileOf(emptySketch, 0.5)).toBeUndefined();
});

test('half of a sketch has about half of its values and the same median', () => {
  const whole = sketch(Array.from({ length: 1_000 }, (_, at) => (at % 10) + 1));
  const half = halvedSketch(whole);
  expect(half.count).toBe(500);
  expect(quantileOf(half, 0.5)).toBeCloseTo(quantileOf(whole, 0.5) ?? 0, 5);
  expect(halvedSketch(sketchOf(3))).toEqual(emptySketch);
});
