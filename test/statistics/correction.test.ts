/** Rogan–Gladen and prediction-powered rates on figures that can be reckoned by hand. */
import { expect, test } from 'vitest';
import {
  labelsForTrustMin,
  predictionPowered,
  type JudgedRun,
  roganGladen,
  type RoganGladenInput,
} from '../../src/statistics/correction.ts';
import { rateSums, weightedRate } from '../../src/statistics/weighted-rate.ts';

const judge = { truePositive: 170, falseNegative: 30, trueNegative: 90, falsePositive: 10 };

test('rogan–gladen: the judge’s errors are taken out of the judged rate', () => {
  expect(roganGladen({ judged: { point: 0.7, effectiveN: 1000 }, labelled: judge })).toMatchObject({
    kind: 'estimated',
    point: expect.closeTo(0.8, 12),
    sensitivity: 0.85,
    specificity: 0.9,
    n: 300,
    cut: false,
  });
});

test('rogan–gladen: a perfect judge with many labels leaves Wilson’s interval', () => {
  const perfect = { truePositive: 1e9, falseNegative: 0, trueNegative: 1e9, falsePositive: 0 };
  expect(roganGladen({ judged: { point: 81 / 263, effectiveN: 263 }, labelled: perfect })).toMatchObject({
    point: expect.closeTo(81 / 263, 9),
    low: expect.closeTo(0.2553, 2),
    high: expect.closeTo(0.3662, 2),
  });
});

test('rogan–gladen: what is not known of the judge widens the interval', () => {
  const width = (labelled: RoganGladenInput['labelled']): number => {
    const estimate = roganGladen({ judged: { point: 0.7, effectiveN: 1e6 }, labelled });
    return estimate.kind === 'estimated' ? estimate.high - estimate.low : Number.NaN;
  };
  const few = { truePositive: 34, falseNegative: 6, trueNegative: 18, falsePositive: 2 };
  expect(width(few)).toBeGreaterThan(1.8 * width(judge));
});

test('rogan–gladen: a rate beyond what the errors allow is cut, and marked so', () => {
  expect(roganGladen({ judged: { point: 0.95, effectiveN: 1000 }, labelled: judge })).toMatchObject({ point: 1, high: 1, cut: true });
  expect(roganGladen({ judged: { point: 0.02, effectiveN: 1000 }, labelled: judge })).toMatchObject({ point: 0, low: 0, cut: true });
});

const impossible = [
  { reason: 'no_labels', labelled: { truePositive: 0, falseNegative: 0, trueNegative: 0, falsePositive: 0 } },
  { reason: 'no_passing_labels', labelled: { truePositive: 0, falseNegative: 0, trueNegative: 9, falsePositive: 1 } },
  { reason: 'no_failing_labels', labelled: { truePositive: 9, falseNegative: 1, trueNegative: 0, falsePositive: 0 } },
  { reason: 'judge_no_better_than_chance', labelled: { truePositive: 50, falseNegative: 50, trueNegative: 50, falsePositive: 50 } },
  { reason: 'judge_not_shown_better_than_chance', labelled: { truePositive: 6, falseNegative: 4, trueNegative: 6, falsePositive: 4 } },
] as const;

for (const { reason, labelled } of impossible) {
  test(`rogan–gladen: not estimable: ${reason}`, () => {
    expect(roganGladen({ judged: { point: 0.7, effectiveN: 1000 }, labelled })).toMatchObject({
      kind: 'not_estimable',
      reason,
      explanation: expect.stringMatching(/\.$/),
    });
  });
}

function judged(verdict: number, count: number, label?: number): readonly JudgedRun[] {
  return Array.from({ length: count }, () => ({
    verdict,
    probability: 0.5,
    ...(label === undefined ? {} : { label: { value: label, probability: 0.1 } }),
  }));
}

test('prediction-powered: with a judge that is always right, labels only confirm what all verdicts say', () => {
  const runs = [...judged(1, 71, 1), ...judged(0, 29, 0), ...judged(1, 639), ...judged(0, 261)];
  const estimate = predictionPowered(runs);
  const all = weightedRate(rateSums(runs.map(({ verdict, probability }) => ({ value: verdict, probability }))).data());
  if (estimate.kind === 'not_estimable' || all.kind === 'not_estimable') throw new Error('not estimable');
  expect(estimate).toMatchObject({ n: 1000, labels: 100, refused: 0, trust: expect.closeTo(1, 9), point: expect.closeTo(0.71, 9) });
  expect(estimate.standardError / all.standardError).toBeCloseTo(1, 2);
});

test('prediction-powered: a judge with one answer for everything is ignored', () => {
  expect(predictionPowered([...judged(1, 70, 1), ...judged(1, 30, 0), ...judged(1, 900)])).toMatchObject({
    trust: 0,
    point: expect.closeTo(0.7, 9),
  });
});

test('prediction-powered: a few labels are too few to reckon the trust from, so only they count', () => {
  const runs = (labels: number) => [...judged(1, labels / 2, 1), ...judged(0, labels / 2, 0), ...judged(1, 300), ...judged(0, 100)];
  expect(predictionPowered(runs(labelsForTrustMin - 2))).toMatchObject({ trust: 0, point: expect.closeTo(0.5, 9) });
  const enough = predictionPowered(runs(labelsForTrustMin));
  expect(enough.kind === 'estimated' && enough.trust > 0.9).toBe(true);
  const fewSessions = runs(labelsForTrustMin).map((run, at) => ({ ...run, session: `s${at % 5}` }));
  expect(predictionPowered(fewSessions)).toMatchObject({ trust: 0 });
});

test('prediction-powered: labels of the runs that the judge failed count by their probability', () => {
  // All 40 judged fails are labelled, half of them passed in truth; of the 60 judged passes 6 are, and one of those failed.
  const label = (value: number, probability: number) => ({ label: { value, probability } });
  const runs: readonly JudgedRun[] = [
    ...Array.from({ length: 40 }, (_, at) => ({ verdict: 0, probability: 1, ...label(at < 20 ? 1 : 0, 1) })),
    ...Array.from({ length: 60 }, (_, at) => ({ verdict: 1, probability: 1, ...(at < 6 ? label(at < 5 ? 1 : 0, 0.1) : {}) })),
  ];
  expect(predictionPowered(runs)).toMatchObject({ labels: 46, point: expect.closeTo((20 + 50) / 100, 9) });
});

test('prediction-powered: not estimable without runs, without labels, with one label, with labels of one session', () => {
  expect(predictionPowered([])).toMatchObject({ reason: 'no_observations' });
  expect(predictionPowered(judged(1, 50))).toMatchObject({ reason: 'no_labels' });
  expect(predictionPowered([...judged(1, 50), ...judged(1, 1, 1)])).toMatchObject({ reason: 'one_label' });
  expect(predictionPowered([...judged(1, 50), ...judged(1, 5, 1).map((run) => ({ ...run, session: 'one' }))])).toMatchObject({
    reason: 'one_label',
  });
});

test('prediction-powered: what is out of range is counted and changes nothing', () => {
  const runs = [...judged(1, 30, 1), ...judged(0, 10, 1), ...judged(0, 10, 0), ...judged(1, 50)];
  const broken: readonly JudgedRun[] = [
    { verdict: 2, probability: 1 },
    { verdict: 1, probability: 0 },
    { verdict: 1, probability: 1, label: { value: 1, probability: 0 } },
  ];
  expect(predictionPowered([...runs, ...broken])).toEqual({ ...predictionPowered(runs), refused: 3 });
});
