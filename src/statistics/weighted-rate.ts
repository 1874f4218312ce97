/**
 * The pass rate, or mean score, of all traffic from runs that were judged with known, unequal probabilities.
 *
 * The function estimates the long-run rate: that of unlimited traffic of the same kind, with every run judged. The runs of a day
 * themselves count as a sample of that, so an interval has a width even when every run was judged. Each judged run counts 1 / p,
 * where p is the probability of its choice. A run with p = 0.05 represents twenty runs. It holds for runs that could have been chosen (p
 * above 0) and whose judge answered; `coverage` gives the share of the traffic.
 *
 * Point: Σ w·value / Σ w, w = 1 / p (Hájek, in Godambe and Sprott, Foundations of Statistical Inference, 1971). Variance: linearised, Σ
 * over units (Σ w·(value − point))² / (Σ w)², units being sessions, or single runs where none is given (Särndal, Swensson and Wretman,
 * Model Assisted Survey Sampling, 1992, chapter 5); without the factor 1 − p, which would leave out how the traffic itself varies.
 */
import { notEstimable, usualConfidence, type Estimate, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { moments, totalVariance, unitCount, unitSquares, type MomentsData } from './moments.ts';
import { shareInterval } from './distributions.ts';

export interface RateObservation {
  /** 0..1; 1 passed, 0 failed, or a score. */
  readonly value: number;
  /** The probability of inclusion that held when the run was chosen: above 0, at most 1. */
  readonly probability: number;
  /** Id of the session: its runs resemble one another. */
  readonly session?: string;
}

/** Can be stored as JSON and added up; at most `groupsMax` groups for any number of runs. */
export interface RateSumsData {
  readonly n: number;
  /** Observations that could not be counted: a value or a probability out of its range. */
  readonly refused: number;
  /** Σ w² over runs. */
  readonly weightSquares: number;
  /** Rows of w·value and w. */
  readonly moments: MomentsData;
}

/** Takes observations one after the other, and sums of other hours, agents or replicas. */
export interface RateSums {
  add(observation: RateObservation): void;
  merge(other: RateSumsData): void;
  data(): RateSumsData;
}

const weightAt = 1;

export function rateSums(observations: Iterable<RateObservation> = []): RateSums {
  let n = 0;
  let refused = 0;
  let weightSquares = 0;
  const rows = moments(2);
  const sums: RateSums = {
    add({ value, probability, session }) {
      if (!(value >= 0 && value <= 1 && probability > 0 && probability <= 1)) return void refused++;
      const weight = 1 / probability;
      n++;
      weightSquares += weight * weight;
      rows.add([weight * value, weight], session);
    },
    merge(other) {
      n += other.n;
      refused += other.refused;
      weightSquares += other.weightSquares;
      rows.merge(other.moments);
    },
    data: () => ({ n, refused, weightSquares, moments: rows.data() }),
  };
  for (const observation of observations) sums.add(observation);
  return sums;
}

/** Not estimable without observations, or when all are of one session. */
export function weightedRate(
  { n, weightSquares, moments: data }: RateSumsData,
  { confidence = usualConfidence }: EstimateOptions = {},
): Estimate {
  const [passed = 0, weight = 0] = data.totals;
  if (n === 0) return notEstimable('no_observations');
  if (unitCount(data) < 2) return notEstimable('one_session');
  const point = Math.min(1, passed / weight);
  const variance = Math.max(0, totalVariance(data, { factors: [1 / weight, -point / weight], weightAt }));
  const squares = unitSquares(data, weightAt);
  const { low, high, effectiveN } = shareInterval({
    point,
    variance,
    // Between what one run and what one session weighs: how alike the unseen ones of a session would be is not known.
    unseen: Math.sqrt(weightSquares * squares) / (weight * weight),
    degrees: Math.max(1, (weight * weight) / squares - 1),
    confidence,
  });
  return { kind: 'estimated', point, low, high, standardError: Math.sqrt(variance), n, effectiveN, confidence };
}

/**
 * Kish's effective size, (Σ w)² / Σ w²: runs of equal weight with as much information on a value that has nothing to do with the weights
 * (Kish, Survey Sampling, 1965). Below `effectiveN` of the rate, raising the probability for runs that are likely to fail has paid.
 */
export function kishEffectiveN({ weightSquares, moments: { totals } }: RateSumsData): number {
  return weightSquares === 0 ? 0 : (totals[weightAt] ?? 0) ** 2 / weightSquares;
}

/**
 * Least number of runs, or sessions of them, that are expected at the rate without a raise. With fewer, most draws have none of the runs that they
 * represent.
 */
export const usualRunsMin = 5;

/** A sample whose runs are judged at different rates, some above the usual one. Weights here are of runs that reach the service. */
export interface RaisedSample {
  /** Runs with a score, if all that could be judged were. */
  readonly runs: number;
  /** Σ w over judged runs that were raised. */
  readonly raisedWeight: number;
  /** Judged runs, or sessions of them, without a raise; and Σ w over these runs. */
  readonly usual: number;
  readonly usualWeight: number;
}

/**
 * Where runs are raised, the others carry nearly all of the weight, and few of them are drawn. How many are to be expected follows from the
 * traffic, not from the draw: choosing the draws that have enough of them would lean towards these. `undefined`: there are enough.
 */
export function tooFewUsual({ runs, raisedWeight, usual, usualWeight }: RaisedSample): NotEstimable | undefined {
  const left = Math.max(0, runs - raisedWeight);
  const expected = usualWeight === 0 ? 0 : (left * usual) / usualWeight;
  if (expected >= usualRunsMin || left < 1) return undefined;
  const more = expected === 0 ? undefined : Math.ceil((left * (usualRunsMin - expected)) / expected);
  return notEstimable(
    'too_few_usual_runs',
    more === undefined
      ? `None was judged, and ${usualRunsMin} are needed.`
      : `After about ${more} more runs without a raise there will be ${usualRunsMin}.`,
  );
}

/** Share of all weight that one run may have. */
export const weightShareMax = 0.05;
/** With fewer runs each may have as much weight as this many average ones. */
export const averageRunsMax = 3;

export interface CappedWeights {
  /** No weight is larger; Infinity: none was cut. */
  readonly weightMax: number;
  /** Weights that were cut. */
  readonly capped: number;
  /** Share of the heaviest run in all weight, before weights were cut. 0 without runs. */
  readonly largestShare: number;
}

/**
 * Bounds what one run can weigh, for p comes in part from outside: of few runs one with a tiny p would be the rate. Weights beyond a share
 * of the whole are cut to it (weight trimming: Potter, A study of procedures to identify and trim extreme sampling weights, 1990). That
 * leans towards the runs with small weights, so the number of cut weights is part of the answer. Ignores probabilities out of their range.
 */
export function cappedWeights(probabilities: readonly number[]): CappedWeights {
  const weights = probabilities
    .filter((probability) => probability > 0 && probability <= 1)
    .map((probability) => 1 / probability)
    .sort((one, other) => other - one);
  return cappedHeaviest({ heaviest: weights, total: weights.reduce((sum, weight) => sum + weight, 0), count: weights.length });
}

/** Number of weights that the cap can cut: k cut weights have the share k · `weightShareMax` of the whole, which is below 1. */
export const cappedMax = 1 / weightShareMax;

/** As `cappedWeights`, from the heaviest weights in descending order: at least `cappedMax` of them, or all. */
export function cappedHeaviest({
  heaviest,
  total,
  count,
}: {
  readonly heaviest: readonly number[];
  readonly total: number;
  readonly count: number;
}): CappedWeights {
  const share = Math.max(weightShareMax, averageRunsMax / Math.max(1, count));
  const largestShare = total === 0 ? 0 : (heaviest[0] ?? 0) / total;
  let [rest, capped, weightMax] = [total, 0, Infinity];
  // The limit of each of k cut weights: the share of the k of them and the rest together.
  while (capped < heaviest.length && share * (capped + 1) < 1) {
    const next = heaviest[capped] ?? 0;
    if (next <= share * (rest + (weightMax === Infinity ? 0 : capped * weightMax))) break;
    rest -= next;
    capped++;
    weightMax = (share * rest) / (1 - share * capped);
  }
  return { weightMax, capped, largestShare };
}

interface CoverageCounts {
  /** Runs that the evaluator applied to, whether chosen or not. */
  readonly eligible: number;
  /** Those among them that could not be chosen: probability 0, as when the budget was spent. Counted, not estimated. */
  readonly unreachable: number;
  /** Σ 1 / p of the chosen runs with a verdict. */
  readonly scoredWeight: number;
  /** Σ 1 / p of the chosen runs whose judge failed or was not called. */
  readonly failedWeight: number;
  /** Σ 1 / p of the chosen runs whose judge has not answered yet. */
  readonly waitingWeight: number;
}

/** The four shares make 1. */
export interface Coverage {
  readonly kind: 'estimated';
  /** Share of the eligible runs that the rate speaks for, 0..1. */
  readonly covered: number;
  readonly uncovered: number;
  /** Parts of `uncovered`. */
  readonly unreachable: number;
  readonly failed: number;
  readonly waiting: number;
  /**
   * Σ 1 / p of all chosen runs over the runs that could be chosen: 1 but for chance. Far from it, runs or probabilities were lost on the
   * way. Undefined when no run could be chosen.
   */
  readonly balance: number | undefined;
}

/** Not estimable when no run was eligible. */
export function coverage({ eligible, unreachable, scoredWeight, failedWeight, waitingWeight }: CoverageCounts): Coverage | NotEstimable {
  if (!(eligible > 0)) return notEstimable('no_observations');
  const reachable = Math.max(0, eligible - unreachable) / eligible;
  const chosenWeight = scoredWeight + failedWeight + waitingWeight;
  const part = (weight: number): number => (chosenWeight > 0 ? (reachable * weight) / chosenWeight : 0);
  const covered = part(scoredWeight);
  return {
    kind: 'estimated',
    covered,
    uncovered: 1 - covered,
    unreachable: 1 - reachable,
    failed: part(failedWeight),
    // Runs could be chosen but none was: nothing is known of them yet, so they wait.
    waiting: chosenWeight > 0 ? part(waitingWeight) : reachable,
    balance: reachable > 0 ? chosenWeight / (eligible * reachable) : undefined,
  };
}
