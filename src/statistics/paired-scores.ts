/**
 * Scores of two versions on the same items: the mean difference with its interval and test.
 *
 * The test flips signs (Fisher, The Design of Experiments, 1935, § 21): where both versions have the same distribution of scores
 * on an item, and as many runs of it, a difference is as likely as its opposite, so each choice of signs is as likely as the observed one. That
 * holds for any such distribution and any number of items; for equal means with other distributions it is an approximation. Studentising changes
 * nothing here: the sum of squares is the same for each choice of signs, so t orders the choices as the sum does.
 *
 * The interval takes the mean gain and the mean loss as two shares, each with the interval of `shareInterval`, and joins them with their
 * correlation (MOVER: Zou and Donner, Statistics in Medicine 27, 2008). Interval and test never disagree: the interval reaches to 0 when the
 * test shows nothing, and the p-value is never below the level at which the interval reaches 0.
 */
import { shareInterval, studentBelow, studentQuantile } from './distributions.ts';
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import type { Limits } from './proportion.ts';
import { seededRandom } from './seeded-random.ts';

/** Difference of two scores from 0 to 1: within −1..1, and so is the interval. */
export interface ScoreDifference extends Estimated {
  /** Two-sided: probability of a difference at least this large between two versions that are equally good. */
  readonly p: number;
  /** The least p-value that as many differing items could give. */
  readonly leastP: number;
  readonly method: 'sign_flip' | 'student_t';
}

/** With as many differing items the test visits all choices of signs, 2 to the power of 19. */
export const everyFlipMax = 20;
/** Choices of signs that are drawn where more items differ. */
const drawsDefault = 9_999;
/**
 * With more differing items Student's t takes over, so a test adds at most 20 million numbers. When differences are symmetric, t errs on the safe
 * side.
 */
export const flippedItemsMax = 2_000;
/** Any number; fixed, so that one comparison gives one answer. */
const seedDefault = 20_240_613;

interface DifferenceOptions extends EstimateOptions {
  /** False when the values are amounts, such as costs, whose differences may be outside −1..1. Default: true. */
  readonly areShares?: boolean;
  readonly draws?: number;
  readonly seed?: number;
}

/** Second score less first score of each item. Not estimable of fewer than two items, nor of amounts that all differ equally. */
export function scoreDifference(
  differences: readonly number[],
  { confidence = usualConfidence, areShares = true, draws = drawsDefault, seed = seedDefault }: DifferenceOptions = {},
): ScoreDifference | NotEstimable {
  const n = differences.length;
  if (n === 0) return notEstimable('no_observations');
  if (n === 1) return notEstimable('one_session');
  const standardError = standardErrorOf(differences);
  if (!areShares && standardError < constantBelow) return notEstimable('no_spread');
  const largest = differences.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const [shares, student] = [limitsOfShares(differences, largest), limitsByStudent(differences)];
  const limits: LimitsAt = (level) => [shares(level), student(level)].find(isWithoutZero) ?? shares(level);
  const flips = flipped(differences, areShares ? 1 : largest);
  const isFlipped = flips.sizes.length <= flippedItemsMax;
  const tested = isFlipped ? signFlipP(flips, { draws, seed }) : studentP(differences);
  const { low, high } = limits(confidence);
  const isShown = tested < 1 - confidence;
  return {
    kind: 'estimated',
    point: mean(differences),
    low: isShown ? low : Math.min(0, low),
    high: isShown ? high : Math.max(0, high),
    standardError,
    n,
    effectiveN: n,
    confidence,
    p: levelAtZero(limits, tested),
    leastP: isFlipped ? leastFlipP(flips, draws) : 0,
    method: isFlipped ? 'sign_flip' : 'student_t',
  };
}

/** The rounding error of the standard error of equal differences. */
const constantBelow = 1e-12;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardErrorOf(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length);
}

/** The interval at each confidence. */
type LimitsAt = (confidence: number) => Limits;

function isWithoutZero({ low, high }: Limits): boolean {
  return low > 0 || high < 0;
}

export function limitsByStudent(differences: readonly number[]): LimitsAt {
  const [point, standardError] = [mean(differences), standardErrorOf(differences)];
  return (confidence) => {
    const half = studentQuantile((1 + confidence) / 2, differences.length - 1) * standardError;
    return { low: point - half, high: point + half };
  };
}

/** `largest`: no difference that was not seen is supposed to be larger. */
function limitsOfShares(differences: readonly number[], largest: number): LimitsAt {
  const n = differences.length;
  const shareOf = (sign: 1 | -1) => {
    const values = differences.map((value) => Math.max(0, sign * value) / largest);
    return { point: mean(values), variance: standardErrorOf(values) ** 2, unseen: 1 / n, degrees: n - 1 };
  };
  const [gain, loss] = [shareOf(1), shareOf(-1)];
  // No item both gains and loses.
  const covariance = (-gain.point * loss.point) / (n - 1);
  const correlation = covariance === 0 ? 0 : Math.max(-1, covariance / Math.sqrt(gain.variance * loss.variance));
  const joined = (one: number, other: number): number => Math.sqrt(one * one - 2 * correlation * one * other + other * other);
  const point = gain.point - loss.point;
  return (confidence) => {
    const [up, down] = [shareInterval({ ...gain, confidence }), shareInterval({ ...loss, confidence })];
    return {
      low: largest * (point - joined(gain.point - up.low, down.high - loss.point)),
      high: largest * (point + joined(up.high - gain.point, loss.point - down.low)),
    };
  };
}

export function studentP(differences: readonly number[]): number {
  return Math.min(1, 2 * studentBelow(-Math.abs(mean(differences) / standardErrorOf(differences)), differences.length - 1));
}

/** The level, not below `least`, at which the interval just reaches 0. */
function levelAtZero(limits: LimitsAt, least: number): number {
  const isOutside = (level: number): boolean => isWithoutZero(limits(1 - level));
  let [outside, inside] = [Math.max(least, levelMin), 1];
  if (isOutside(outside)) return least;
  for (let step = 0; step < levelSteps; step++) {
    const middle = Math.sqrt(outside * inside);
    if (isOutside(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

/** A p-value below it reads the same. */
const levelMin = 1e-12;
const levelSteps = 40;

/** Whole numbers, so that equal sums are equal: differences of means of up to fourteen runs are multiples of a part of it. */
const wholePerUnit = 720_720_000;

interface Flips {
  /** Above 0, descending, so that neither the order nor the direction of the items changes the draws. */
  readonly sizes: readonly number[];
  readonly sum: number;
}

function flipped(differences: readonly number[], largest: number): Flips {
  const whole = differences.map((value) => Math.round((value / largest) * wholePerUnit)).filter((value) => value !== 0);
  return { sizes: whole.map(Math.abs).sort((one, other) => other - one), sum: Math.abs(whole.reduce((sum, value) => sum + value, 0)) };
}

function signFlipP(flips: Flips, { draws, seed }: { readonly draws: number; readonly seed: number }): number {
  if (flips.sizes.length === 0) return 1;
  return flips.sizes.length <= everyFlipMax ? everyFlipP(flips) : drawnFlipP(flips, draws, seed);
}

/** The p-value when all of the differing items changed in one direction. */
function leastFlipP({ sizes }: Flips, draws: number): number {
  return sizes.length <= everyFlipMax ? 2 ** (1 - Math.max(1, sizes.length)) : 1 / (draws + 1);
}

/** Share of all choices of signs whose sum is at least as large, in the order of a Gray code: one sign changes at a time. */
function everyFlipP({ sizes: [first = 0, ...others], sum }: Flips): number {
  // The first sign is kept: the other half of the choices mirrors this one.
  const choices = 2 ** others.length;
  const signed = [...others];
  let total = first + signed.reduce((all, size) => all + size, 0);
  let extreme = Math.abs(total) >= sum ? 1 : 0;
  for (let choice = 1; choice < choices; choice++) {
    const at = 31 - Math.clz32(choice & -choice);
    const turned = -(signed[at] ?? 0);
    signed[at] = turned;
    total += 2 * turned;
    if (Math.abs(total) >= sum) extreme++;
  }
  return extreme / choices;
}

const signsPerDraw = 32;

/** The observed choice counts as one of those drawn, so the p-value is never too small (Phipson and Smyth, SAGMB 9, 2010). */
function drawnFlipP({ sizes, sum }: Flips, draws: number, seed: number): number {
  const random = seededRandom(seed);
  const values = Float64Array.from(sizes);
  let extreme = 1;
  for (let draw = 0; draw < draws; draw++) {
    let total = 0;
    let signs = 0;
    for (let at = 0; at < values.length; at++) {
      signs = at % signsPerDraw === 0 ? random() * 2 ** signsPerDraw : signs >>> 1;
      // A branch on chance takes four times as long.
      total += (1 - 2 * (signs & 1)) * (values[at] ?? 0);
    }
    if (Math.abs(total) >= sum) extreme++;
  }
  return extreme / (draws + 1);
}
