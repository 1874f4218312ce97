/** Ten thousand series looked at after every run: how often does a sequence of 99 % show a difference that is not there? */
import { expect, test } from 'vitest';
import { equalWorlds, falseAlarms, runsToDetect, sequenceShows } from './sequence-worlds.ts';

for (const world of equalWorlds) {
  test(`statistics: at most one series of a hundred has a false alarm at any of its looks: ${world.name}`, () => {
    expect(falseAlarms(world, { series: 10_000, runs: 1_000, seed: 2026, shows: sequenceShows(0.99) })).toBeLessThanOrEqual(0.01);
  });
}

test('statistics: a usual test of 1 % that is looked at as often alarms in more than a twentieth of them, so the simulation has power', () => {
  const [world] = equalWorlds;
  if (world === undefined) throw new Error('there are no worlds');
  const alarms = falseAlarms(world, {
    series: 1_000,
    runs: 1_000,
    seed: 2026,
    shows({ first, second }) {
      const mean = (first.value + second.value) / (first.n + second.n);
      const error = Math.sqrt(mean * (1 - mean) * (1 / first.n + 1 / second.n));
      return first.n >= 30 && second.n >= 30 && Math.abs(second.value / second.n - first.value / first.n) > 2.576 * error;
    },
  });
  expect(alarms).toBeGreaterThan(0.05);
});

test('statistics: a fall of five points from 95 % is shown within an hour at 1,000 runs an hour, in the median series', () => {
  const runs = runsToDetect({ before: 0.95, after: 0.9, runsBefore: 10_000, by: 0 }, { series: 500, seed: 2026, confidence: 0.99 });
  expect(runs[250]).toBeLessThan(1_000);
  expect(runs[450]).toBeLessThan(2_000);
});
