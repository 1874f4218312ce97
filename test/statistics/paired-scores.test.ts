/** Against SciPy and statsmodels (`paired-reference.py`), and against one another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mcNemar, pairedDifference } from '../../src/statistics/comparison.ts';
import { holmAdjusted } from '../../src/statistics/holm.ts';
import { bootstrapItemsMax, bootstrapItemsMin, pairedBootstrap, pairedT, scoreDifference } from '../../src/statistics/paired-scores.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { seeded } from '../builders/seeded.ts';
import { standardNormal } from './draws.ts';

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
    readonly bca: readonly [number, number];
  }[];
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
    expect(pairedT(differences(one))).toMatchObject({
      p: expect.closeTo(one.p, 9),
      low: expect.closeTo(one.t[0], 9),
      high: expect.closeTo(one.t[1], 9),
    });
  }
});

test('paired bootstrap: the BCa interval is that of SciPy, as far as two drawings agree', () => {
  for (const one of reference.scores) {
    const { low, high } = pairedBootstrap(differences(one));
    const width = one.bca[1] - one.bca[0];
    expect(Math.abs(low - one.bca[0])).toBeLessThan(0.05 * width);
    expect(Math.abs(high - one.bca[1])).toBeLessThan(0.05 * width);
  }
});

test('holm: adjusted p-values are those of statsmodels', () => {
  for (const { p, holm } of reference.families) {
    const found = holmAdjusted(p);
    expect(found).toHaveLength(p.length);
    for (const [at, want] of holm.entries()) expect(found[at]).toBeCloseTo(want, 12);
  }
});

const drawn = fc.array(
  fc.integer({ min: -100, max: 100 }).map((value) => value / 100),
  { minLength: bootstrapItemsMin, maxLength: 60 },
);

test('paired bootstrap: the p-value is below the level exactly when the interval is without 0', () => {
  fc.assert(
    fc.property(drawn, (values) => {
      const found = scoreDifference(values, { resamples: 2_000 });
      if (found.kind !== 'estimated' || found.method !== 'bootstrap') return;
      const isOutside = found.low > 1e-9 || found.high < -1e-9;
      // Between two neighbouring means the interval is interpolated and the p-value steps.
      if (Math.abs(found.p - 0.05) > 0.004) expect(found.p < 0.05).toBe(isOutside);
    }),
    { numRuns: propertyRuns({ short: 15, long: 60 }) },
  );
});

test('paired bootstrap: the other order turns the sign and keeps the p-value', () => {
  const values = reference.scores.map(differences)[3] ?? [];
  const [one, other] = [pairedBootstrap(values), pairedBootstrap(values.map((value) => -value))];
  expect(other).toMatchObject({ point: -one.point, p: expect.closeTo(one.p, 9), low: expect.closeTo(-one.high, 9) });
});

const methods = [
  { name: 'few items', values: [0.1, 0.2, 0.05], method: 'student_t' },
  { name: 'enough items', values: Array.from({ length: bootstrapItemsMin }, (_, at) => at / 100), method: 'bootstrap' },
  { name: 'very many items', values: Array.from({ length: bootstrapItemsMax + 1 }, (_, at) => (at % 7) / 100), method: 'student_t' },
  { name: 'equal items', values: Array.from({ length: 30 }, () => 0.3 - 0.2), method: 'sign_test' },
] as const;

for (const { name, values, method } of methods) {
  test(`score difference: ${name}: ${method}`, () => {
    const found = scoreDifference(values);
    expect(found).toMatchObject({ kind: 'estimated', method, n: values.length });
    if (found.kind === 'estimated') expect(found.low <= found.point && found.point <= found.high).toBe(true);
  });
}

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

test('score difference: a version that is no better is called different in about one of twenty comparisons', () => {
  const chance = seeded(5);
  const worlds = 400;
  let significant = 0;
  for (let world = 0; world < worlds; world++) {
    const values = Array.from({ length: 30 }, () => 0.1 * standardNormal(chance));
    const found = scoreDifference(values, { resamples: 1_000 });
    if (found.kind === 'estimated' && found.p < 0.05) significant++;
  }
  expect(significant / worlds).toBeGreaterThan(0.02);
  expect(significant / worlds).toBeLessThan(0.09);
});
