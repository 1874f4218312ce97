import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mcNemar, pairedDifference } from '../../src/statistics/comparison.ts';
import { studentP } from '../../src/statistics/paired-scores.ts';
import { pairedRates, pairedSums, type PairedObservation } from '../../src/statistics/paired-rate.ts';
import { seededRandom } from '../../src/statistics/seeded-random.ts';
import { cappedWeights, rateSums, weightedRate } from '../../src/statistics/weighted-rate.ts';

function ratesOf(all: readonly PairedObservation[]) {
  const sums = pairedSums();
  for (const one of all) sums.add(one);
  return pairedRates(sums.data());
}

const pairs = (count: number, before: number, after: number): readonly PairedObservation[] =>
  Array.from({ length: count }, () => ({ before, after, probability: 1 }));

describe('paired rates of runs without weights and sessions', () => {
  const counts = { both: 60, onlyFirst: 12, onlySecond: 3, neither: 25 };
  const rates = ratesOf([...pairs(60, 1, 1), ...pairs(12, 1, 0), ...pairs(3, 0, 1), ...pairs(25, 0, 0)]);

  test('the difference is that of Newcombe, and the test is that of McNemar', () => {
    expect(rates.difference).toEqual(pairedDifference(counts));
    expect(rates.p).toBeCloseTo(mcNemar(counts).exact, 12);
    expect(rates).toMatchObject({ n: 100, better: 3, worse: 12 });
  });

  test('each side has only the rate of its verdicts', () => {
    const alone = (passes: number) =>
      weightedRate(rateSums(Array.from({ length: 100 }, (_, at) => ({ value: at < passes ? 1 : 0, probability: 1 }))).data());
    expect(rates.before).toEqual(alone(72));
    expect(rates.after).toEqual(alone(63));
  });

  test('scores have the test of Student, and a few equal differences that of signs', () => {
    const scores = Array.from({ length: 40 }, (_, at) => ({ before: (at % 7) / 10, after: (at % 5) / 10, probability: 1 }));
    expect(ratesOf(scores).p).toBeCloseTo(studentP(scores.map(({ before, after }) => after - before)), 3);
    expect(ratesOf(pairs(3, 0.5, 0.4)).p).toBe(0.25);
  });
});

test.each([
  { name: 'no run', all: [], kind: 'no_observations' },
  { name: 'one run', all: pairs(1, 1, 0), kind: 'one_session' },
  { name: 'one session', all: pairs(9, 1, 0).map((one) => ({ ...one, session: 's' })), kind: 'one_session' },
])('paired rates: $name gives no rate', ({ all, kind }) => {
  expect(ratesOf(all)).toMatchObject({ difference: { kind: 'not_estimable', reason: kind }, p: 1 });
});

const sampled = fc.record({
  before: fc.constantFrom(0, 1),
  after: fc.constantFrom(0, 1),
  // By the service itself, and by samplers before it.
  rate: fc.constantFrom(1, 0.5, 0.25, 0.05, 0.001),
  upstream: fc.constantFrom(1, 1, 0.1, 0.0001),
  session: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});
const observation = sampled.map(({ rate, ...one }): PairedObservation => ({ ...one, probability: rate * one.upstream }));

test('paired rates: with raised runs, five others are needed', () => {
  const raised = pairs(40, 0, 1).map((one) => ({ ...one, isRaised: true }));
  const usual = (count: number) => pairs(count, 1, 1).map((one) => ({ ...one, probability: 0.02 }));
  expect(ratesOf([...raised, ...usual(4)])).toMatchObject({
    before: { kind: 'not_estimable', reason: 'too_few_usual_runs', explanation: expect.stringContaining('There are 4, and 5 are needed.') },
    difference: { kind: 'not_estimable' },
    // Only these runs have 40 changes in one direction.
    p: expect.closeTo(2 * 0.5 ** 40, 15),
  });
  // No weight of the service is cut: 40 of 40 + 5 · 50.
  expect(ratesOf([...raised, ...usual(5)])).toMatchObject({ difference: { point: expect.closeTo(40 / 290, 9) }, weights: { capped: 0 } });
});

test('paired rates: sides agree with the weighted rate under the same cap, at any weights and sessions', () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 2, maxLength: 300 }), (all) => {
      const { before, difference, after, weights } = ratesOf(all);
      const capped = cappedWeights(all.map(({ upstream = 1 }) => upstream));
      const alone = weightedRate(
        rateSums(
          all.map(({ before: value, probability, upstream = 1, session = '' }) => ({
            value,
            session,
            probability: probability * Math.max(1, 1 / capped.weightMax / upstream),
          })),
        ).data(),
      );
      expect(weights.capped).toBe(capped.capped);
      expect(before.kind).toBe(alone.kind);
      if (before.kind === 'not_estimable' || alone.kind === 'not_estimable' || after.kind === 'not_estimable') return;
      expect(before.point).toBeCloseTo(alone.point, 9);
      expect(before.low).toBeCloseTo(alone.low, 6);
      expect(before.high).toBeCloseTo(alone.high, 6);
      if (difference.kind === 'not_estimable') return;
      expect(difference.point).toBeCloseTo(after.point - before.point, 9);
      expect(difference.low).toBeLessThanOrEqual(difference.point);
      expect(difference.high).toBeGreaterThanOrEqual(difference.point);
    }),
  );
});

test('paired rates: sums that were stored go on as if they had never been', () => {
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 120 }), fc.nat(120), (all, cut) => {
      const first = pairedSums();
      for (const one of all.slice(0, cut)) first.add(one);
      const next = pairedSums(JSON.parse(JSON.stringify(first.data())) as ReturnType<typeof first.data>);
      for (const one of all.slice(cut)) next.add(one);
      const [continued, whole] = [pairedRates(next.data()), ratesOf(all)];
      expect(continued).toMatchObject({ n: whole.n, better: whole.better, worse: whole.worse });
      expect(continued.p).toBeCloseTo(whole.p, 9);
    }),
  );
});

test('paired rates: what is out of its range is counted and moves nothing', () => {
  const wrong = [
    { before: 2, after: 0, probability: 1 },
    { before: 0, after: Number.NaN, probability: 1 },
    { before: 0, after: 1, probability: 0 },
  ];
  expect(ratesOf([...pairs(10, 1, 0), ...wrong])).toEqual({ ...ratesOf(pairs(10, 1, 0)), refused: 3 });
});

describe('paired rates over many draws', () => {
  const random = seededRandom(11);
  /** Sessions that differ, and runs that are drawn more often when they failed before. */
  const drawn = (effect: number): readonly PairedObservation[] => {
    const all: PairedObservation[] = [];
    for (let session = 0; session < 60; session++) {
      const quality = 0.5 + 0.45 * random();
      for (let run = 0; run < 5; run++) {
        const before = random() < quality ? 1 : 0;
        const flips = random() < 0.15;
        const after = flips ? (random() < 0.5 + effect ? 0 : 1) : before;
        const probability = before === 0 ? 1 : 0.3;
        if (random() < probability) all.push({ before, after, probability, session: `s${session}` });
      }
    }
    return all;
  };
  const trials = 400;

  test('the interval holds the true difference about as often as it claims', () => {
    // Half of those that flip would fail after, in either state before: the difference is 0.15 · (0.5 − the rate before).
    const truth = 0.15 * (0.5 - 0.725);
    let held = 0;
    for (let trial = 0; trial < trials; trial++) {
      const { difference } = ratesOf(drawn(0));
      if (difference.kind === 'estimated' && difference.low <= truth && truth <= difference.high) held++;
    }
    expect(held / trials).toBeGreaterThan(0.92);
  });

  test('the test finds nothing more often than it may where nothing changed', () => {
    let found = 0;
    for (let trial = 0; trial < trials; trial++) {
      const all = drawn(0).map((one) => {
        // Changes that are as likely one way as the other.
        const flips = random() < 0.2;
        return { ...one, after: flips ? 1 - one.before : one.before };
      });
      const swapped = all.map((one) =>
        random() < 0.5 ? { ...one, before: one.after, after: one.before, probability: 0.5 } : { ...one, probability: 0.5 },
      );
      if (ratesOf(swapped).p < 0.05) found++;
    }
    expect(found / trials).toBeLessThan(0.07);
  });
});
