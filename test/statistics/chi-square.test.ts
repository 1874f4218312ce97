import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chiSquareAbove } from '../../src/statistics/chi-square.ts';

// Source: scipy 1.17.1, stats.chi2.sf.
const values = [
  [3.841_458_820_694_124, 1, 0.049_999_999_999_999_89],
  [0.5, 1, 0.479_500_122_186_953_37],
  [10, 3, 0.018_566_135_463_043_25],
  [100, 50, 3.454_931_382_984_871e-5],
  [250, 200, 0.009_379_131_668_826_098],
  [1e-3, 7, 0.999_999_999_999_759_7],
  [800, 5, 1.156_880_790_487_364_2e-170],
  [12.3, 2.5, 0.003_842_721_531_780_364_4],
  [1_000, 900, 0.010_994_608_942_135_844],
] as const;

test.each(values)('the chance of %d or more with %d degrees is that of scipy', (value, degrees, want) => {
  expect(Math.abs(chiSquareAbove(value, degrees) / want - 1)).toBeLessThan(1e-11);
});

test('two degrees have a closed form', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 600, noNaN: true }), (value) => {
      expect(Math.abs(chiSquareAbove(value, 2) / Math.exp(-value / 2) - 1)).toBeLessThan(1e-11);
    }),
  );
});

test('it falls from 1 to 0, and is not a number without degrees', () => {
  expect(chiSquareAbove(0, 3)).toBe(1);
  expect(chiSquareAbove(-1, 3)).toBe(1);
  expect(chiSquareAbove(Number.POSITIVE_INFINITY, 3)).toBe(0);
  expect(chiSquareAbove(1, 0)).toBeNaN();
  expect(chiSquareAbove(Number.NaN, 3)).toBeNaN();
});
