/** A judge that errs, corrected by labels: sensitivity 0.85, specificity 0.9 by default. */
import { confusion, type LabelledVerdict } from '../../src/statistics/proportion.ts';
import { predictionPowered, type JudgedRun, roganGladen } from '../../src/statistics/correction.ts';
import { rateSums, weightedRate } from '../../src/statistics/weighted-rate.ts';
import type { Chance } from '../builders/seeded.ts';
import { sessionRate, sessionSize } from './draws.ts';
import type { Drawn, World } from './world.ts';

interface JudgeErrors {
  readonly sensitivity: number;
  readonly specificity: number;
}

const errs: JudgeErrors = { sensitivity: 0.85, specificity: 0.9 };

/** The verdicts of people and of the judge on a run. */
function judgedTruth({ share }: Chance, passes: number, { sensitivity, specificity }: JudgeErrors): LabelledVerdict {
  const label = share() < passes;
  return { label, verdict: share() < (label ? sensitivity : 1 - specificity) };
}

interface OwnSet {
  readonly passes: number;
  readonly judged: number;
  readonly labels: number;
  readonly judge?: JudgeErrors;
  /** The labelled runs are among the judged ones. */
  readonly among?: boolean;
}

function ownSet({ passes, judged, labels, judge = errs, among = false }: OwnSet): Pick<World, 'truth' | 'draw'> {
  const draw = (chance: Chance): Drawn => {
    const labelled = Array.from({ length: labels }, () => judgedTruth(chance, passes, judge));
    const others = Array.from({ length: among ? judged - labels : judged }, () => judgedTruth(chance, passes, judge));
    const rate = weightedRate(
      rateSums([...(among ? labelled : []), ...others].map(({ verdict }) => ({ value: verdict ? 1 : 0, probability: 0.05 }))).data(),
    );
    if (rate.kind === 'not_estimable') return { estimate: rate };
    return { estimate: roganGladen({ judged: rate, labelled: confusion(labelled), ...(among ? { overlap: labels / judged } : {}) }) };
  };
  return { truth: passes, draw };
}

/** Flagged runs are judged more often, so the judged rate is a weighted one. */
const raisedWithOwnSet: Pick<World, 'truth' | 'draw'> = {
  truth: 0.92,
  draw: (chance) => {
    const sums = rateSums();
    for (let run = 0; run < 5000; run++) {
      const flagged = chance.share() < 0.1;
      const probability = flagged ? 1 : 0.1;
      if (chance.share() < probability)
        sums.add({ value: judgedTruth(chance, flagged ? 0.5 : 0.92 + 0.42 / 9, errs).verdict ? 1 : 0, probability });
    }
    const rate = weightedRate(sums.data());
    if (rate.kind === 'not_estimable') return { estimate: rate };
    return {
      estimate: roganGladen({ judged: rate, labelled: confusion(Array.from({ length: 200 }, () => judgedTruth(chance, 0.7, errs))) }),
    };
  },
};

interface Traffic {
  readonly runs: number;
  readonly passes: number;
  /** Flagged runs, half of them good, are judged always, others with 0.2. */
  readonly flagged?: number;
  /** Probability of a label by the judge's verdict. */
  readonly labelIfPassed: number;
  readonly labelIfFailed: number;
  readonly judge?: JudgeErrors;
}

function labelledAmong({ runs, passes, flagged = 0, labelIfPassed, labelIfFailed, judge = errs }: Traffic): Pick<World, 'truth' | 'draw'> {
  const draw = (chance: Chance): Drawn => {
    const judged: JudgedRun[] = [];
    for (let run = 0; run < runs; run++) {
      const isFlagged = chance.share() < flagged;
      const probability = isFlagged ? 1 : 0.2;
      if (chance.share() >= probability) continue;
      const { label, verdict } = judgedTruth(chance, isFlagged ? 0.5 : passes, judge);
      const labelled = verdict ? labelIfPassed : labelIfFailed;
      judged.push({
        verdict: verdict ? 1 : 0,
        probability,
        ...(chance.share() < labelled ? { label: { value: label ? 1 : 0, probability: labelled } } : {}),
      });
    }
    return { estimate: predictionPowered(judged) };
  };
  return { truth: flagged * 0.5 + (1 - flagged) * passes, draw };
}

/** Good and bad runs were labelled in separate numbers, and few of the bad ones. */
const fewFails: Pick<World, 'truth' | 'draw'> = {
  truth: 0.95,
  draw: (chance) => {
    const rate = weightedRate(
      rateSums(Array.from({ length: 1000 }, () => ({ value: judgedTruth(chance, 0.95, errs).verdict ? 1 : 0, probability: 0.05 }))).data(),
    );
    if (rate.kind === 'not_estimable') return { estimate: rate };
    return {
      estimate: roganGladen({
        judged: rate,
        labelled: confusion(Array.from({ length: 200 }, (_, at) => judgedTruth(chance, at < 197 ? 1 : 0, errs))),
      }),
    };
  },
};

const labelledSessions: Pick<World, 'truth' | 'draw'> = {
  truth: 0.8,
  draw: (chance) => {
    const judged = Array.from({ length: 200 }, (_, session) => {
      const passes = sessionRate(chance, { mean: 0.8, likeness: 0.2 });
      const labelled = chance.share() < 0.25;
      return Array.from({ length: sessionSize(chance) }, (): JudgedRun => {
        const { label, verdict } = judgedTruth(chance, passes, errs);
        return {
          verdict: verdict ? 1 : 0,
          probability: 0.2,
          session: `s${session}`,
          ...(labelled ? { label: { value: label ? 1 : 0, probability: 0.25 } } : {}),
        };
      });
    });
    return { estimate: predictionPowered(judged.flat()) };
  },
};

export const correctionWorlds: readonly World[] = [
  { name: 'Rogan–Gladen, 80 % pass, 1,000 judged, 200 separate labels', ...ownSet({ passes: 0.8, judged: 1000, labels: 200 }) },
  { name: 'Rogan–Gladen, 95 % pass, 1,000 judged, 200 separate labels', ...ownSet({ passes: 0.95, judged: 1000, labels: 200 }) },
  { name: 'Rogan–Gladen, 80 % pass, 500 judged, 200 of them labelled', ...ownSet({ passes: 0.8, judged: 500, labels: 200, among: true }) },
  { name: 'Rogan–Gladen, 80 % pass, 1,000 judged, 50 separate labels', ...ownSet({ passes: 0.8, judged: 1000, labels: 50 }) },
  { name: 'Rogan–Gladen, flagged runs all judged, 200 labels of other traffic', ...raisedWithOwnSet },
  {
    name: 'prediction-powered, 80 % pass, 1,000 judged, 200 of them labelled',
    ...labelledAmong({ runs: 5000, passes: 0.8, labelIfPassed: 0.2, labelIfFailed: 0.2 }),
  },
  {
    name: 'prediction-powered, 95 % pass, 1,000 judged, 200 of them labelled',
    ...labelledAmong({ runs: 5000, passes: 0.95, labelIfPassed: 0.2, labelIfFailed: 0.2 }),
  },
  {
    name: 'prediction-powered, 80 % pass, 1,000 judged, 15 of them labelled',
    ...labelledAmong({ runs: 5000, passes: 0.8, labelIfPassed: 0.015, labelIfFailed: 0.015 }),
  },
  {
    name: 'prediction-powered, flagged runs all judged, judged fails labelled more often',
    ...labelledAmong({ runs: 3000, passes: 0.92, flagged: 0.1, labelIfPassed: 0.15, labelIfFailed: 0.5 }),
  },
  {
    name: 'prediction-powered, a judge that guesses',
    ...labelledAmong({ runs: 3000, passes: 0.8, labelIfPassed: 0.3, labelIfFailed: 0.3, judge: { sensitivity: 0.5, specificity: 0.5 } }),
  },
  { name: 'prediction-powered, 200 uneven sessions, a quarter of them labelled', ...labelledSessions },
];

export const scarceCorrectionWorlds: readonly World[] = [{ name: 'scarce: Rogan–Gladen with three labelled fails', ...fewFails }];
