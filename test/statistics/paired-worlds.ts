/** Two versions on the same examples, whose scores differ by a known amount: false alarms, coverage and power of the paired difference. */
import { scoreDifference } from '../../src/statistics/paired-scores.ts';
import type { Chance } from '../builders/seeded.ts';
import { standardNormal } from './draws.ts';
import type { World } from './world.ts';

/** Enough for the level of 5 %, and faster. */
const draws = 999;

function world(name: string, examples: number, truth: number, difference: (chance: Chance) => number): World {
  return {
    name: `${name}, ${examples} examples`,
    truth,
    draw: (chance) => ({
      estimate: scoreDifference(
        Array.from({ length: examples }, () => difference(chance)),
        { draws },
      ),
    }),
  };
}

interface Runs {
  readonly examples: number;
  readonly repeats: number;
  /** Share of the examples on which runs vary; the others always pass. */
  readonly varying: number;
  readonly passing: number;
  /** The loss of the second version on those. */
  readonly fall?: number;
}

function runs({ examples, repeats, varying, passing, fall = 0 }: Runs): World {
  const share = ({ share: next }: Chance, rate: number): number =>
    Array.from({ length: repeats }, () => (next() < rate ? 1 : 0)).reduce<number>((sum, one) => sum + one, 0) / repeats;
  const where = varying === 1 ? '' : ` on ${100 * varying} %`;
  return world(
    `${repeats} ${repeats === 1 ? 'run' : 'runs'}, ${Math.round(100 * passing)} % pass${where}${fall === 0 ? '' : `, ${Math.round(100 * fall)} points less then`}`,
    examples,
    -varying * fall,
    (chance) => (chance.share() < varying ? share(chance, passing - fall) - share(chance, passing) : 0),
  );
}

const designs: readonly Runs[] = [
  { examples: 10, repeats: 3, varying: 1, passing: 0.8 },
  { examples: 30, repeats: 3, varying: 1, passing: 0.8 },
  { examples: 30, repeats: 3, varying: 1, passing: 0.97 },
  { examples: 30, repeats: 3, varying: 0.1, passing: 0.8 },
  { examples: 50, repeats: 5, varying: 0.1, passing: 0.8 },
  { examples: 100, repeats: 1, varying: 0.1, passing: 0.8 },
  { examples: 100, repeats: 3, varying: 0.05, passing: 0.8 },
  { examples: 200, repeats: 5, varying: 0.02, passing: 0.8 },
  { examples: 200, repeats: 2, varying: 0.1, passing: 0.8 },
];

const exponential = ({ share }: Chance): number => -Math.log(1 - share());
const within = (value: number, least: number): number => Math.max(least, Math.min(1, value));
const noise = (chance: Chance): number => 0.1 * standardNormal(chance);
const sizes = [10, 30, 100];

/** Both versions are equally good on each example, so no difference should be shown in more than 5 %. */
export const equalPairs: readonly World[] = [
  ...designs.map(runs),
  ...sizes.flatMap((size) => [
    world('scores, normal', size, 0, noise),
    world('scores, skewed', size, 0, (chance) => within(0.15 * exponential(chance), 0) - within(0.15 * exponential(chance), 0)),
    world('scores, heavy tails', size, 0, (chance) => within((0.02 * standardNormal(chance)) / Math.abs(standardNormal(chance)), -1)),
    world('scores, 1 to 5', size, 0, (chance) => (chance.below(5) - chance.below(5)) / 4),
  ]),
];

export const differentPairs: readonly World[] = [
  ...designs.map((design) => runs({ ...design, fall: design.varying === 1 ? 0.25 : 0.6 })),
  ...sizes.map((size) => world('scores, normal, 5 points more then', size, 0.05, (chance) => noise(chance) + 0.05)),
  ...sizes.map((size) =>
    world('scores, 1 to 5, 20 points less then', size, -0.2, (chance) => (chance.below(4) - chance.below(5)) / 4 - 0.075),
  ),
];

/** Equal means with skewed differences: the versions are equal on no example, and the test supposes too much. */
export const skewedPairs: readonly World[] = sizes.flatMap((size) => [
  world('differences, skewed', size, 0, (chance) => within(0.1 * (exponential(chance) - 1), -1)),
  world('one of ten loses 90 points, nine gain 10', size, 0, (chance) => (chance.share() < 0.1 ? -0.9 : 0.1)),
]);
