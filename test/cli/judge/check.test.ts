/** The figures of `judge check` as a terminal shows them: each line reads whole, with a figure and without one. */
import { expect, test } from 'vitest';
import { checkText, estimateText } from '../../../src/cli/judge/check.ts';
import { type Estimate, notEstimable } from '../../../src/statistics/estimate.ts';

const half: Estimate = {
  kind: 'estimated',
  point: 0.5,
  low: 0.25,
  high: 0.75,
  standardError: 0.1,
  n: 10,
  effectiveN: 10,
  confidence: 0.95,
};
const none = notEstimable('no_observations');

test.each([
  [half, '', '0.500 (0.250 to 0.750)'],
  [half, 'of what it fails', '0.500 (0.250 to 0.750) of what it fails'],
  [none, 'of what it fails', 'cannot be estimated: Nothing was judged yet.'],
])('a figure, or why there is none', (value, of, text) => {
  expect(estimateText(value, of)).toBe(text);
});

test.each(['precision', 'recall', 'accuracy'])('%s that cannot be estimated ends its line', (rate) => {
  const rates = { precision: half, recall: half, accuracy: half, specificity: half, [rate]: none };
  const confusion = { truePositive: 0, falsePositive: 0, falseNegative: 2, trueNegative: 1 };
  const result = {
    name: 'helpful',
    labelled: 3,
    unanswered: 0,
    rows: [],
    agreement: {
      name: 'helpful',
      about: 'run' as const,
      evaluator: 'rational',
      kind: 'judge',
      version: 1,
      model: 'm',
      runs: 3,
      confusion,
      drawn: 3,
      chosen: { truePositive: 0, falsePositive: 0, falseNegative: 0, trueNegative: 0 },
      rates,
      kappa: none,
    },
  };
  const comparison = { kind: 'not_estimable', reason: 'no_observations', explanation: 'Nothing was judged yet.' } as const;
  const text = checkText({ runs: 3, against: 'other.yaml', results: [{ result, other: result, comparison }] });
  expect(text.match(/^.*\. ?[a-z,:].*$/gm)?.filter((line) => !line.includes('other.yaml') || line.includes('yet')) ?? []).toEqual([]);
  expect(text).toMatch(new RegExp(`${rate} +cannot be estimated: Nothing was judged yet\\.$`, 'm'));
});
