import { expect, test } from 'vitest';
import { confusion, proportion } from '../../src/statistics/proportion.ts';

/** Newcombe, Statistics in Medicine 17 (1998), table I, method 3. */
const printed = [
  { hits: 81, of: 263, low: 0.2553, high: 0.3662 },
  { hits: 15, of: 148, low: 0.0624, high: 0.1605 },
  { hits: 0, of: 20, low: 0, high: 0.1611 },
  { hits: 1, of: 29, low: 0.0061, high: 0.1718 },
] as const;

for (const { hits, of, low, high } of printed) {
  test(`proportion: ${hits} of ${of} has the printed interval`, () => {
    expect(proportion({ hits, of })).toMatchObject({ point: hits / of, low: expect.closeTo(low, 4), high: expect.closeTo(high, 4), n: of });
  });
}

test('proportion: a share of nothing is not estimable', () => {
  expect(proportion({ hits: 0, of: 0 })).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
});

test('confusion: counts by label and verdict', () => {
  const items = [
    ...Array.from({ length: 8 }, () => [true, true]),
    ...Array.from({ length: 2 }, () => [true, false]),
    ...Array.from({ length: 4 }, () => [false, true]),
    ...Array.from({ length: 6 }, () => [false, false]),
  ];
  const counts = confusion(items.map(([label = false, verdict = false]) => ({ label, verdict })));
  expect(counts).toEqual({ truePositive: 8, falseNegative: 2, falsePositive: 4, trueNegative: 6 });
});
