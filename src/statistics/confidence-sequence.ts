/**
 * Confidence sequences: intervals that hold at all looks together. Looking after every run, and stopping at will, does not raise the
 * share of false alarms above 1 − confidence.
 *
 * One mean. Values x in 0..1 arrive in any number, each with expectation p given all before it. For every q in 0..1 the product of
 * (q/p)^x · ((1 − q)/(1 − p))^(1 − x) is a supermartingale, for its logarithm is linear in x and its value at most linear. So is its mixture
 * over q drawn from Beta(½, ½), which is M(p) = B(½ + S, ½ + F) / B(½, ½) / (p^S (1 − p)^F) with S = Σx and F = Σ(1 − x). Ville's
 * inequality: M(p) ever reaches 1 / α with probability at most α. The set of all p with M(p) < 1 / α holds p at all looks. Robbins,
 * “Statistical methods related to the law of the iterated logarithm”, Annals of Mathematical Statistics 41 (1970); Howard, Ramdas, McAuliffe
 * and Sekhon, “Time-uniform, nonparametric, nonasymptotic confidence sequences”, Annals of Statistics 49 (2021), proposition 7 and section
 * 3.2; as a bet, Waudby-Smith and Ramdas, “Estimating means of bounded random variables by betting”, JRSS B 86 (2024).
 *
 * Two means. Whichever arm the next value is of, the product of both arms' M is a supermartingale at the true pair. The pairs with a product
 * below 1 / α hold the true pair at all looks. The interval of the difference is the range of that set, without a correction for two arms.
 * Strata multiply in the same way, so the interval holds for whatever weights the strata are given.
 *
 * Weights. A run that was chosen with probability π has weight w = 1 / π ≤ W, and ξ says whether it was chosen. The bet 1 + λ ξ (w / W) (x − p)
 * is fair for the mean over all traffic (Horvitz and Thompson, JASA 47, 1952; Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro, “Anytime-valid
 * off-policy inference for contextual bandits”, ACM/IMS Journal of Data Science 1, 2024). As the logarithm is concave, the factor of that run
 * to the power w / W is at most this bet. So S = Σ(w / W) x and F = Σ(w / W)(1 − x), and W is the largest weight so far. That supposes
 * that W bounds the weights to come as well: the first larger weight shortens all others.
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
  /** The largest w. */
  readonly weightMax: number;
}

export const emptySequence: SequenceSums = { n: 0, weight: 0, value: 0, weightMax: 0 };

/** Leaves the sums as they are for a value outside 0..1, or a probability that is none. */
export function sequenceWith(
  sums: SequenceSums,
  { value, probability }: { readonly value: number; readonly probability: number },
): SequenceSums {
  if (!(value >= 0 && value <= 1 && probability > 0 && probability <= 1)) return sums;
  return mergedSequence(sums, { n: 1, weight: 1 / probability, value: value / probability, weightMax: 1 / probability });
}

export function mergedSequence(one: SequenceSums, other: SequenceSums): SequenceSums {
  return {
    n: one.n + other.n,
    weight: one.weight + other.weight,
    value: one.value + other.value,
    weightMax: Math.max(one.weightMax, other.weightMax),
  };
}

/** Of passes and failures, in runs of the largest weight. */
interface Arm {
  readonly passed: number;
  readonly failed: number;
  /** ln of B(½ + S, ½ + F) / B(½, ½). */
  readonly mixture: number;
}

const half = 0.5;
const logBetaOfHalves = Math.log(Math.PI);

function armOf({ weight, value, weightMax }: SequenceSums): Arm {
  if (!(weightMax > 0)) return { passed: 0, failed: 0, mixture: 0 };
  const passed = value / weightMax;
  const failed = Math.max(0, weight - value) / weightMax;
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

/** An interval that holds at all looks. Not estimable without observations. */
export function meanSequence(sums: SequenceSums, { confidence = usualConfidence }: EstimateOptions = {}): Estimated | NotEstimable {
  if (sums.n === 0) return notEstimable('no_observations');
  const arm = armOf(sums);
  const point = sums.value / sums.weight;
  const end = (sign: 1 | -1): number => farthest([{ share: sign, arms: [{ arm, sign: 1 }] }], confidence);
  const effectiveN = arm.passed + arm.failed;
  return {
    kind: 'estimated',
    point,
    low: Math.max(0, Math.min(point, -end(-1))),
    high: Math.max(point, end(1)),
    standardError: Math.sqrt((point * (1 - point)) / effectiveN),
    n: sums.n,
    effectiveN,
    confidence,
  };
}

/** One stratum: runs of one task, or all runs. */
export interface ComparedArms {
  readonly first: SequenceSums;
  readonly second: SequenceSums;
}

/**
 * Mean of the second less mean of the first, within −1..1: of all runs, or over strata, each by its share of the runs of both. Strata without
 * runs on both sides are left out. `effectiveN` is that of the smaller side. Not estimable when no stratum has both.
 */
export function differenceSequence(
  strata: readonly ComparedArms[],
  { confidence = usualConfidence }: EstimateOptions = {},
): Estimated | NotEstimable {
  const compared = strata.filter(({ first, second }) => first.n > 0 && second.n > 0);
  if (compared.length === 0) return notEstimable('no_observations');
  const weight = compared.reduce((sum, { first, second }) => sum + first.weight + second.weight, 0);
  const rows = compared.map(({ first, second }) => ({
    share: (first.weight + second.weight) / weight,
    means: [first.value / first.weight, second.value / second.weight] as const,
    arms: [armOf(first), armOf(second)] as const,
  }));
  const point = rows.reduce((sum, { share, means: [before, after] }) => sum + share * (after - before), 0);
  const end = (sign: 1 | -1): number =>
    farthest(
      rows.map(({ share, arms: [first, second] }) => ({
        share: sign * share,
        arms: [
          { arm: second, sign: 1 },
          { arm: first, sign: -1 },
        ],
      })),
      confidence,
    );
  const size = ({ passed, failed }: Arm): number => passed + failed;
  const variance = rows.reduce(
    (sum, { share, means, arms }) =>
      sum + share * share * means.reduce((both, mean, at) => both + (mean * (1 - mean)) / size(arms[at] ?? arms[0]), 0),
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
  };
}

/**
 * The always-valid p-value of “both means are the same”: over all looks it falls below α with probability at most α. The interval of the
 * difference without strata leaves out 0 exactly when this is at most 1 − confidence.
 */
export function equalMeansP({ first, second }: ComparedArms): number {
  const arms = [armOf(first), armOf(second)];
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

/**
 * The largest Σ share·sign·p over all p with Σ ln M(p) ≤ ln 1/α. ln M is convex, so the largest sum lies where each ln M rises with the
 * slope t·share·sign, for one t; the bound is reached at one t, as Σ ln M rises with t.
 */
function farthest(terms: readonly Term[], confidence: number): number {
  const bound = -Math.log(1 - confidence);
  const at = (slope: number): { readonly sum: number; readonly evidence: number } => {
    let [sum, total] = [0, 0];
    for (const { share, arms } of terms) {
      for (const { arm, sign } of arms) {
        const p = pointOfSlope(arm, slope * share * sign);
        sum += share * sign * p;
        total += evidence(arm, p);
      }
    }
    return { sum, evidence: total };
  };
  let [low, high] = [-slopeLogMax, slopeLogMax];
  for (let step = 0; step < slopeSteps; step++) {
    const middle = (low + high) / 2;
    if (at(Math.exp(middle)).evidence < bound) low = middle;
    else high = middle;
  }
  return at(Math.exp(high)).sum;
}
