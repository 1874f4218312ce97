import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fleissKappa } from '../../src/statistics/fleiss-kappa.ts';

/** Labels of one item, from the number of each category. */
const item = (counts: readonly number[]): readonly string[] =>
  counts.flatMap((count, category) => Array.from({ length: count }, () => String(category)));

/** Ten subjects, fourteen raters, five categories: the worked example of the method, with agreement 0.378, chance 0.213 and kappa 0.210. */
const worked = [
  [0, 0, 0, 0, 14],
  [0, 2, 6, 4, 2],
  [0, 0, 3, 5, 6],
  [0, 3, 9, 2, 0],
  [2, 2, 8, 1, 1],
  [7, 7, 0, 0, 0],
  [3, 2, 6, 3, 0],
  [2, 5, 3, 2, 2],
  [6, 5, 2, 1, 0],
  [0, 2, 2, 3, 7],
].map(item);

function estimated(items: readonly (readonly string[])[]): Extract<ReturnType<typeof fleissKappa>, { kind: 'estimated' }> {
  const found = fleissKappa(items);
  if (found.kind !== 'estimated') throw new Error(found.reason);
  return found;
}

test('fleissKappa: the worked example of ten subjects and fourteen raters', () => {
  const found = estimated(worked);
  expect(found.agreement).toBeCloseTo(0.378, 3);
  expect(found.expected).toBeCloseTo(0.213, 3);
  expect(found.point).toBeCloseTo(0.21, 3);
  expect(found).toMatchObject({ n: 10, labels: 140, confidence: 0.95 });
  expect(found.low).toBeLessThan(found.point);
  expect(found.high).toBeGreaterThan(found.point);
});

test('fleissKappa: the standard error is close to that of leaving out each item in turn', () => {
  const { point, standardError, n } = estimated(worked);
  const without = worked.map((_, at) => estimated(worked.filter((__, other) => other !== at)).point);
  const jackknife = Math.sqrt(((n - 1) / n) * without.reduce((all, one) => all + (one - point) ** 2, 0));
  expect(standardError / jackknife).toBeGreaterThan(0.75);
  expect(standardError / jackknife).toBeLessThan(1.25);
});

test.each<{ readonly name: string; readonly items: readonly (readonly string[])[]; readonly want: object }>([
  { name: 'nothing', items: [], want: { kind: 'not_estimable', reason: 'no_observations' } },
  { name: 'one label of each item', items: [['a'], ['b']], want: { kind: 'not_estimable', reason: 'no_observations' } },
  {
    name: 'one and the same label',
    items: [
      ['a', 'a'],
      ['a', 'a', 'a'],
    ],
    want: { kind: 'not_estimable', reason: 'no_variation' },
  },
  {
    name: 'full agreement on different labels',
    items: [
      ['a', 'a'],
      ['b', 'b', 'b'],
      ['a', 'a'],
    ],
    want: { point: 1, high: 1, n: 3, labels: 7 },
  },
  {
    name: 'full disagreement',
    items: [
      ['a', 'b'],
      ['b', 'a'],
    ],
    want: { point: -1, low: -1, agreement: 0, expected: 0.5 },
  },
])('fleissKappa: of $name', ({ items, want }) => {
  expect(fleissKappa(items)).toMatchObject(want);
});

test('fleissKappa: items with one label change nothing, and neither does their order', () => {
  const labels = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(labels, { maxLength: 12 }), (items) => {
      const found = fleissKappa(items);
      const same = fleissKappa(items.filter(({ length }) => length > 1).toReversed());
      expect(same.kind).toBe(found.kind);
      if (found.kind !== 'estimated' || same.kind !== 'estimated') return;
      expect(same.point).toBeCloseTo(found.point, 10);
      expect(found.low).toBeLessThanOrEqual(found.point + 1e-12);
      expect(found.high).toBeGreaterThanOrEqual(found.point - 1e-12);
      expect(found.low).toBeGreaterThanOrEqual(-1 - 1e-12);
      expect(found.high).toBeLessThanOrEqual(1 + 1e-12);
    }),
  );
});
