import { expect, test } from 'vitest';
import { betaQuantile } from '../../src/statistics/distributions.ts';
import type { Estimated } from '../../src/statistics/estimate.ts';
import { groupsMax } from '../../src/statistics/moments.ts';
import { kishEffectiveN, rateSums, weightedRate, type RateObservation } from '../../src/statistics/weighted-rate.ts';
import { seeded } from '../builders/seeded.ts';

function rate(observations: readonly RateObservation[]): Estimated {
  const estimate = weightedRate(rateSums(observations).data());
  if (estimate.kind === 'not_estimable') throw new Error(estimate.reason);
  return estimate;
}

function runs({
  passed,
  failed,
  probability = 1,
}: {
  readonly passed: number;
  readonly failed: number;
  readonly probability?: number;
}): readonly RateObservation[] {
  return Array.from({ length: passed + failed }, (_, at) => ({ value: at < passed ? 1 : 0, probability }));
}

test('weighted rate: each run counts as 1 / p runs', () => {
  const observations = [...runs({ passed: 0, failed: 100 }), ...runs({ passed: 45, failed: 0, probability: 0.05 })];
  expect(rate(observations)).toMatchObject({ kind: 'estimated', point: 0.9, n: 145 });
  expect(kishEffectiveN(rateSums(observations).data())).toBeCloseTo(1000 ** 2 / (100 + 45 * 400), 9);
});

test('weighted rate: with equal probabilities it is Jeffreys’ interval', () => {
  for (const probability of [1, 0.02]) {
    const { point, low, high, effectiveN, standardError } = rate(runs({ passed: 9700, failed: 300, probability }));
    expect([point, standardError]).toEqual([0.97, expect.closeTo(Math.sqrt((0.97 * 0.03) / 9999), 12)]);
    expect([low, high]).toEqual([
      expect.closeTo(betaQuantile(0.025, { a: 9700.5, b: 300.5 }), 5),
      expect.closeTo(betaQuantile(0.975, { a: 9700.5, b: 300.5 }), 5),
    ]);
    expect(Math.abs(effectiveN - 10_000)).toBeLessThan(20);
  }
});

test('weighted rate: an interval has a width where nothing varies, and stays within 0 and 1', () => {
  const all = rate(runs({ passed: 100, failed: 0 }));
  expect([all.point, all.high, all.standardError]).toEqual([1, 1, 0]);
  expect(all.low).toBeGreaterThan(0.96);
  expect(all.low).toBeLessThan(0.99);
  const none = rate(runs({ passed: 0, failed: 100 }));
  expect([none.point, none.low]).toEqual([0, 0]);
  expect(none.high).toBeCloseTo(1 - all.low, 12);
  const same = rate(Array.from({ length: 10 }, () => ({ value: 0.7, probability: 1 })));
  expect(same.point).toBeCloseTo(0.7, 12);
  expect(same.high - same.low).toBeGreaterThan(0.05);
});

test('weighted rate: what is drawn seldom and was not seen to fail widens the interval', () => {
  // All seen failures are of runs that are always judged; only 20 of the others were, and each represents 100.
  const narrow = rate([...runs({ passed: 400, failed: 100 }), ...runs({ passed: 2000, failed: 0 })]);
  const wide = rate([...runs({ passed: 400, failed: 100 }), ...runs({ passed: 20, failed: 0, probability: 0.01 })]);
  expect(wide.point).toBeCloseTo(narrow.point, 12);
  expect(wide.point - wide.low).toBeGreaterThan(3 * (narrow.point - narrow.low));
});

test('weighted rate: runs of one session count less than runs of many', () => {
  const alike = Array.from({ length: 500 }, (_, at) => ({ value: at % 50 < 40 ? 1 : 0, probability: 1 }));
  const apart = rate(alike);
  const together = rate(alike.map((run, at) => ({ ...run, session: `s${at % 50}` })));
  expect(together.point).toBe(apart.point);
  expect(together.effectiveN).toBeLessThan(apart.effectiveN / 5);
  expect(together.high - together.low).toBeGreaterThan(2.5 * (apart.high - apart.low));
});

test('weighted rate: nothing judged, and one session only, are not estimable', () => {
  expect(weightedRate(rateSums().data())).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
  expect(weightedRate(rateSums([{ value: 1, probability: 0.5 }]).data())).toMatchObject({ kind: 'not_estimable', reason: 'one_session' });
  const session = [1, 0, 1, 1].map((value) => ({ value, probability: 0.5, session: 'only' }));
  expect(weightedRate(rateSums(session).data())).toMatchObject({ kind: 'not_estimable', reason: 'one_session' });
});

const impossible: readonly RateObservation[] = [
  { value: 1, probability: 0 },
  { value: 1, probability: -0.1 },
  { value: 1, probability: 1.1 },
  { value: 1, probability: Number.NaN },
  { value: 1.5, probability: 0.5 },
  { value: Number.NaN, probability: 0.5 },
];

test('weighted rate: what is out of range is counted and changes nothing', () => {
  const sums = rateSums([...runs({ passed: 3, failed: 2 }), ...impossible]).data();
  expect(sums).toEqual({ ...rateSums(runs({ passed: 3, failed: 2 })).data(), refused: impossible.length });
});

function traffic(seed: number, count: number): readonly RateObservation[] {
  const { share, below } = seeded(seed);
  return Array.from({ length: count }, () => ({
    value: share(),
    probability: [1, 0.2, 0.05][below(3)] ?? 1,
    ...(share() < 0.5 ? { session: `s${below(40)}` } : {}),
  }));
}

test('weighted rate: sums of two hours, stored and added up, are the sums of both', () => {
  const whole = rateSums(traffic(3, 600));
  const added = rateSums();
  for (const part of [traffic(3, 600).slice(0, 250), traffic(3, 600).slice(250)])
    added.merge(JSON.parse(JSON.stringify(rateSums(part).data())));
  const [one, other] = [weightedRate(whole.data()), weightedRate(added.data())];
  if (one.kind === 'not_estimable' || other.kind === 'not_estimable') throw new Error('not estimable');
  for (const key of ['point', 'low', 'high', 'standardError', 'n', 'effectiveN'] as const) expect(other[key]).toBeCloseTo(one[key], 9);
});

test('weighted rate: memory does not grow with the sessions', () => {
  const sums = rateSums(
    Array.from({ length: 20_000 }, (_, at) => ({ value: at % 3 === 0 ? 0 : 1, probability: 0.1, session: `session-${at}` })),
  ).data();
  expect(sums.n).toBe(20_000);
  expect(sums.moments.groups.length).toBe(groupsMax);
  // Sessions of one run each: as precise as without sessions, but for what 128 groups know less of the variance.
  const grouped = weightedRate(sums);
  expect(grouped).toMatchObject({ kind: 'estimated' });
  if (grouped.kind === 'estimated') expect(Math.abs(grouped.standardError / Math.sqrt(2 / 9 / 20_000) - 1)).toBeLessThan(0.25);
});

test('weighted rate: the group of a session is the same for ever, for stored sums hold by it', () => {
  const groups = ['', 'a', 'conversation-1', 'héllo'].map(
    (session) => rateSums([{ value: 1, probability: 1, session }]).data().moments.groups[0]?.group,
  );
  expect(groups).toEqual([11, 51, 74, 8]);
});

test('weighted rate: more confidence is a wider interval', () => {
  const sums = rateSums(runs({ passed: 80, failed: 20 })).data();
  const [usual, sure] = [weightedRate(sums), weightedRate(sums, { confidence: 0.99 })];
  if (usual.kind === 'not_estimable' || sure.kind === 'not_estimable') throw new Error('not estimable');
  expect(sure.low).toBeLessThan(usual.low);
  expect(sure.high).toBeGreaterThan(usual.high);
});
