import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fisherExact } from '../../src/statistics/fisher-exact.ts';

// Sums of exact fractions of binomial coefficients.
const values = [
  { one: [3, 4], other: [1, 4], p: 0.485_714_285_714_285_7, least: 0.028_571_428_571_428_57 },
  { one: [1, 10], other: [11, 14], p: 0.002_759_456_185_220_083_6, least: 6.730_380_939_561_179e-5 },
  { one: [5, 5], other: [0, 5], p: 0.007_936_507_936_507_936, least: 0.007_936_507_936_507_936 },
  { one: [12, 18], other: [5, 25], p: 0.003_893_786_708_663_992_7, least: 4.273_791_945_179_714e-11 },
  { one: [1, 1], other: [3, 9], p: 0.4, least: 0.4 },
  { one: [40, 200], other: [100, 4_000], p: 8.770_982_579_233_015e-22, least: 5.486_009_787_128_697e-214 },
  { one: [0, 10], other: [0, 12], p: 1, least: 1 },
  { one: [10, 10], other: [12, 12], p: 1, least: 1 },
  { one: [0, 0], other: [3, 9], p: 1, least: 1 },
] as const;

test.each(values)('fisherExact: $one against $other has p $p', ({ one, other, p, least }) => {
  const found = fisherExact({ hits: one[0], of: one[1] }, { hits: other[0], of: other[1] });
  expect(found.p / p).toBeCloseTo(1, 9);
  expect(found.least / least).toBeCloseTo(1, 9);
});

test('fisherExact: exchanging the groups or the outcomes changes nothing', () => {
  const group = fc.integer({ min: 0, max: 60 }).chain((of) => fc.record({ of: fc.constant(of), hits: fc.integer({ min: 0, max: of }) }));
  fc.assert(
    fc.property(group, group, (one, other) => {
      const { p, least } = fisherExact(one, other);
      const misses = ({ hits, of }: { readonly hits: number; readonly of: number }) => ({ hits: of - hits, of });
      for (const same of [fisherExact(other, one), fisherExact(misses(one), misses(other))]) {
        expect(same.p).toBeCloseTo(p, 9);
        expect(same.least).toBeCloseTo(least, 9);
      }
      expect(p).toBeGreaterThanOrEqual(least * (1 - 1e-9));
      expect(p).toBeLessThanOrEqual(1);
    }),
  );
});
