/** Against SciPy and statsmodels (`paired-reference.py`), and against one another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mcNemar, pairedDifference } from '../../src/statistics/comparison.ts';
import { holmAdjusted } from '../../src/statistics/holm.ts';
import { everyFlipMax, flippedItemsMax, limitsByStudent, scoreDifference, studentP } from '../../src/statistics/paired-scores.ts';
import { propertyRuns } from '../builders/property-runs.ts';

interface Reference {
  readonly tables: readonly {
    readonly cells: readonly [number, number, number, number];
    readonly exact: number;
    readonly midP: number;
    readonly newcombe: readonly [number, number];
  }[];
  readonly scores: readonly {
    readonly first: readonly number[];
    readonly second: readonly number[];
    readonly p: number;
    readonly t: readonly [number, number];
  }[];
  readonly flips: readonly { readonly differences: readonly number[]; readonly p: number }[];
  readonly families: readonly { readonly p: readonly number[]; readonly holm: readonly number[] }[];
}

const reference = JSON.parse(readFileSync(join(import.meta.dirname, 'paired-reference.json'), 'utf8')) as Reference;
const differences = ({ first, second }: Reference['scores'][number]): readonly number[] =>
  second.map((score, at) => score - (first[at] ?? 0));

test('paired tables: exact, mid-p and interval are those of statsmodels on 200 tables', () => {
  expect(reference.tables).toHaveLength(200);
  for (const { cells, exact, midP, newcombe } of reference.tables) {
    const [both, onlyFirst, onlySecond, neither] = cells;
    expect({ cells, ...mcNemar({ onlyFirst, onlySecond }) }).toEqual({
      cells,
      exact: expect.closeTo(exact, 9),
      midP: expect.closeTo(midP, 9),
    });
    expect({ cells, ...pairedDifference({ both, onlyFirst, onlySecond, neither }) }).toMatchObject({
      cells,
      low: expect.closeTo(newcombe[0], 9),
      high: expect.closeTo(newcombe[1], 9),
    });
  }
});

test('paired t: p-value and interval are those of SciPy', () => {
  for (const one of reference.scores) {
    const { low, high } = limitsByStudent(differences(one))(0.95);
    expect(studentP(differences(one))).toBeCloseTo(one.p, 9);
    expect(low).toBeCloseTo(one.t[0], 9);
    expect(high).toBeCloseTo(one.t[1], 9);
  }
});

/** Follows the definition: each choice of signs once. */
function enumeratedP(values: readonly number[]): number {
  const sum = (signs: number): number => values.reduce((all, value, at) => all + ((signs >> at) & 1 ? -value : value), 0);
  const choices = Array.from({ length: 2 ** values.length }, (_, signs) => Math.abs(sum(signs)));
  return choices.filter((one) => one >= Math.abs(sum(0)) - 1e-9).length / choices.length;
}

test('sign flips: with few differing items the p-value is that of SciPy and of an enumeration, unless the interval holds it up', () => {
  const few = reference.flips.filter(({ differences: values }) => values.length <= everyFlipMax);
  expect(few).toHaveLength(40);
  for (const { differences: values, p } of few) {
    expect(enumeratedP(values)).toBeCloseTo(p, 9);
    const found = estimatedOf(values);
    expect(found.p).toBeGreaterThan(p - 1e-9);
    // Student's test and the interval are the only other bounds.
    expect(found.p).toBeLessThan(Math.max(p, Number.isNaN(studentP(values)) ? 1 : studentP(values)) + 1e-6);
  }
});

test('sign flips: with many differing items the p-value is that of SciPy, as far as two drawings agree', () => {
  const many = reference.flips.filter(({ differences: values }) => values.length > everyFlipMax);
  expect(many).toHaveLength(20);
  for (const { differences: values, p } of many) {
    const found = estimatedOf(values);
    const error = 4 * Math.sqrt((p * (1 - p) + 1e-4) / 9_999);
    expect(found.p).toBeGreaterThan(p - error);
    expect(found.p).toBeLessThan(Math.max(p, studentP(values)) + error);
  }
});

function estimatedOf(values: readonly number[], options?: Parameters<typeof scoreDifference>[1]) {
  const found = scoreDifference(values, options);
  if (found.kind !== 'estimated') throw new Error(found.explanation);
  return found;
}

test('holm: adjusted p-values are those of statsmodels', () => {
  for (const { p, holm } of reference.families) {
    const found = holmAdjusted(p);
    expect(found).toHaveLength(p.length);
    for (const [at, want] of holm.entries()) expect(found[at]).toBeCloseTo(want, 12);
  }
});

const drawn = fc.array(
  fc.oneof(
    fc.constant(0),
    fc.integer({ min: -3, max: 3 }).map((value) => value / 3),
    fc.integer({ min: -100, max: 100 }).map((value) => value / 100),
  ),
  { minLength: 2, maxLength: 60 },
);

test('score difference: the p-value is below the level exactly when the interval is without 0', () => {
  fc.assert(
    fc.property(drawn, fc.constantFrom(0.8, 0.95, 0.99), (values, confidence) => {
      const { p, low, high, point } = estimatedOf(values, { confidence, draws: 999 });
      if (Math.abs(p - (1 - confidence)) > 1e-9) expect(p < 1 - confidence).toBe(low > 0 || high < 0);
      expect(low <= point && point <= high).toBe(true);
    }),
    { numRuns: propertyRuns({ short: 60, long: 400 }) },
  );
});

test('score difference: the other order of versions turns the sign, the order of items changes nothing', () => {
  const values = reference.scores.map(differences)[3] ?? [];
  const [one, turned, shuffled] = [values, values.map((value) => -value), values.toReversed()].map((own) => estimatedOf(own));
  expect(turned).toMatchObject({ p: one?.p, low: expect.closeTo(-(one?.high ?? 0), 9) as number });
  expect(shuffled).toMatchObject({ p: one?.p, low: expect.closeTo(one?.low ?? 0, 9) as number });
});

const losses = (count: number, of: number, size = 1): readonly number[] => Array.from({ length: of }, (_, at) => (at < count ? -size : 0));
const designs = [
  { name: 'three of thirty examples lose one of three runs', values: losses(3, 30, 1 / 3), p: 0.25 },
  { name: 'five of thirty lose one of three runs', values: losses(5, 30, 1 / 3), p: 1 / 16 },
  { name: 'six of thirty lose one of three runs', values: losses(6, 30, 1 / 3), p: 1 / 32 },
  { name: 'one of two hundred loses', values: losses(1, 200), p: 1 },
  { name: 'all of fifteen gain the same', values: Array.from({ length: 15 }, () => 0.3 - 0.2), p: 2 ** -14 },
  { name: 'none differs', values: losses(0, 30), p: 1 },
] as const;

for (const { name, values, p } of designs) {
  test(`score difference: ${name}: the p-value is that of counting`, () => {
    expect(scoreDifference(values)).toMatchObject({ p: expect.closeTo(p, 9) as number, leastP: expect.closeTo(p, 9) as number });
  });
}

test('score difference: with very many differing items Student’s t takes over', () => {
  const values = Array.from({ length: flippedItemsMax + 2 }, (_, at) => ((at % 7) - 2) / 100);
  expect(scoreDifference(values.slice(0, flippedItemsMax))).toMatchObject({ method: 'sign_flip' });
  expect(scoreDifference(values.flatMap((value) => [value, value]))).toMatchObject({ method: 'student_t' });
});

test('score difference: equal scores show no difference, with an interval that narrows with the items', () => {
  const [few, many] = [5, 500].map((length) => scoreDifference(Array.from({ length }, () => 0)));
  expect(few).toMatchObject({ point: 0, p: 1 });
  if (few?.kind !== 'estimated' || many?.kind !== 'estimated') throw new Error('both are estimable');
  expect(few.high).toBeGreaterThan(0.2);
  expect(many.high).toBeLessThan(0.02);
  expect(many.high).toBeGreaterThan(0);
});

test('score difference: of no item and of one it is not estimable', () => {
  expect(scoreDifference([])).toMatchObject({ reason: 'no_observations' });
  expect(scoreDifference([0.4])).toMatchObject({ reason: 'one_session' });
});
