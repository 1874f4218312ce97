import { expect, test } from 'vitest';
import { notEstimable } from '../../src/statistics/estimate.ts';
import { independentDifference } from '../../src/statistics/independent-difference.ts';
import { proportion } from '../../src/statistics/proportion.ts';

// R. G. Newcombe, Statistics in Medicine 17 (1998) 873–890, table II, method 10 (score, without continuity correction).
test.each([
  { name: '56/70 − 48/80', one: [56, 70], other: [48, 80], low: 0.0524, high: 0.3339 },
  { name: '9/10 − 3/10', one: [9, 10], other: [3, 10], low: 0.1705, high: 0.809 },
  { name: '10/10 − 0/20', one: [10, 10], other: [0, 20], low: 0.6791, high: 1 },
] as const)('difference of $name: as Newcombe’s table has it', ({ one, other, low, high }) => {
  const difference = independentDifference(proportion({ hits: one[0], of: one[1] }), proportion({ hits: other[0], of: other[1] }));
  expect(difference).toMatchObject({ kind: 'estimated', low: expect.closeTo(low, 4), high: expect.closeTo(high, 4) });
});

test('difference: none without both rates', () => {
  const none = notEstimable('no_observations');
  const some = proportion({ hits: 1, of: 2 });
  expect(independentDifference(none, some)).toEqual(none);
  expect(independentDifference(some, none)).toEqual(none);
});
