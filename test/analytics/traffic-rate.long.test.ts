/** Rates over all traffic whose truth is known hold it, or are not estimable. */
import { describe, expect, test } from 'vitest';
import { seeded } from '../builders/seeded.ts';
import { type Design, designsOf, foundIn } from './traffic-worlds.ts';

const designs = [100, 400, 1_000].flatMap(designsOf);
const worlds = 300;
/** Over this number of worlds, chance may take three points from 95 %. */
const leastCoverage = 0.9;

describe('rates over designs that services have', () => {
  test('statistics: the interval holds the truth in every design, or the rate is not estimable', () => {
    const chance = seeded(2026);
    const found = designs.map((design) => foundIn(design, worlds, chance));
    // Where hardly a draw has a figure, it is one of those that have few runs without a raise.
    const estimable = found.filter(({ told }) => told >= worlds / 20);
    expect(estimable.length).toBeGreaterThan(designs.length / 2);
    const isScarce = ({ runs, session }: Design): boolean => runs / session < 30;
    expect(estimable.filter(({ design, coverage }) => !isScarce(design) && coverage < leastCoverage)).toEqual([]);
    const all =
      estimable.reduce((sum, { coverage, told }) => sum + coverage * told, 0) / estimable.reduce((sum, { told }) => sum + told, 0);
    expect(all).toBeGreaterThan(0.93);
    expect(all).toBeLessThan(0.98);
  }, 120_000);
});
