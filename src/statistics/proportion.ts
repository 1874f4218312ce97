/** A share of independent items that all count the same, and how a judge's verdicts stand to people's labels of the same items. */
import { notEstimable, usualConfidence, type Estimate, type EstimateOptions } from './estimate.ts';
import { normalQuantile } from './distributions.ts';

interface Count {
  readonly hits: number;
  /** Number of items; may be fractional when it is an effective number. */
  readonly of: number;
}

/** The share and Wilson's score interval (Journal of the American Statistical Association 22, 1927). Not estimable of no items. */
export function proportion({ hits, of }: Count, { confidence = usualConfidence }: EstimateOptions = {}): Estimate {
  if (!(of > 0)) return notEstimable('no_observations');
  const point = hits / of;
  const { low, high } = wilson({ hits, of }, confidence);
  return { kind: 'estimated', point, low, high, standardError: Math.sqrt((point * (1 - point)) / of), n: of, effectiveN: of, confidence };
}

export interface Limits {
  readonly low: number;
  readonly high: number;
}

export function wilson({ hits, of }: Count, confidence: number): Limits {
  const z = normalQuantile((1 + confidence) / 2);
  const share = hits / of;
  const widened = 1 + (z * z) / of;
  const centre = (share + (z * z) / (2 * of)) / widened;
  const half = (z / widened) * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return { low: hits <= 0 ? 0 : Math.max(0, centre - half), high: hits >= of ? 1 : Math.min(1, centre + half) };
}

/**
 * Counts of items by label and verdict. The caller chooses `positive`: pass, where a pass rate is to be corrected; fail, where the question is how
 * many faults the judge finds.
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

/** Not estimable where there is nothing to divide by. */
export interface ConfusionRates {
  /** Share of all items whose label and verdict are the same. */
  readonly accuracy: Estimate;
  /** Share of the positive verdicts with a positive label. */
  readonly precision: Estimate;
  /** Share of the positive labels with a positive verdict; also called sensitivity. */
  readonly recall: Estimate;
  /** Share of the negative labels with a negative verdict. */
  readonly specificity: Estimate;
}
