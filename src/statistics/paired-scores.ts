/**
 * Scores of two versions on the same items: the mean difference with its interval and test.
 *
 * The bootstrap draws items with replacement and is bias-corrected and accelerated (BCa: Efron, “Better bootstrap confidence intervals”,
 * Journal of the American Statistical Association 82, 1987). Its p-value is the level at which its interval just reaches 0, so interval and
 * test never disagree. The paired t-test (Student, Biometrika 6, 1908) serves where too few items are there to draw from, or too many.
 */
import { normalBelow, normalQuantile, shareInterval, studentBelow, studentQuantile } from './distributions.ts';
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { seededRandom } from './seeded-random.ts';

/** Difference of two scores from 0 to 1: within −1..1, and so is the interval. */
export interface ScoreDifference extends Estimated {
  /** Two-sided: probability of a difference at least this large between two versions that are equally good. */
  readonly p: number;
  readonly method: 'bootstrap' | 'student_t' | 'sign_test';
}

/** With fewer items the drawn means vary too little, and the intervals are too narrow. */
export const bootstrapItemsMin = 20;
/** With more items the mean is normal for every practical purpose, and the bootstrap would take seconds. */
export const bootstrapItemsMax = 5_000;
const resamplesDefault = 10_000;
/** Any number; fixed, so that one comparison gives one answer. */
const seedDefault = 20_240_613;

interface DifferenceOptions extends EstimateOptions {
  /** False: the values are amounts, such as costs, whose differences may lie outside of −1..1. Default: true. */
  readonly areShares?: boolean;
}

interface BootstrapOptions extends DifferenceOptions {
  readonly resamples?: number;
  readonly seed?: number;
}

/** Second score less first score of each item. Not estimable of fewer than two items. */
export function scoreDifference(differences: readonly number[], options: BootstrapOptions = {}): ScoreDifference | NotEstimable {
  const n = differences.length;
  if (n === 0) return notEstimable('no_observations');
  if (n === 1) return notEstimable('one_session');
  if (spread(differences).squares <= constantBelow) return constantDifference(differences, options);
  return n < bootstrapItemsMin || n > bootstrapItemsMax ? pairedT(differences, options) : pairedBootstrap(differences, options);
}

/** What rounding leaves of the squares of equal differences. */
const constantBelow = 1e-24;

/**
 * All items differ by the same amount, so the data say nothing about the spread. The width is that of one item which was not seen; the test
 * is the exact sign test.
 */
function constantDifference(
  differences: readonly number[],
  { confidence = usualConfidence, areShares = true }: DifferenceOptions,
): ScoreDifference | NotEstimable {
  const n = differences.length;
  const point = differences[0] ?? 0;
  if (!areShares) return notEstimable('no_spread');
  const { low, high, effectiveN } = shareInterval({
    point: (point + 1) / 2,
    variance: 0,
    unseen: 1 / n,
    degrees: Math.max(1, n - 1),
    confidence,
  });
  return {
    kind: 'estimated',
    point,
    low: 2 * low - 1,
    high: 2 * high - 1,
    standardError: 0,
    n,
    effectiveN,
    confidence,
    p: point === 0 ? 1 : Math.min(1, 2 ** (1 - n)),
    method: 'sign_test',
  };
}

/** For differences that are not all the same. */
export function pairedT(
  differences: readonly number[],
  { confidence = usualConfidence, areShares = true }: DifferenceOptions = {},
): ScoreDifference {
  const n = differences.length;
  const { mean, squares } = spread(differences);
  const standardError = Math.sqrt(squares / (n - 1) / n);
  const half = studentQuantile((1 + confidence) / 2, n - 1) * standardError;
  return {
    ...estimated({ mean, low: mean - half, high: mean + half, standardError, n, confidence, areShares }),
    p: Math.min(1, 2 * studentBelow(-Math.abs(mean / standardError), n - 1)),
    method: 'student_t',
  };
}

/** For differences that are not all the same. */
export function pairedBootstrap(
  differences: readonly number[],
  { confidence = usualConfidence, areShares = true, resamples = resamplesDefault, seed = seedDefault }: BootstrapOptions = {},
): ScoreDifference {
  const n = differences.length;
  const { mean, squares, cubes } = spread(differences);
  const means = resampledMeans(differences, { resamples, seed });
  const bias = normalQuantile(shareBelow(means, mean));
  // Of the mean, the jackknife has a closed form.
  const acceleration = cubes / (6 * squares ** 1.5);
  const level = (probability: number): number => {
    const shifted = bias + normalQuantile(probability);
    return normalBelow(bias + shifted / (1 - acceleration * shifted));
  };
  const [low, high] = [(1 - confidence) / 2, (1 + confidence) / 2].map((probability) => quantile(means, level(probability)));
  // The inverse of `level`: which probability has its limit at 0.
  const atZero = normalQuantile(shareBelow(means, 0)) - bias;
  const tail = normalBelow(atZero / (1 + acceleration * atZero) - bias);
  return {
    ...estimated({ mean, low: low ?? mean, high: high ?? mean, standardError: Math.sqrt(squares / (n - 1) / n), n, confidence, areShares }),
    p: Math.min(1, 2 * Math.min(tail, 1 - tail)),
    method: 'bootstrap',
  };
}

function estimated({
  mean,
  low,
  high,
  standardError,
  n,
  confidence,
  areShares,
}: {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly standardError: number;
  readonly n: number;
  readonly confidence: number;
  readonly areShares: boolean;
}): Estimated {
  return {
    kind: 'estimated',
    point: mean,
    low: areShares ? Math.max(-1, low) : low,
    high: areShares ? Math.min(1, high) : high,
    standardError,
    n,
    effectiveN: n,
    confidence,
  };
}

/** The mean, and the sums of squares and cubes around it. */
function spread(values: readonly number[]): { readonly mean: number; readonly squares: number; readonly cubes: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let squares = 0;
  let cubes = 0;
  for (const value of values) {
    squares += (value - mean) ** 2;
    cubes += (value - mean) ** 3;
  }
  return { mean, squares, cubes };
}

/** In ascending order. */
function resampledMeans(
  values: readonly number[],
  { resamples, seed }: { readonly resamples: number; readonly seed: number },
): Float64Array {
  const random = seededRandom(seed);
  const n = values.length;
  const given = Float64Array.from(values);
  const means = new Float64Array(resamples);
  for (let at = 0; at < resamples; at++) {
    let sum = 0;
    for (let draw = 0; draw < n; draw++) sum += given[Math.floor(random() * n)] ?? 0;
    means[at] = sum / n;
  }
  return means.sort();
}

/** What rounding may do to a mean. */
const equalWithin = 1e-12;

/** Share of the means below a value, equal ones by half; never 0 or 1, for a sample of means ends somewhere. */
function shareBelow(means: Float64Array, value: number): number {
  let below = 0;
  let equal = 0;
  for (const mean of means) {
    if (mean < value - equalWithin) below++;
    else if (mean <= value + equalWithin) equal++;
    else break;
  }
  return Math.min(means.length - 0.5, Math.max(0.5, below + equal / 2)) / means.length;
}

/** Between the two nearest means, as NumPy's default. */
function quantile(means: Float64Array, probability: number): number {
  const place = Math.min(1, Math.max(0, probability)) * (means.length - 1);
  const before = means[Math.floor(place)] ?? 0;
  const after = means[Math.ceil(place)] ?? before;
  return before + (after - before) * (place - Math.floor(place));
}
