/**
 * Confidence sequences: intervals that hold at all looks together. Looking after every run, and stopping at will, does not raise the
 * share of false alarms above 1 − confidence.
 *
 * One mean. Values x in 0..1 arrive in any number, each with expectation p given all before it. The product of
 * (q/p)^x · ((1 − q)/(1 − p))^(1 − x) is a supermartingale for every q in 0..1, for its logarithm is linear in x and its value at most linear. So is its mixture
 * over q drawn from Beta(½, ½), which is M(p) = B(½ + S, ½ + F) / B(½, ½) / (p^S (1 − p)^F) with S = Σx and F = Σ(1 − x). Ville's
 * inequality: M(p) ever reaches 1 / α with probability at most α. The set of all p with M(p) < 1 / α holds p at all looks. Robbins,
 * “Statistical methods related to the law of the iterated logarithm”, Annals of Mathematical Statistics 41 (1970); Howard, Ramdas, McAuliffe
 * and Sekhon, “Time-uniform, nonparametric, nonasymptotic confidence sequences”, Annals of Statistics 49 (2021), proposition 7 and section
 * 3.2; as a bet, Waudby-Smith and Ramdas, “Estimating means of bounded random variables by betting”, JRSS B 86 (2024).
 *
 * Two means. For either arm of the next value, the product of both arms' M is a supermartingale at the true pair. The pairs with a product
 * below 1 / α hold the true pair at all looks. The interval of the difference is the range of that set, without a correction for two arms.
 * Strata multiply in the same way, so the interval holds for any weights of the strata.
 *
 * Weights. A run was chosen with probability π, and ξ is 1 if it was, else 0. Let L be the least probability that any run could have had at that
 * moment: the rate of the evaluator before it is raised for runs that look bad, and what a budget leaves of it. L is known before the run is
 * seen. The bet 1 + λ ξ (L / π)(x − p) is fair for the mean over all runs that arrive, and never negative, however L changes later (Horvitz and
 * Thompson, JASA 47, 1952; Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, “Anytime-valid off-policy inference for contextual bandits”,
 * ACM/IMS Journal of Data Science 1, 2024). As the logarithm is concave, the factor of that run to the power s = L / π is at most this bet. So
 * S = Σ s x and F = Σ s (1 − x). The largest weight so far would not do for 1 / L: the first judged runs of a version are the raised ones.
 *
 * Sessions. Runs of one session resemble one another. The product of the factors of a session's m runs, each to the power 1 / m, is at most
 * their mean, which is a fair bet even if all m runs are copies of one. So S and F are divided by the mean number of runs in the session of a
 * run, `design`. That supposes that sessions of one version have some usual length; of very unequal ones the longest count too much.
 */
import { logGamma } from './distributions.ts';
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';

/** All that a sequence needs of one arm: it adds up over runs, hours and replicas, in any order. */
export interface SequenceSums {
  readonly n: number;
  /** Σ w over runs. */
  readonly weight: number;
  /** Σ w·value. */
  readonly value: number;
  /** Σ s over runs, each 0..1: the least probability that a run could have had, divided by its own. */
  readonly share: number;
  /** Σ s·value. */
  readonly shareValue: number;
}

export const emptySequence: SequenceSums = { n: 0, weight: 0, value: 0, share: 0, shareValue: 0 };

/**
 * Leaves the sums unchanged for a value outside 0..1, or an invalid probability. `raisedBy`: the probability divided by the least that a run could
 * have had, at least 1.
 */
export function sequenceWith(
  sums: SequenceSums,
  { value, probability, raisedBy = 1 }: { readonly value: number; readonly probability: number; readonly raisedBy?: number },
): SequenceSums {
  if (!(value >= 0 && value <= 1 && probability > 0 && probability <= 1 && raisedBy >= 1)) return sums;
  const [weight, share] = [1 / probability, 1 / raisedBy];
  return mergedSequence(sums, { n: 1, weight, value: weight * value, share, shareValue: share * value });
}

export function mergedSequence(one: SequenceSums, other: SequenceSums): SequenceSums {
  return {
    n: one.n + other.n,
    weight: one.weight + other.weight,
    value: one.value + other.value,
    share: one.share + other.share,
    shareValue: one.shareValue + other.shareValue,
  };
}

/** Passes and failures, in sessions of runs with the least probability. */
interface Arm {
  readonly passed: number;
  readonly failed: number;
  /** ln of B(½ + S, ½ + F) / B(½, ½). */
  readonly mixture: number;
}

const half = 0.5;
const logBetaOfHalves = Math.log(Math.PI);

function armOf({ share, shareValue }: SequenceSums, design = 1): Arm {
  const passed = shareValue / Math.max(1, design);
  const failed = Math.max(0, share - shareValue) / Math.max(1, design);
  return {
    passed,
    failed,
    mixture: logGamma(half + passed) + logGamma(half + failed) - logGamma(1 + passed + failed) - logBetaOfHalves,
  };
}

/** ln M(p). */
function evidence({ passed, failed, mixture }: Arm, p: number): number {
  return mixture - (passed === 0 ? 0 : passed * Math.log(p)) - (failed === 0 ? 0 : failed * Math.log1p(-p));
}

/**
 * The p at which ln M(p) rises with this slope: the root in 0..1 of slope·p² + (S + F − slope)·p − S, in the form that loses no digits.
 */
function pointOfSlope({ passed, failed }: Arm, slope: number): number {
  const middle = passed + failed - slope;
  const root = Math.sqrt(middle * middle + 4 * slope * passed);
  if (Number.isNaN(root)) return half;
  const p = middle >= 0 ? (2 * passed) / (middle + root) : slope === 0 ? half : (root - middle) / (2 * slope);
  return Math.min(1, Math.max(0, Number.isNaN(p) ? half : p));
}

interface SequenceOptions extends EstimateOptions {
  /** Mean number of runs, at least 1, in the session of a run. */
  readonly design?: number;
}

/** An interval that holds at all looks. Not estimable without observations. */
export function meanSequence(sums: SequenceSums, { confidence = usualConfidence, design }: SequenceOptions = {}): Estimated | NotEstimable {
  if (sums.n === 0) return notEstimable('no_observations');
  const arm = armOf(sums, design);
  const point = sums.value / sums.weight;
  const end = (sign: 1 | -1): number => farthest([{ share: sign, arms: [{ arm, sign: 1 }] }], confidence);
  const effectiveN = arm.passed + arm.failed;
  return {
    kind: 'estimated',
    point,
    low: Math.max(0, Math.min(point, -end(-1))),
    high: Math.max(point, end(1)),
    standardError: effectiveN === 0 ? half : Math.sqrt((point * (1 - point)) / effectiveN),
    n: sums.n,
    effectiveN,
    confidence,
  };
}

/** One stratum: runs of one task, or all runs. */
export interface ComparedArms {
  readonly first: SequenceSums;
  readonly second: SequenceSums;
  /** Mean number of runs, at least 1, in the session of a run of each arm; absent: no run has a session. */
  readonly designs?: readonly [first: number, second: number];
}

/** An interval with the always-valid p-value of “there is no difference”: it is at most 1 − confidence when the interval leaves out 0. */
export type EstimatedDifference = Estimated & { readonly p: number };

/**
 * Mean of the second less mean of the first, within −1..1: of all runs, or over strata, each by its share of the runs of both. Strata without
 * runs on both sides are left out. `effectiveN` is that of the smaller side. Not estimable when no stratum has both.
 */
export function differenceSequence(
  strata: readonly ComparedArms[],
  { confidence = usualConfidence }: EstimateOptions = {},
): EstimatedDifference | NotEstimable {
  const compared = strata.filter(({ first, second }) => first.n > 0 && second.n > 0);
  if (compared.length === 0) return notEstimable('no_observations');
  const weight = compared.reduce((sum, { first, second }) => sum + first.weight + second.weight, 0);
  const rows = compared.map(({ first, second, designs = [1, 1] }) => ({
    share: (first.weight + second.weight) / weight,
    means: [first.value / first.weight, second.value / second.weight] as const,
    arms: [armOf(first, designs[0]), armOf(second, designs[1])] as const,
  }));
  const point = rows.reduce((sum, { share, means: [before, after] }) => sum + share * (after - before), 0);
  const terms = (sign: 1 | -1): readonly Term[] =>
    rows.map(({ share, arms: [first, second] }) => ({
      share: sign * share,
      arms: [
        { arm: second, sign: 1 },
        { arm: first, sign: -1 },
      ],
    }));
  const end = (sign: 1 | -1): number => farthest(terms(sign), confidence);
  const size = ({ passed, failed }: Arm): number => passed + failed;
  const variance = rows.reduce(
    (sum, { share, means, arms }) =>
      sum + share * share * means.reduce((both, mean, at) => both + (mean * (1 - mean)) / Math.max(1, size(arms[at] ?? arms[0])), 0),
    0,
  );
  const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    kind: 'estimated',
    point,
    low: Math.max(-1, Math.min(point, -end(-1))),
    high: Math.min(1, Math.max(point, end(1))),
    standardError: Math.sqrt(variance),
    n: compared.reduce((all, { first, second }) => all + first.n + second.n, 0),
    effectiveN: Math.min(
      sum(({ arms: [first] }) => size(first)),
      sum(({ arms: [, second] }) => size(second)),
    ),
    confidence,
    p: compared[0] !== undefined && compared.length === 1 ? equalMeansP(compared[0]) : Math.min(equalityP(terms(1)), equalityP(terms(-1))),
  };
}

/** The p-value of `differenceSequence` for one stratum, whose closed form needs no search. */
export function equalMeansP({ first, second, designs = [1, 1] }: ComparedArms): number {
  const arms = [armOf(first, designs[0]), armOf(second, designs[1])];
  const [passed, failed] = [arms.reduce((sum, arm) => sum + arm.passed, 0), arms.reduce((sum, arm) => sum + arm.failed, 0)];
  if (passed + failed === 0) return 1;
  // The product of both M is smallest where the two have the mean of all runs.
  const mean = passed / (passed + failed);
  return Math.min(1, Math.exp(-arms.reduce((sum, arm) => sum + evidence(arm, mean), 0)));
}

/** A term of the sum whose range is sought: `share` times the signed sum of its arms' means. */
interface Term {
  readonly share: number;
  readonly arms: readonly { readonly arm: Arm; readonly sign: 1 | -1 }[];
}

/** Each step halves the range of the slope's logarithm. */
const slopeSteps = 80;
const slopeLogMax = 40;

/** The point at which each ln M rises with the slope t·share·sign: of all points with its sum, the one with the least Σ ln M. */
function atSlope(terms: readonly Term[], slope: number): { readonly sum: number; readonly evidence: number } {
  let [sum, total] = [0, 0];
  for (const { share, arms } of terms) {
    for (const { arm, sign } of arms) {
      const p = pointOfSlope(arm, slope * share * sign);
      sum += share * sign * p;
      total += evidence(arm, p);
    }
  }
  return { sum, evidence: total };
}

/**
 * The largest Σ share·sign·p over all p with Σ ln M(p) ≤ ln 1/α. ln M is convex, so the largest sum lies where each ln M rises with the
 * slope t·share·sign, for one t; the bound is reached at one t, as Σ ln M rises with t.
 */
function farthest(terms: readonly Term[], confidence: number): number {
  const bound = -Math.log(1 - confidence);
  return atSlope(terms, Math.exp(firstSlope((slope) => atSlope(terms, slope).evidence >= bound))).sum;
}

/** One over the least product of all M(p) with Σ share·sign·p ≥ 0, at most 1. */
function equalityP(terms: readonly Term[]): number {
  if (atSlope(terms, 0).sum >= 0) return 1;
  return Math.min(1, Math.exp(-atSlope(terms, Math.exp(firstSlope((slope) => atSlope(terms, slope).sum >= 0))).evidence));
}

/** The logarithm of the least slope at which a condition holds that stays true from there on. */
function firstSlope(holds: (slope: number) => boolean): number {
  let [low, high] = [-slopeLogMax, slopeLogMax];
  for (let step = 0; step < slopeSteps; step++) {
    const middle = (low + high) / 2;
    if (holds(Math.exp(middle))) high = middle;
    else low = middle;
  }
  return high;
}
