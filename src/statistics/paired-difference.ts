/** How much more often the second of two came out well on the same items, with an interval. */
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { wilson, type Limits } from './proportion.ts';
import { betaBelow, logGamma } from './beta.ts';

export interface PairedCounts {
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

export interface Discordant {
  /** Items on which only the first came out well. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
}

export interface McNemar {
  /** Probability of a difference at least as large if both were equally good: never wrong more often than it says. */
  readonly exact: number;
  /** The same with half of the probability of the very counts seen: closer to the nominal level. */
  readonly midP: number;
}

/**
 * Whether one of two answers to the same items came out well more often; only items on which the two differ count. McNemar, “Note on the
 * sampling error of the difference between correlated proportions or percentages”, Psychometrika 12 (1947), exact with the binomial
 * distribution, and as mid-p (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013).
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
