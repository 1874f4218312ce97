/** The weight of one run, at any claim. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { averageRunsMax, cappedWeights, weightShareMax } from '../../src/statistics/weighted-rate.ts';

const probabilities = fc.array(fc.oneof(fc.constantFrom(1, 0.05, 1e-4, 5e-6), fc.double({ min: 1e-9, max: 1, noNaN: true })), {
  minLength: 1,
  maxLength: 200,
});

test('weight cap: no run has more than its share of what all weigh then, and none is cut without need', () => {
  fc.assert(
    fc.property(probabilities, (all) => {
      const { weightMax, capped, largestShare } = cappedWeights(all);
      const weights = all.map((probability) => 1 / probability);
      const cut = weights.map((weight) => Math.min(weight, weightMax));
      const total = cut.reduce((sum, weight) => sum + weight, 0);
      const share = Math.max(weightShareMax, averageRunsMax / all.length);
      if (share < 1) expect(Math.max(...cut) / total).toBeLessThanOrEqual(share * (1 + 1e-9));
      expect(weights.filter((weight) => weight > weightMax * (1 + 1e-9)).length).toBeLessThanOrEqual(capped);
      // A run that is cut has all of its share.
      if (capped > 0) expect(weightMax / total).toBeCloseTo(share, 9);
      expect(largestShare).toBeCloseTo(Math.max(...weights) / weights.reduce((sum, weight) => sum + weight, 0), 9);
    }),
  );
});

test('weight cap: equal weights are never cut, and an invalid probability is passed over', () => {
  for (const count of [1, 2, 3, 20, 21, 60, 500])
    expect(cappedWeights(Array.from({ length: count }, () => 0.001))).toMatchObject({ capped: 0, weightMax: Infinity });
  expect(cappedWeights([])).toEqual({ weightMax: Infinity, capped: 0, largestShare: 0 });
  expect(cappedWeights([0, -1, 2, Number.NaN, 0.5, 0.5])).toEqual({ weightMax: Infinity, capped: 0, largestShare: 0.5 });
});
