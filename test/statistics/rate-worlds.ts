/** Traffic whose pass rate is estimated from a sample. */
import { coverage, rateSums, weightedRate, type RateSums } from '../../src/statistics/weighted-rate.ts';
import type { Chance } from '../builders/seeded.ts';
import { sessionRate, sessionSize } from './draws.ts';
import type { Drawn, World } from './world.ts';

interface Run {
  /** With which it is chosen. */
  readonly probability: number;
  /** The probability with which it passes. */
  readonly passes: number;
}

/** A day of runs: the `at`-th, at / count through the day, follows `run`; a judge fails on a share of the chosen. */
function day(count: number, run: (day: number, chance: Chance) => Run, judgeFails = 0): (chance: Chance) => Drawn {
  return (chance) => {
    const sums = rateSums();
    let unreachable = 0;
    let scoredWeight = 0;
    let failedWeight = 0;
    for (let at = 0; at < count; at++) {
      const { probability, passes } = run(at / count, chance);
      if (probability === 0) unreachable++;
      else if (chance.share() < probability) {
        const failed = judgeFails > 0 && chance.share() < judgeFails;
        if (failed) failedWeight += 1 / probability;
        else {
          scoredWeight += 1 / probability;
          sums.add({ value: chance.share() < passes ? 1 : 0, probability });
        }
      }
    }
    const told = coverage({ eligible: count, unreachable, scoredWeight, failedWeight, waitingWeight: 0 });
    return { estimate: weightedRate(sums.data()), ...(told.kind === 'estimated' ? { uncovered: told.uncovered } : {}) };
  };
}

interface Flags {
  readonly count: number;
  readonly flagged: number;
  readonly failing: number;
  readonly others: number;
  readonly probability?: number;
}

/** Flagged runs fail often and are all judged, the others one in twenty by default. */
function raised({ count, flagged, failing, others, probability = 0.05 }: Flags): Pick<World, 'truth' | 'draw'> {
  const draw = day(count, (_, { share }) =>
    share() < flagged ? { probability: 1, passes: 1 - failing } : { probability, passes: 1 - others },
  );
  return { truth: 1 - flagged * failing - (1 - flagged) * others, draw };
}

interface Sessions {
  readonly count: number;
  readonly mean: number;
  readonly probability: number;
  /** Correlation of two runs of one session. */
  readonly likeness?: number;
  readonly flagged?: number;
}

/** Sessions are chosen as a whole; of bad ones more, if `flagged` is above 0. */
function sessions({ count, mean, probability, likeness = 0.2, flagged = 0 }: Sessions): (chance: Chance) => Drawn {
  return (chance) => {
    const sums: RateSums = rateSums();
    for (let session = 0; session < count; session++) {
      const passes = sessionRate(chance, { mean, likeness });
      // A session that goes badly is flagged more often.
      const chosenWith = flagged > 0 && chance.share() < (1 - passes) * flagged ? 1 : probability;
      if (chance.share() >= chosenWith) continue;
      const runs = sessionSize(chance);
      for (let run = 0; run < runs; run++)
        sums.add({ value: chance.share() < passes ? 1 : 0, probability: chosenWith, session: `s${session}` });
    }
    return { estimate: weightedRate(sums.data()) };
  };
}

const evenly =
  (passes: number): (() => Run) =>
  () => ({ probability: 0.05, passes });

export const rateWorlds: readonly World[] = [
  { name: '5 % of 10,000 runs, 95 % pass', truth: 0.95, draw: day(10_000, evenly(0.95)) },
  { name: '5 % of 1,000 runs, 95 % pass', truth: 0.95, draw: day(1000, evenly(0.95)) },
  { name: '5 % of 5,000 runs, 50 % pass', truth: 0.5, draw: day(5000, evenly(0.5)) },
  { name: 'every one of 300 runs, 90 % pass', truth: 0.9, draw: day(300, () => ({ probability: 1, passes: 0.9 })) },
  {
    name: '5 % of 10,000 runs, those flagged all (10 %, half of them fail; 2 % of the others)',
    ...raised({ count: 10_000, flagged: 0.1, failing: 0.5, others: 0.02 }),
  },
  { name: 'the same of 2,000 runs', ...raised({ count: 2000, flagged: 0.1, failing: 0.5, others: 0.02 }) },
  {
    name: 'of 10,000 runs 4 % flagged, 80 % of them fail; 1 % of the others',
    ...raised({ count: 10_000, flagged: 0.04, failing: 0.8, others: 0.01 }),
  },
  {
    name: 'budget spent at noon, afterwards other traffic',
    truth: 0.92,
    uncovered: 0.5,
    draw: day(5000, (time) => (time < 0.5 ? { probability: 0.1, passes: 0.92 } : { probability: 0, passes: 0.6 })),
  },
  {
    name: 'probability falls from 20 % to 2 %, pass rate from 95 % to 75 %',
    truth: 0.85,
    draw: day(5000, (time) => ({ probability: 0.2 * 0.1 ** time, passes: 0.95 - 0.2 * time })),
  },
  {
    name: 'probability falls and is 0 for the last fifth',
    truth: 0.87,
    uncovered: 0.2,
    draw: day(5000, (time) =>
      time < 0.8 ? { probability: 0.2 * 0.1 ** time, passes: 0.95 - 0.2 * time } : { probability: 0, passes: 0.5 },
    ),
  },
  { name: 'the judge fails on 10 %', truth: 0.9, uncovered: 0.1, draw: day(5000, evenly(0.9), 0.1) },
  { name: '1,000 uneven sessions, 20 % judged', truth: 0.9, draw: sessions({ count: 1000, mean: 0.9, probability: 0.2 }) },
  { name: '150 uneven sessions, 20 % judged', truth: 0.9, draw: sessions({ count: 150, mean: 0.9, probability: 0.2 }) },
  { name: '60 uneven sessions, 20 % judged', truth: 0.7, draw: sessions({ count: 60, mean: 0.7, probability: 0.2 }) },
  {
    name: '1,000 uneven sessions, 10 % judged, bad ones more often',
    truth: 0.9,
    draw: sessions({ count: 1000, mean: 0.9, probability: 0.1, flagged: 0.8 }),
  },
];

/** Little to go by: intervals may be wider than they need be here, and one kind is a little too narrow. */
export const scarceRateWorlds: readonly World[] = [
  { name: 'scarce: 20 runs, 95 % pass', truth: 0.95, draw: day(20, () => ({ probability: 1, passes: 0.95 })) },
  { name: 'scarce: 10 sessions', truth: 0.9, draw: sessions({ count: 10, mean: 0.9, probability: 1 }) },
  {
    name: 'scarce: 100 sessions that are much alike',
    truth: 0.9,
    draw: sessions({ count: 100, mean: 0.9, probability: 1, likeness: 0.5 }),
  },
  {
    name: 'scarce: 1 % of the unflagged of 10,000 runs, 0.5 % of them fail',
    ...raised({ count: 10_000, flagged: 0.1, failing: 0.5, others: 0.005, probability: 0.01 }),
  },
];
