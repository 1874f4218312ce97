import fc from 'fast-check';
import { expect, test } from 'vitest';
import { discreteHolmAdjusted, holmAdjusted } from '../../src/statistics/holm.ts';

test('discreteHolmAdjusted: a test that could not have reached a p-value costs it nothing', () => {
  // McNemar's mid-p of 7 of 7, 6 of 7 and 1 of 1 differing items, and of none: 1/128, 9/128, 1/2 and 1. The least ones are 1/128, 1/128, 1/2, 1.
  const [seven, six, one, none] = [
    { p: 1 / 128, least: 1 / 128 },
    { p: 9 / 128, least: 1 / 128 },
    { p: 1 / 2, least: 1 / 2 },
    { p: 1, least: 1 },
  ];
  // By hand: two tests could reach 1/128. One of the others could reach 9/128, one 1/2, one 1. Plain Holm gives 4/128, 27/128, 1, 1.
  expect(discreteHolmAdjusted([none, one, six, seven])).toEqual([1, 1 / 2, 9 / 128, 2 / 128]);
  expect(holmAdjusted([1, 1 / 2, 9 / 128, 1 / 128])).toEqual([1, 1, 27 / 128, 4 / 128]);
});

const tests = fc.array(
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })).map(([one, other]) => ({
    p: Math.max(one, other),
    least: Math.min(one, other),
  })),
  { maxLength: 12 },
);

test('discreteHolmAdjusted: never below the p-value, never above the result of Holm, and in the order of the p-values', () => {
  fc.assert(
    fc.property(tests, (family) => {
      const adjusted = discreteHolmAdjusted(family);
      const plain = holmAdjusted(family.map(({ p }) => p));
      for (const [at, { p }] of family.entries()) {
        expect(adjusted[at]).toBeGreaterThanOrEqual(p);
        expect(adjusted[at]).toBeLessThanOrEqual(plain[at] ?? 0);
        for (const [other, { p: more }] of family.entries()) if (p < more) expect(adjusted[at]).toBeLessThanOrEqual(adjusted[other] ?? 0);
      }
    }),
  );
});
