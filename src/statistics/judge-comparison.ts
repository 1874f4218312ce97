/** Is a second judge, or a new prompt, better than the first on the same labelled items? */
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { mcNemar, pairedDifference, type PairedCounts } from './paired-difference.ts';

/** One labelled item: whose verdict is the label. */
export interface ComparedItem {
  readonly firstRight: boolean;
  readonly secondRight: boolean;
}

export interface JudgeComparison {
  readonly kind: 'estimated';
  /** Of the second against the first. */
  readonly word: 'better' | 'worse' | 'no_difference_shown';
  /** Accuracy of the second less that of the first, within −1..1. */
  readonly difference: Estimated;
  readonly counts: PairedCounts;
  /** Exact McNemar test: probability of a difference this large between two equally good judges. */
  readonly exactP: number;
  /** The mid-p form, by which the word is chosen. */
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
  if (difference.kind === 'not_estimable') return notEstimable('no_observations');
  const { exact, midP } = mcNemar(counts);
  const isSignificant = midP < 1 - confidence;
  const word = isSignificant && difference.low > 0 ? 'better' : isSignificant && difference.high < 0 ? 'worse' : 'no_difference_shown';
  return { kind: 'estimated', word, difference, counts, exactP: exact, midP };
}
