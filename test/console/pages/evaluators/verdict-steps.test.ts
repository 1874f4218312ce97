import { expect, test } from 'vitest';
import { bucketOf, verdictSteps } from '../../../../src/console/pages/evaluators/verdict-steps.ts';

const [one, two] = ['2026-11-26T09:00:00.000000Z', '2026-11-26T10:00:00.000000Z'];

test('verdict steps: skipped runs are in no rate', () => {
  expect(
    verdictSteps([
      { at: two, verdict: 'skipped', count: 9, mean_score: null },
      { at: one, verdict: 'pass', count: 3, mean_score: 1 },
      { at: one, verdict: 'fail', count: 1, mean_score: 0 },
      { at: one, verdict: 'skipped', count: 6, mean_score: null },
    ]),
  ).toEqual([
    { at: one, rate: 0.75, score: 0.75 },
    { at: two, rate: null, score: null },
  ]);
});

test('verdict steps: a metric without a threshold has a mean score and no rate', () => {
  expect(verdictSteps([{ at: one, verdict: 'raw', count: 4, mean_score: 0.25 }])).toEqual([{ at: one, rate: null, score: 0.25 }]);
});

test.for([
  { from: '2026-11-26T08:00:00Z', to: '2026-11-26T09:00:00Z', want: 'minute' },
  { from: '2026-11-25T08:00:00Z', to: undefined, want: 'hour' },
  { from: '2026-10-27T08:00:00Z', to: undefined, want: 'day' },
] as const)('verdict steps: from $from they are by $want', ({ from, to, want }) => {
  expect(bucketOf(from, to, Date.parse('2026-11-26T08:00:00Z'))).toBe(want);
});
