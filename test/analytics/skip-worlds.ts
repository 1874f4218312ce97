/** Experiments on the same examples whose versions leave some runs without a score. */
import { experimentComparison } from '../../src/analytics/experiment-comparison.ts';
import type { ExperimentResult } from '../../src/model/experiment.ts';
import { experimentOf, resultOf, verdictOf } from '../builders/experiment.ts';
import { type Chance, seeded } from '../builders/seeded.ts';

type Word = 'pass' | 'fail' | 'skipped';

export interface SkipWorld {
  readonly name: string;
  readonly examples: number;
  readonly runs: number;
  readonly first: (chance: Chance) => Word;
  readonly second: (chance: Chance) => Word;
}

const passing =
  (rate: number, otherwise: Word = 'fail') =>
  (chance: Chance): Word =>
    chance.share() < rate ? 'pass' : otherwise;
const skipping =
  (share: number, next: (chance: Chance) => Word) =>
  (chance: Chance): Word =>
    chance.share() < share ? 'skipped' : next(chance);
const skipsHalfOfFailures = (chance: Chance): Word => (chance.share() < 0.8 ? 'pass' : chance.share() < 0.5 ? 'skipped' : 'fail');
const hundred = { examples: 100, runs: 1 };

export const skipWorlds: readonly SkipWorld[] = [
  { ...hundred, name: 'both pass 83 %, B skips what it would fail', first: passing(0.83), second: passing(0.83, 'skipped') },
  { examples: 30, runs: 3, name: 'the same, 3 runs of 30 examples', first: passing(0.83), second: passing(0.83, 'skipped') },
  { ...hundred, name: 'both pass 80 % and skip half of the rest', first: skipsHalfOfFailures, second: skipsHalfOfFailures },
  { ...hundred, name: 'both skip 10 % at random', first: skipping(0.1, passing(0.8)), second: skipping(0.1, passing(0.8)) },
  { ...hundred, name: 'A passes 90 %, B 75 % and skips the rest', first: passing(0.9), second: passing(0.75, 'skipped') },
  { ...hundred, name: 'A passes 75 %, B 88 % and skips 2 % at random', first: passing(0.75), second: skipping(0.02, passing(0.88)) },
];

/** Shares of the comparisons with each word, and of those that show a difference in skips. */
export interface SkipsFound {
  readonly better: number;
  readonly worse: number;
  readonly worseWithUnscored: number;
  readonly skipsShown: number;
}

export function skipsFound({ examples, runs, first, second }: SkipWorld, worlds: number, seed: number): SkipsFound {
  const chance = seeded(seed);
  const side = (id: string, word: (chance: Chance) => Word) => ({
    experiment: experimentOf({ id }),
    results: Array.from({ length: examples * runs }, (_, at): ExperimentResult =>
      resultOf(`example ${Math.floor(at / runs)}`, [verdictOf(word(chance))], { repeat: (at % runs) + 1 }),
    ),
  });
  const counts = { better: 0, worse: 0, worse_with_unscored: 0, no_difference_shown: 0, not_comparable: 0 };
  let skipsShown = 0;
  for (let world = 0; world < worlds; world++) {
    const { evaluators } = experimentComparison(side('a', first), side('b', second));
    const own = evaluators.find(({ name }) => name === 'tool_error');
    if (own === undefined) continue;
    counts[own.word]++;
    if ((own.unscored?.share.adjustedP ?? 1) < 0.05) skipsShown++;
  }
  return {
    better: counts.better / worlds,
    worse: counts.worse / worlds,
    worseWithUnscored: counts.worse_with_unscored / worlds,
    skipsShown: skipsShown / worlds,
  };
}
