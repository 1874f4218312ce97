/** Two thousand days of each world: do intervals hold the truth as often as they say, and does the point lie around it? */
import { expect, test } from 'vitest';
import { rateSums, weightedRate } from '../../src/statistics/weighted-rate.ts';
import { comparisonWorlds } from './comparison-worlds.ts';
import { correctionWorlds, scarceCorrectionWorlds } from './correction-worlds.ts';
import { differentPairs, equalPairs } from './paired-worlds.ts';
import { rateWorlds, scarceRateWorlds } from './rate-worlds.ts';
import { simulated, type World } from './world.ts';

const worlds = 2000;

for (const world of [...rateWorlds, ...correctionWorlds, ...comparisonWorlds]) {
  test(`statistics: the 95 % interval holds the truth: ${world.name}`, () => {
    const { coverage, bias, biasError, notEstimable, uncovered } = simulated(world, { worlds, seed: 2026 });
    expect(coverage).toBeGreaterThanOrEqual(0.93);
    expect(coverage).toBeLessThanOrEqual(0.97);
    // A sixth of the figure's own standard error, which is what the mean's is times the root of the number of worlds.
    expect(Math.abs(bias)).toBeLessThan((biasError * Math.sqrt(worlds)) / 6);
    expect(notEstimable).toBeLessThan(worlds / 100);
    expect(uncovered).toBeCloseTo(world.uncovered ?? 0, 2);
  });
}

for (const world of [...scarceRateWorlds, ...scarceCorrectionWorlds]) {
  test(`statistics: with little to go by the interval holds the truth in 92 % at least: ${world.name}`, () => {
    expect(simulated(world, { worlds, seed: 2026 }).coverage).toBeGreaterThanOrEqual(0.92);
  });
}

for (const world of equalPairs) {
  test(`statistics: of two equal versions at most 5.5 % are called different: ${world.name}`, () => {
    expect(simulated(world, { worlds, seed: 2026 }).shown).toBeLessThanOrEqual(0.055);
  });
}

for (const world of differentPairs) {
  test(`statistics: the interval of a paired difference holds the truth in 93 % at least: ${world.name}`, () => {
    expect(simulated(world, { worlds, seed: 2026 }).coverage).toBeGreaterThanOrEqual(0.93);
  });
}

test('statistics: without the weights the interval misses the truth nearly always where failing runs are judged more often', () => {
  const unweighted: World = {
    name: 'weights ignored',
    truth: 0.932,
    draw: ({ share }) => {
      const sums = rateSums();
      for (let run = 0; run < 10_000; run++) {
        const flagged = share() < 0.1;
        if (share() < (flagged ? 1 : 0.05)) sums.add({ value: share() < (flagged ? 0.5 : 0.98) ? 1 : 0, probability: 1 });
      }
      return { estimate: weightedRate(sums.data()) };
    },
  };
  expect(simulated(unweighted, { worlds: 200, seed: 2026 }).coverage).toBeLessThan(0.05);
});
