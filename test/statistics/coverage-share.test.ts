import { expect, test } from 'vitest';
import { coverage } from '../../src/statistics/weighted-rate.ts';

const none = { eligible: 1000, unreachable: 0, scoredWeight: 0, failedWeight: 0, waitingWeight: 0 };

const cases = [
  {
    name: 'all were chosen from and answered',
    counts: { ...none, scoredWeight: 1000 },
    want: { covered: 1, uncovered: 0, unreachable: 0, failed: 0, waiting: 0, balance: 1 },
  },
  {
    name: 'the budget ended',
    counts: { ...none, unreachable: 400, scoredWeight: 600 },
    want: { covered: 0.6, uncovered: 0.4, unreachable: 0.4, failed: 0, waiting: 0, balance: 1 },
  },
  {
    name: 'the judge failed on some and has some before it',
    counts: { ...none, unreachable: 200, scoredWeight: 480, failedWeight: 80, waitingWeight: 240 },
    want: { covered: 0.48, uncovered: 0.52, unreachable: 0.2, failed: 0.08, waiting: 0.24, balance: 1 },
  },
  {
    name: 'weights that were lost show in the balance',
    counts: { ...none, scoredWeight: 500 },
    want: { covered: 1, uncovered: 0, unreachable: 0, failed: 0, waiting: 0, balance: 0.5 },
  },
  { name: 'none was chosen yet', counts: none, want: { covered: 0, uncovered: 1, unreachable: 0, failed: 0, waiting: 1, balance: 0 } },
  {
    name: 'none could be chosen',
    counts: { ...none, unreachable: 1000 },
    want: { covered: 0, uncovered: 1, unreachable: 1, failed: 0, waiting: 0, balance: undefined },
  },
] as const;

for (const { name, counts, want } of cases) {
  test(`coverage: ${name}`, () => {
    const found = coverage(counts);
    if (found.kind === 'not_estimable') throw new Error(found.reason);
    for (const [key, value] of Object.entries(want))
      expect([key, found[key as keyof typeof want]]).toEqual([key, value === undefined ? undefined : expect.closeTo(value, 12)]);
  });
}

test('coverage: without eligible runs it is not estimable', () => {
  expect(coverage({ ...none, eligible: 0 })).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
});
