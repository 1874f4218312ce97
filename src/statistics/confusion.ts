/** How a judge's verdicts stand to people's labels of the same items. */
import type { Estimate, EstimateOptions } from './estimate.ts';
import { proportion } from './proportion.ts';

/**
 * Counts of items by label and verdict. `positive` is what the caller searches, and the caller says what that is: pass, where a pass rate
 * is to be corrected; fail, where the question is how many faults the judge finds.
 */
export interface Confusion {
  /** Label positive, verdict positive. */
  readonly truePositive: number;
  /** Label negative, verdict positive. */
  readonly falsePositive: number;
  /** Label positive, verdict negative. */
  readonly falseNegative: number;
  readonly trueNegative: number;
}

export interface LabelledVerdict {
  readonly label: boolean;
  readonly verdict: boolean;
}

export function confusion(items: Iterable<LabelledVerdict>): Confusion {
  const counts = { truePositive: 0, falsePositive: 0, falseNegative: 0, trueNegative: 0 };
  for (const { label, verdict } of items) {
    if (label) counts[verdict ? 'truePositive' : 'falseNegative']++;
    else counts[verdict ? 'falsePositive' : 'trueNegative']++;
  }
  return counts;
}

/** Each with Wilson's interval; not estimable where there is nothing to divide by. */
export interface ConfusionRates {
  /** Of all items, those on which label and verdict are the same. */
  readonly accuracy: Estimate;
  /** Of the positive verdicts, those with a positive label. */
  readonly precision: Estimate;
  /** Of the positive labels, those with a positive verdict; also called sensitivity. */
  readonly recall: Estimate;
  /** Of the negative labels, those with a negative verdict. */
  readonly specificity: Estimate;
}

/** The intervals take the items as drawn at random from those that the judge will meet. */
export function confusionRates(
  { truePositive, falsePositive, falseNegative, trueNegative }: Confusion,
  options: EstimateOptions = {},
): ConfusionRates {
  const right = truePositive + trueNegative;
  return {
    accuracy: proportion({ hits: right, of: right + falsePositive + falseNegative }, options),
    precision: proportion({ hits: truePositive, of: truePositive + falsePositive }, options),
    recall: proportion({ hits: truePositive, of: truePositive + falseNegative }, options),
    specificity: proportion({ hits: trueNegative, of: trueNegative + falsePositive }, options),
  };
}
