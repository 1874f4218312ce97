import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gTest, type Category } from '../../src/statistics/g-test.ts';
import { seeded } from '../builders/seeded.ts';

const table = (first: readonly number[], second: readonly number[]): readonly Category[] =>
  first.map((own, at) => ({ first: own, second: second[at] ?? 0 }));

// Source: scipy 1.17.1, stats.chi2_contingency with lambda_='log-likelihood' and correction=False, over Williams' q.
const values = [
  { first: [30, 10], second: [20, 40], g: 16.991_886_149_736_022, degrees: 1, p: 3.753_990_044_189_704e-5 },
  { first: [100, 50, 25], second: [90, 60, 30], g: 1.808_216_926_133_389_6, degrees: 2, p: 0.404_902_709_955_098_36 },
  { first: [12, 30, 8], second: [22, 20, 18], g: 7.878_509_513_540_279, degrees: 2, p: 0.019_462_713_797_746_51 },
  { first: [500, 5], second: [480, 25], g: 14.717_829_700_360_172, degrees: 1, p: 0.000_124_859_957_148_918_64 },
];

test.each(values)('$first against $second is what scipy gives', ({ first, second, g, degrees, p }) => {
  const found = gTest([table(first, second)]);
  expect(found).toMatchObject({ degrees, pooled: 0 });
  expect(found?.g).toBeCloseTo(g, 10);
  expect(found?.p).toBeCloseTo(p, 12);
});

test('several tables add up', () => {
  const [one, other] = [table([30, 10], [20, 40]), table([100, 50, 25], [90, 60, 30])];
  expect(gTest([one, other])?.g).toBeCloseTo((gTest([one])?.g ?? 0) + (gTest([other])?.g ?? 0), 10);
  expect(gTest([one, other])?.degrees).toBe(3);
});

const pooling = [
  { name: 'rare categories are one', first: [100, 50, 3, 4, 3], second: [100, 50, 4, 3, 3], degrees: 2, pooled: 3 },
  {
    name: 'those too rare even together join the smallest of the others',
    first: [100, 50, 1, 1],
    second: [100, 50, 0, 1],
    degrees: 1,
    pooled: 3,
  },
  { name: 'an empty category does not count', first: [100, 50, 0], second: [90, 60, 0], degrees: 1, pooled: 0 },
];

test.each(pooling)('$name', ({ first, second, degrees, pooled }) => {
  expect(gTest([table(first, second)])).toMatchObject({ degrees, pooled });
});

const nothing = [
  { name: 'no table', tables: [] },
  { name: 'one category', tables: [table([100], [90])] },
  { name: 'a group without observations', tables: [table([100, 50], [0, 0])] },
  { name: 'only rare categories', tables: [table([2, 1], [1, 2])] },
];

test.each(nothing)('$name cannot be compared', ({ tables }) => {
  expect(gTest(tables)).toBeUndefined();
});

test('groups and categories may change places', () => {
  const counts = fc.array(fc.tuple(fc.nat(200), fc.nat(200)), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(counts, (pairs) => {
      const own = pairs.map(([first, second]) => ({ first, second }));
      const turned = own.toReversed().map(({ first, second }) => ({ first: second, second: first }));
      const [one, other] = [gTest([own]), gTest([turned])];
      expect(one?.degrees).toBe(other?.degrees);
      expect(Math.abs((one?.g ?? 0) - (other?.g ?? 0))).toBeLessThan(1e-8);
    }),
  );
});

test('equal groups differ as often as the level demands', () => {
  const { share } = seeded(7);
  const draw = (n: number): readonly number[] => {
    const counts = [0, 0, 0, 0];
    for (let at = 0; at < n; at++) {
      const chance = share();
      const category = chance < 0.4 ? 0 : chance < 0.7 ? 1 : chance < 0.95 ? 2 : 3;
      counts[category] = (counts[category] ?? 0) + 1;
    }
    return counts;
  };
  const trials = 2_000;
  let rejected = 0;
  for (let at = 0; at < trials; at++) if ((gTest([table(draw(120), draw(200))])?.p ?? 1) < 0.05) rejected++;
  // 5 % give or take three standard errors of this number of trials.
  expect(rejected / trials).toBeGreaterThan(0.035);
  expect(rejected / trials).toBeLessThan(0.065);
});
