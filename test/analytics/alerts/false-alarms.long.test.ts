/** Alerts on rates of the last hour, over weeks: how often mere chance fires them. */
import { expect, test } from 'vitest';
import { minutesToFire } from './alert-worlds.ts';

const shareFired = (minutes: readonly number[]): number => minutes.filter((one) => one < Infinity).length / minutes.length;

for (const perHour of [60, 300, 1_000]) {
  test(`alerts: an agent at its threshold with ${perHour} runs an hour fires in at most a tenth of the weeks`, () => {
    const weeks = minutesToFire({ perHour, rate: 0.95, estimate: 'interval' }, { weeks: 200, seed: 2026 });
    expect(shareFired(weeks)).toBeLessThanOrEqual(0.1);
  });
}

test('alerts: by the point estimate, the same agent fires every week', () => {
  expect(shareFired(minutesToFire({ perHour: 1_000, rate: 0.95, estimate: 'point' }, { weeks: 50, seed: 2026 }))).toBe(1);
});

test('alerts: a fall to 85 % fires within three hours even with 60 runs an hour, in the median week', () => {
  expect(minutesToFire({ perHour: 60, rate: 0.85, estimate: 'interval' }, { weeks: 101, seed: 2026 })[50]).toBeLessThanOrEqual(180);
});
