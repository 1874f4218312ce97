/**
 * The true pass rate from the judged one and a labelled set that shows how often the judge errs.
 *
 * Rogan and Gladen, “Estimating prevalence from the results of a screening test”, American Journal of Epidemiology 107 (1978):
 * (judged + specificity − 1) / (sensitivity + specificity − 1). The interval is Lang and Reiczigel's, “Confidence limits for prevalence of
 * disease adjusted for estimated sensitivity and specificity”, Preventive Veterinary Medicine 113 (2014): it carries what is not known of
 * the judged rate, of the sensitivity and of the specificity.
 *
 * It holds if the labelled items are like the traffic within each class: whether a run got a label must not hang on the judge's verdict.
 * Where people label what the judge failed, use `predictionPowered` with the probabilities of the labels.
 */
import type { Confusion } from './confusion.ts';
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { normalQuantile } from './normal.ts';

export interface RoganGladenInput {
  /** The judged pass rate, as `weightedRate` gives it. */
  readonly judged: { readonly point: number; readonly effectiveN: number };
  /** Positive is pass. */
  readonly labelled: Confusion;
  /** Share of the judged runs' effective number that the labelled items are: 0 (a set of its own) to 1 (all judged runs are labelled). */
  readonly overlap?: number;
}

export interface CorrectedRate extends Estimated {
  /** Share of the labelled passes that the judge passed. */
  readonly sensitivity: number;
  /** Share of the labelled fails that the judge failed. */
  readonly specificity: number;
  /** The correction gave less than 0 or more than 1 and was cut: judge and labels do not quite fit this traffic, or chance. */
  readonly cut: boolean;
}

/** `n` is the number of labels, `effectiveN` the number of runs that people would have to label at random for the same standard error. */
export function roganGladen(
  { judged, labelled, overlap = 0 }: RoganGladenInput,
  { confidence = usualConfidence }: EstimateOptions = {},
): CorrectedRate | NotEstimable {
  const passing = labelled.truePositive + labelled.falseNegative;
  const failing = labelled.trueNegative + labelled.falsePositive;
  if (passing + failing === 0) return notEstimable('no_labels');
  if (passing === 0) return notEstimable('no_passing_labels');
  if (failing === 0) return notEstimable('no_failing_labels');
  const sensitivity = labelled.truePositive / passing;
  const specificity = labelled.trueNegative / failing;
  if (sensitivity + specificity <= 1) return notEstimable('judge_no_better_than_chance');
  const z = normalQuantile((1 + confidence) / 2);
  const smoothed = smoothedParts({ judged, labelled, passing, failing, z });
  const lift = smoothed.sensitivity + smoothed.specificity - 1;
  // Below this the denominator may be 0, and the rate anything.
  if (lift <= z * Math.sqrt(smoothed.sensitivityVariance + smoothed.specificityVariance))
    return notEstimable('judge_not_shown_better_than_chance');
  const raw = (judged.point + specificity - 1) / (sensitivity + specificity - 1);
  const point = within(raw);
  const { centre, error } = spread(smoothed, { lift, overlap, z });
  return {
    kind: 'estimated',
    point,
    low: Math.min(point, within(centre - z * error)),
    high: Math.max(point, within(centre + z * error)),
    standardError: error,
    n: passing + failing,
    effectiveN: within(centre) * (1 - within(centre)) > 0 ? (within(centre) * (1 - within(centre))) / (error * error) : passing + failing,
    confidence,
    sensitivity,
    specificity,
    cut: raw !== point,
  };
}

interface Smoothed {
  readonly judged: number;
  readonly judgedVariance: number;
  readonly sensitivity: number;
  readonly sensitivityVariance: number;
  readonly specificity: number;
  readonly specificityVariance: number;
}

interface Counted extends Pick<RoganGladenInput, 'judged' | 'labelled'> {
  readonly passing: number;
  readonly failing: number;
  readonly z: number;
}

/** One item more of each kind for the judge's errors, z² runs more for the judged rate. */
function smoothedParts({ judged, labelled, passing, failing, z }: Counted): Smoothed {
  const runs = judged.effectiveN + z * z;
  const rate = (judged.effectiveN * judged.point + (z * z) / 2) / runs;
  const sensitivity = (labelled.truePositive + 1) / (passing + 2);
  const specificity = (labelled.trueNegative + 1) / (failing + 2);
  return {
    judged: rate,
    judgedVariance: (rate * (1 - rate)) / runs,
    sensitivity,
    sensitivityVariance: (sensitivity * (1 - sensitivity)) / (passing + 2),
    specificity,
    specificityVariance: (specificity * (1 - specificity)) / (failing + 2),
  };
}

function spread(
  parts: Smoothed,
  { lift, overlap, z }: { readonly lift: number; readonly overlap: number; readonly z: number },
): { readonly centre: number; readonly error: number } {
  const rate = (parts.judged + parts.specificity - 1) / lift;
  const shift = 2 * z * z * (rate * parts.sensitivityVariance - (1 - rate) * parts.specificityVariance);
  const ofErrors = rate * rate * parts.sensitivityVariance + (1 - rate) * (1 - rate) * parts.specificityVariance;
  // Errors on items that are in the judged rate too take themselves out of it: their covariance is counted twice, once for each of the pair.
  const variance = parts.judgedVariance + (1 - 2 * overlap) * ofErrors;
  return { centre: rate + shift, error: Math.sqrt(Math.max(0, variance)) / lift };
}

function within(share: number): number {
  return Math.min(1, Math.max(0, share));
}
