import { expect, test } from 'vitest';
import {
  type ComparedArms,
  differenceSequence,
  emptySequence,
  meanSequence,
  mergedSequence,
  type SequenceSums,
  sequenceWith,
} from '../../src/statistics/confidence-sequence.ts';
import { seeded } from '../builders/seeded.ts';

const sums = (n: number, passed: number, { weight = 1, raisedBy = 1 } = {}): SequenceSums => ({
  n,
  weight: n * weight,
  value: passed * weight,
  share: n / raisedBy,
  shareValue: passed / raisedBy,
});
const estimated = <One extends { readonly kind: string }>(one: One): Extract<One, { readonly kind: 'estimated' }> => {
  if (one.kind !== 'estimated') throw new Error('it is not estimable');
  return one as Extract<One, { readonly kind: 'estimated' }>;
};

test('confidence sequence: the interval of one passed run begins at the value of the mixture', () => {
  // M(p) = B(1½, ½) / B(½, ½) / p = 1 / (2p), and 1 / α = 100.
  expect(meanSequence(sums(1, 1), { confidence: 0.99 })).toMatchObject({ point: 1, low: expect.closeTo(0.005, 12), high: 1, n: 1 });
  expect(meanSequence(sums(1, 0), { confidence: 0.99 })).toMatchObject({ point: 0, low: 0, high: expect.closeTo(0.995, 12) });
});

/** ln M(p) by the product of the predictive probabilities, one value after the other: Robbins' form, without any gamma function. */
function stepwise(values: readonly number[], p: number): number {
  let [passed, n, sum] = [0, 0, 0];
  for (const value of values) {
    const q = (passed + 0.5) / (n + 1);
    sum += Math.log(value === 1 ? q / p : (1 - q) / (1 - p));
    [passed, n] = [passed + value, n + 1];
  }
  return sum;
}

test('confidence sequence: the interval of a mean ends where the evidence of single runs reaches one over alpha, in any order of the runs', () => {
  const { share, shuffled } = seeded(1);
  const values = shuffled(Array.from({ length: 200 }, (_, at) => (at < 170 ? 1 : 0)));
  const found = estimated(
    meanSequence(
      values.reduce<SequenceSums>((all, value) => sequenceWith(all, { value, probability: 1 }), emptySequence),
      { confidence: 0.99 },
    ),
  );
  for (const end of [found.low, found.high]) expect(stepwise(values, end)).toBeCloseTo(Math.log(100), 6);
  for (let at = 0; at < 50; at++) {
    const p = share();
    expect(stepwise(values, p) < Math.log(100)).toBe(p > found.low && p < found.high);
  }
});

/** The range of the difference over all pairs of a grid. */
function overGrid({ first, second }: ComparedArms, confidence: number): readonly [low: number, high: number] {
  const list = ({ n, value }: SequenceSums): readonly number[] => Array.from({ length: n }, (_, at) => (at < value ? 1 : 0));
  const steps = 400;
  const grid = Array.from({ length: steps - 1 }, (_, at) => (at + 1) / steps);
  const [before, after] = [first, second].map((arm) => grid.map((p) => stepwise(list(arm), p)));
  const inside = grid.flatMap((p, at) =>
    grid.flatMap((q, other) => ((before?.[at] ?? 0) + (after?.[other] ?? 0) < -Math.log(1 - confidence) ? [q - p] : [])),
  );
  return [Math.min(...inside), Math.max(...inside)];
}

test('confidence sequence: the interval of a difference is the range of the pairs whose joint evidence is below one over alpha', () => {
  for (const arms of [
    { first: sums(60, 50), second: sums(40, 20) },
    { first: sums(100, 100), second: sums(30, 12) },
    { first: sums(5, 0), second: sums(80, 79) },
  ]) {
    const found = estimated(differenceSequence([arms], { confidence: 0.95 }));
    const [low, high] = overGrid(arms, 0.95);
    expect(Math.abs(found.low - low)).toBeLessThan(0.006);
    expect(Math.abs(found.high - high)).toBeLessThan(0.006);
  }
});

test('confidence sequence: it leaves out 0 exactly when the always-valid p-value is below the level', () => {
  const { below } = seeded(3);
  let out = 0;
  for (let at = 0; at < 400; at++) {
    const [n, m] = [1 + below(800), 1 + below(800)];
    const arms = { first: sums(n, below(n + 1)), second: sums(m, below(m + 1)) };
    const { low, high, p } = estimated(differenceSequence([arms], { confidence: 0.99 }));
    expect(low > 0 || high < 0).toBe(p < 0.01);
    if (p < 0.01) out++;
  }
  expect(out).toBeGreaterThan(50);
});

test('confidence sequence: the p-value over strata is below the level exactly when the interval leaves out 0', () => {
  const { below } = seeded(4);
  let out = 0;
  for (let at = 0; at < 200; at++) {
    const arms = (): ComparedArms => {
      const [n, m] = [1 + below(300), 1 + below(300)];
      return { first: sums(n, below(n + 1)), second: sums(m, below(m + 1)) };
    };
    const { low, high, p } = estimated(differenceSequence([arms(), arms(), arms()], { confidence: 0.99 }));
    expect(low > 0 || high < 0).toBe(p < 0.01);
    if (p < 0.01) out++;
  }
  expect(out).toBeGreaterThan(20);
});

test('confidence sequence: of one stratum the p-value is the evidence at the mean of all runs', () => {
  const arms = { first: sums(60, 50), second: sums(40, 20) };
  const list = ({ n, value }: SequenceSums): readonly number[] => Array.from({ length: n }, (_, at) => (at < value ? 1 : 0));
  const { p } = estimated(differenceSequence([arms], { confidence: 0.95 }));
  expect(Math.log(p)).toBeCloseTo(-stepwise(list(arms.first), 0.7) - stepwise(list(arms.second), 0.7), 6);
});

test('confidence sequence: equal weights change nothing, and raised runs count by the least probability', () => {
  const plain = meanSequence(sums(300, 270), { confidence: 0.99 });
  expect(meanSequence(sums(300, 270, { weight: 20 }), { confidence: 0.99 })).toMatchObject({ ...plain, effectiveN: 300 });
  const mixed = mergedSequence(sums(100, 60, { raisedBy: 20 }), sums(200, 196, { weight: 20 }));
  // 100 raised runs are five of the others.
  expect(meanSequence(mixed)).toMatchObject({ n: 300, effectiveN: 205, point: (60 + 196 * 20) / 4100 });
});

test('confidence sequence: runs of sessions are as many as there are sessions', () => {
  const found = estimated(meanSequence(sums(400, 360), { confidence: 0.99, design: 20 }));
  expect(found).toMatchObject({ n: 400, effectiveN: 20, point: 0.9 });
  const few = estimated(meanSequence(sums(20, 18), { confidence: 0.99 }));
  expect([found.low, found.high]).toEqual([expect.closeTo(few.low, 9), expect.closeTo(few.high, 9)]);
});

test('confidence sequence: values and probabilities out of their range count for nothing', () => {
  for (const { value, probability } of [
    { value: 1.1, probability: 1 },
    { value: -0.1, probability: 1 },
    { value: 1, probability: 0 },
    { value: 1, probability: 1.5 },
    { value: Number.NaN, probability: 1 },
  ])
    expect(sequenceWith(emptySequence, { value, probability })).toEqual(emptySequence);
  expect(sequenceWith(emptySequence, { value: 0.25, probability: 0.5 })).toEqual({
    n: 1,
    weight: 2,
    value: 0.5,
    share: 1,
    shareValue: 0.25,
  });
});

test('confidence sequence: nothing on one side is not estimable, and no number replaces it', () => {
  expect(meanSequence(emptySequence)).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
  expect(differenceSequence([{ first: emptySequence, second: sums(10, 5) }])).toMatchObject({ reason: 'no_observations' });
});

test('confidence sequence: strata keep a change of the mix of tasks apart from a change of the agent', () => {
  const [easy, hard] = [
    { first: sums(900, 890), second: sums(300, 297) },
    { first: sums(100, 50), second: sums(700, 350) },
  ];
  const all = { first: mergedSequence(easy.first, hard.first), second: mergedSequence(easy.second, hard.second) };
  expect(estimated(differenceSequence([all], { confidence: 0.99 })).high).toBeLessThan(-0.1);
  const by = estimated(differenceSequence([easy, hard], { confidence: 0.99 }));
  expect(by.point).toBeCloseTo(0, 2);
  expect(by.low).toBeLessThan(0);
  expect(by.high).toBeGreaterThan(0);
  // A task that only one of them has does not count for a difference.
  expect(differenceSequence([easy, { first: emptySequence, second: sums(50, 0) }])).toEqual(differenceSequence([easy]));
});

test('confidence sequence: a whole interval narrows as runs come', () => {
  const widths = [10, 100, 1_000, 10_000, 1_000_000].map((n) => {
    const { low, high } = estimated(differenceSequence([{ first: sums(n, n * 0.9), second: sums(n, n * 0.8) }]));
    expect(low).toBeLessThan(-0.1);
    expect(high).toBeGreaterThan(-0.1);
    return high - low;
  });
  expect(widths.toSorted((one, other) => other - one)).toEqual(widths);
  expect(widths.at(-1)).toBeLessThan(0.006);
});
