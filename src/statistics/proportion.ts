/** A share of independent items that all count the same. */
import { notEstimable, usualConfidence, type Estimate, type EstimateOptions } from './estimate.ts';
import { normalQuantile } from './normal.ts';

export interface Count {
  readonly hits: number;
  /** Of so many items; may lie between whole numbers when it is an effective number. */
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
