/** A version gains nothing by skipping what it would fail. */
import { expect, test } from 'vitest';
import { skipsFound, skipWorlds } from './skip-worlds.ts';

const equal = skipWorlds.slice(0, 4);
for (const world of equal) {
  test(`statistics: two equal versions show a difference in at most a twentieth of the comparisons: ${world.name}`, () => {
    const { better, worse, worseWithUnscored } = skipsFound(world, 400, 2026);
    expect(better + worse + worseWithUnscored).toBeLessThanOrEqual(0.05);
  });
}

test('statistics: a version that skips what it would fail and passes less is worse in most comparisons', () => {
  const [world] = skipWorlds.slice(4);
  if (world === undefined) throw new Error('there is no such world');
  expect(skipsFound(world, 400, 2026).worseWithUnscored).toBeGreaterThan(0.6);
});
