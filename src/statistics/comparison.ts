/** Two sets of verdicts on the same items: two judges, a judge before and after a new prompt, or a judge asked again later. */
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable, type Estimate } from './estimate.ts';
import { wilson, type Limits, proportion } from './proportion.ts';
import { betaBelow, logGamma } from './distributions.ts';

interface PairedCounts {
  readonly both: number;
  readonly onlyFirst: number;
  readonly onlySecond: number;
  readonly neither: number;
}

/**
 * Share of the second less share of the first: `point` and its interval lie within −1..1, and `effectiveN` is the number of items.
 * Newcombe, “Improved confidence intervals for the difference between binomial proportions based on paired data”, Statistics in Medicine
 * 17 (1998), method 10. Not estimable of no items.
 */
export function pairedDifference(counts: PairedCounts, { confidence = usualConfidence }: EstimateOptions = {}): Estimated | NotEstimable {
  const { both, onlyFirst, onlySecond, neither } = counts;
  const n = both + onlyFirst + onlySecond + neither;
  if (n === 0) return notEstimable('no_observations');
  const first = shareWithLimits({ hits: both + onlyFirst, of: n }, confidence);
  const second = shareWithLimits({ hits: both + onlySecond, of: n }, confidence);
  const point = second.share - first.share;
  const likeness = correlation(counts, n);
  return {
    kind: 'estimated',
    point,
    low: Math.max(-1, point - joined(second.share - second.low, first.high - first.share, likeness)),
    high: Math.min(1, point + joined(second.high - second.share, first.share - first.low, likeness)),
    standardError: Math.sqrt(Math.max(0, (onlyFirst + onlySecond) / n - point * point) / n),
    n,
    effectiveN: n,
    confidence,
  };
}

function shareWithLimits(count: { readonly hits: number; readonly of: number }, confidence: number): Limits & { readonly share: number } {
  return { share: count.hits / count.of, ...wilson(count, confidence) };
}

function joined(one: number, other: number, likeness: number): number {
  return Math.sqrt(Math.max(0, one * one - 2 * likeness * one * other + other * other));
}

/** Phi, with a correction for continuity where it is above 0. */
function correlation({ both, onlyFirst, onlySecond, neither }: PairedCounts, n: number): number {
  const product = both * neither - onlyFirst * onlySecond;
  const corrected = product > 0 ? Math.max(0, product - n / 2) : product;
  const margins = (both + onlyFirst) * (onlySecond + neither) * (both + onlySecond) * (onlyFirst + neither);
  return margins === 0 ? 0 : corrected / Math.sqrt(margins);
}

interface Discordant {
  /** Items on which only the first came out well. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
}

interface McNemar {
  /** Probability of a difference at least as large if both were equally good: its error rate never exceeds the stated one. */
  readonly exact: number;
  /** The same with half of the probability of the very counts seen: closer to the nominal level. */
  readonly midP: number;
}

/**
 * Tests whether one of two answers to the same items came out well more often; only items on which the two differ count. McNemar, “Note on the
 * sampling error of the difference between correlated proportions or percentages”, Psychometrika 12 (1947), exact with the binomial distribution, and
 * as mid-p (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013).
 */
export function mcNemar({ onlyFirst, onlySecond }: Discordant): McNemar {
  const differing = onlyFirst + onlySecond;
  if (differing === 0) return { exact: 1, midP: 1 };
  const fewer = Math.min(onlyFirst, onlySecond);
  // P(X ≤ fewer) of a fair coin thrown `differing` times.
  const tail = fewer >= differing ? 1 : betaBelow(0.5, { a: differing - fewer, b: fewer + 1 });
  const exactlySo = Math.exp(logGamma(differing + 1) - logGamma(fewer + 1) - logGamma(differing - fewer + 1) - differing * Math.LN2);
  return { exact: Math.min(1, 2 * tail), midP: Math.min(1, 2 * tail - exactlySo) };
}

/** One labelled item: whose verdict is the label. */
interface ComparedItem {
  readonly firstRight: boolean;
  readonly secondRight: boolean;
}

export interface JudgeComparison {
  readonly kind: 'estimated';
  /** The second against the first. */
  readonly word: 'better' | 'worse' | 'no_difference_shown';
  /** Accuracy of the second less that of the first, within −1..1. */
  readonly difference: Estimated;
  readonly counts: PairedCounts;
  /** Exact McNemar test: probability of a difference this large between two equally good judges. */
  readonly exactP: number;
  /** The mid-p form, which decides the word. */
  readonly midP: number;
}

/**
 * `better` and `worse` need both: mid-p below 1 − confidence, and an interval without 0. `no_difference_shown` does not say that the two
 * are equally good: the interval shows how large a difference the items leave open. Not estimable of no items.
 */
export function compareJudges(
  items: Iterable<ComparedItem>,
  { confidence = usualConfidence }: EstimateOptions = {},
): JudgeComparison | NotEstimable {
  const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 };
  for (const { firstRight, secondRight } of items)
    counts[firstRight ? (secondRight ? 'both' : 'onlyFirst') : secondRight ? 'onlySecond' : 'neither']++;
  const difference = pairedDifference(counts, { confidence });
  if (difference.kind === 'not_estimable') return difference;
  const { exact, midP } = mcNemar(counts);
  const isSignificant = midP < 1 - confidence;
  const word = isSignificant && difference.low > 0 ? 'better' : isSignificant && difference.high < 0 ? 'worse' : 'no_difference_shown';
  return { kind: 'estimated', word, difference, counts, exactP: exact, midP };
}

/** The verdicts on one item, then and now. */
export interface RepeatedVerdict {
  readonly before: boolean;
  readonly after: boolean;
}

export interface VerdictDrift {
  readonly kind: 'estimated';
  /** `passes_more` and `passes_less`: the set's pass rate moved by more than chance explains at this look's level. */
  readonly word: 'passes_more' | 'passes_less' | 'no_change_shown';
  /** Pass rate now less pass rate then, within −1..1. */
  readonly change: Estimated;
  /** Share of the items whose verdict is another one, in either direction. A judge that wavers flips without drifting. */
  readonly flipped: Estimate;
  /** Mid-p of McNemar's test. */
  readonly p: number;
  /** The level that p was held against. */
  readonly level: number;
}

/**
 * Compares each look with one and the same earlier answer; `sequentialLevel` documents the control over the looks. Verdicts that waver with equal
 * probability both ways are not a drift. Not estimable without items.
 */
export function verdictDrift(items: Iterable<RepeatedVerdict>, options: SequentialTestOptions = {}): VerdictDrift | NotEstimable {
  const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 };
  for (const { before, after } of items) counts[before ? (after ? 'both' : 'onlyFirst') : after ? 'onlySecond' : 'neither']++;
  const change = pairedDifference(counts, options);
  if (change.kind === 'not_estimable') return change;
  const { midP } = mcNemar(counts);
  const level = sequentialLevel(options);
  const word =
    midP >= level || counts.onlyFirst === counts.onlySecond
      ? 'no_change_shown'
      : counts.onlySecond > counts.onlyFirst
        ? 'passes_more'
        : 'passes_less';
  return {
    kind: 'estimated',
    word,
    change,
    flipped: proportion({ hits: counts.onlyFirst + counts.onlySecond, of: change.n }, options),
    p: midP,
    level,
  };
}

/**
 * A repeated test finds something by chance sooner or later. So each look of a schedule gets a part of the level. The probability of one false alarm
 * or more, over all looks together, stays below the whole, with any dependence of the looks (Bonferroni's inequality). The price is power: the test
 * detects a change only when it is larger, or lasts longer.
 */
interface SequentialTestOptions extends EstimateOptions {
  /** The look's place in a schedule; the only look when left out. */
  readonly schedule?: Schedule;
}

interface Schedule {
  /** Number of this look, from 1. */
  readonly look: number;
  /** Number of planned looks; those beyond get nothing. Without a plan look k gets 1 / (k (k + 1)) of the level, for ever. */
  readonly planned?: number;
}

/** The level, 0..1, below which the p-value of this look shows a change: 1 − confidence, or the part of it that the look gets. */
export function sequentialLevel({ confidence = usualConfidence, schedule }: SequentialTestOptions): number {
  const level = 1 - confidence;
  if (schedule === undefined) return level;
  const { look, planned } = schedule;
  if (!(look >= 1)) return 0;
  if (planned !== undefined) return look <= planned ? level / planned : 0;
  return level / (look * (look + 1));
}
