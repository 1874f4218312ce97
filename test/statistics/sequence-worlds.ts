/** Series of runs of two versions, looked at after every run. */
import {
  type ComparedArms,
  differenceSequence,
  emptySequence,
  equalMeansP,
  type SequenceSums,
  sequenceWith,
} from '../../src/statistics/confidence-sequence.ts';
import { seeded, type Chance } from '../builders/seeded.ts';

export interface SequenceWorld {
  readonly name: string;
  /** The next run, or `undefined` when it is not judged. */
  readonly run: (chance: Chance, at: number, session: number) => SequenceRun | undefined;
  /** Runs of one session, one behind the other and of one version. `run` is given a number 0..1 that they share. */
  readonly session?: number;
}

interface SequenceRun {
  readonly value: number;
  readonly probability: number;
  readonly raisedBy?: number;
}

/** Judged by a rate that is raised to 1 for the flagged runs, which are a tenth and fail three times as often; a budget leaves `left` of both. */
function raised(chance: Chance, rate: number, left = 1): SequenceRun | undefined {
  const flagged = chance.share() < 0.1;
  const probability = (flagged ? 1 : rate) * left;
  if (chance.share() >= probability) return undefined;
  return { value: passes(chance, flagged ? 0.7 : 0.9), probability, raisedBy: flagged ? 1 / rate : 1 };
}

const passes = (chance: Chance, rate: number): number => (chance.share() < rate ? 1 : 0);

/** In none of them do the versions differ. */
export const equalWorlds: readonly SequenceWorld[] = [
  { name: 'all runs, 95 % pass', run: (chance) => ({ value: passes(chance, 0.95), probability: 1 }) },
  { name: 'all runs, 50 % pass', run: (chance) => ({ value: passes(chance, 0.5), probability: 1 }) },
  { name: 'all runs, scores between 0 and 1', run: ({ share }) => ({ value: Math.sqrt(share()), probability: 1 }) },
  {
    name: 'half of the runs judged, those flagged all (10 %, half of them fail; 2 % of the others)',
    run(chance) {
      const flagged = chance.share() < 0.1;
      const probability = flagged ? 1 : 0.5;
      return chance.share() < probability ? { value: passes(chance, flagged ? 0.5 : 0.98), probability } : undefined;
    },
  },
  {
    name: 'rate 0.02, raised to 1 for flagged runs',
    run: (chance) => raised(chance, 0.02),
  },
  {
    name: 'rate 0.1, raised to 1 for flagged runs, fewer and fewer of them within a budget',
    run: (chance, at) => raised(chance, 0.1, 1 / (1 + at / 500)),
  },
  {
    name: 'rate 0.5 that becomes 0.02 half-way, raised to 1 for flagged runs',
    run: (chance, at) => raised(chance, at < 500 ? 0.5 : 0.02),
  },
  ...[5, 20].map((session) => ({
    name: `sessions of ${session} runs, half of them tied to the session`,
    session,
    run: (chance: Chance, _at: number, shared: number) => ({
      value: chance.share() < 0.5 ? Number(shared < 0.8) : passes(chance, 0.8),
      probability: 1,
    }),
  })),
  {
    name: 'passes and scores by turns, with one mean',
    run: (chance, at) => ({ value: at % 2 === 0 ? passes(chance, 0.9) : 0.8 + 0.2 * chance.share(), probability: 1 }),
  },
];

export type Shows = (arms: ComparedArms) => boolean;

export const sequenceShows =
  (confidence: number): Shows =>
  (arms) =>
    equalMeansP(arms) <= 1 - confidence;

/** Share of series in which a difference was shown at any look. Each session, or run, is of one version or the other by a coin. */
export function falseAlarms(
  { run, session = 1 }: SequenceWorld,
  { series, runs, seed, shows }: { readonly series: number; readonly runs: number; readonly seed: number; readonly shows: Shows },
): number {
  const chance = seeded(seed);
  let alarms = 0;
  for (let one = 0; one < series; one++) {
    const arms = [emptySequence, emptySequence] as [SequenceSums, SequenceSums];
    const seen: [runs: number, squares: number][] = [
      [0, 0],
      [0, 0],
    ];
    const design = (at: 0 | 1): number => (seen[at]?.[1] ?? 0) / Math.max(1, seen[at]?.[0] ?? 0);
    let [which, shared]: [0 | 1, number] = [0, 0];
    for (let at = 0; at < runs; at++) {
      if (at % session === 0) [which, shared] = [chance.share() < 0.5 ? 0 : 1, chance.share()];
      const own = seen[which];
      if (own !== undefined) [own[0], own[1]] = [own[0] + 1, own[1] + 2 * (at % session) + 1];
      const next = run(chance, at, shared);
      if (next === undefined) continue;
      arms[which] = sequenceWith(arms[which], next);
      if (!shows({ first: arms[0], second: arms[1], designs: [design(0), design(1)] })) continue;
      alarms++;
      break;
    }
  }
  return alarms / series;
}

export interface Detection {
  readonly before: number;
  readonly after: number;
  /** Runs of the version before. */
  readonly runsBefore: number;
  /** The least change that is to be shown. */
  readonly by: number;
}

/** Runs of the newer version until a fall is shown, in order. */
export function runsToDetect(
  { before, after, runsBefore, by }: Detection,
  { series, seed, confidence }: { readonly series: number; readonly seed: number; readonly confidence: number },
): readonly number[] {
  const chance = seeded(seed);
  const isShown = ({ first, second }: ComparedArms): boolean => {
    if (second.value / second.weight > first.value / first.weight - by) return false;
    if (by === 0) return equalMeansP({ first, second }) <= 1 - confidence;
    const found = differenceSequence([{ first, second }], { confidence });
    return found.kind === 'estimated' && found.high < -by;
  };
  return Array.from({ length: series }, () => {
    let first = emptySequence;
    for (let run = 0; run < runsBefore; run++) first = sequenceWith(first, { value: passes(chance, before), probability: 1 });
    let second = emptySequence;
    do second = sequenceWith(second, { value: passes(chance, after), probability: 1 });
    while (second.n < 50_000 && !isShown({ first, second }));
    return second.n;
  }).sort((one, other) => one - other);
}
