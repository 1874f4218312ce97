/** Rates that are corrected for a judge that errs, by people's labels of some runs. */
import type { Confusion } from './proportion.ts';
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { normalQuantile, shareInterval } from './distributions.ts';
import { moments, totalVariance, unitSquares, type MomentsData } from './moments.ts';

export interface RoganGladenInput {
  /** The judged pass rate, as `weightedRate` gives it. */
  readonly judged: { readonly point: number; readonly effectiveN: number };
  /** Positive is pass. */
  readonly labelled: Confusion;
  /** Labelled items as a share of the judged runs' effective number: 0 (a separate set) to 1 (all judged runs are labelled). */
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

/**
 * The true pass rate from the judged one and a labelled set that shows how often the judge errs.
 *
 * Rogan and Gladen, “Estimating prevalence from the results of a screening test”, American Journal of Epidemiology 107 (1978): (judged +
 * specificity − 1) / (sensitivity + specificity − 1). The interval is Lang and Reiczigel's, “Confidence limits for prevalence of disease
 * adjusted for estimated sensitivity and specificity”, Preventive Veterinary Medicine 113 (2014): it carries the uncertainty of the
 * judged rate, of the sensitivity and of the specificity.
 *
 * It holds if the labelled items are like the traffic within each class. The choice of labelled runs must not depend on the judge's
 * verdict. Where people label runs that the judge failed, use `predictionPowered` with the probabilities of the labels.
 *
 * `n` is the number of labels, `effectiveN` the number of runs that people would have to label at random for the same standard error.
 */
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
  // Errors on items that are in the judged rate too take themselves out of it: their covariance is counted twice, once for each of the
  // pair.
  const variance = parts.judgedVariance + (1 - 2 * overlap) * ofErrors;
  return { centre: rate + shift, error: Math.sqrt(Math.max(0, variance)) / lift };
}

function within(share: number): number {
  return Math.min(1, Math.max(0, share));
}

export interface JudgedRun {
  /** The judge's: 0..1. */
  readonly verdict: number;
  /** With which the run was chosen to be judged: above 0, at most 1. */
  readonly probability: number;
  readonly session?: string;
  readonly label?: {
    /** The person's verdict, 0..1. */
    readonly value: number;
    /** With which a judged run like this one was chosen to be labelled: above 0, at most 1; the same for all if chosen evenly. */
    readonly probability: number;
  };
}

export interface PredictionPowered extends Estimated {
  /** Number of the `n` judged runs that have a label. */
  readonly labels: number;
  /** 0 (verdicts carry no information, only labels count) to 1. */
  readonly trust: number;
  /** Runs that could not be counted: a verdict, a label or a probability out of its range. */
  readonly refused: number;
}

/**
 * The rate that people would find, from the judge's verdicts on many runs and people's labels on a few of them.
 *
 * Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, “Prediction-powered inference”, Science 382 (2023), with the power tuning of
 * Angelopoulos, Duchi and Zrnic, “PPI++: Efficient prediction-powered inference” (2023): mean label + trust · (mean verdict of all judged
 * runs − mean verdict of the labelled ones). `trust`, 0..1, makes the variance least. So a useless judge has no weight, and the result is
 * that of only the labels. No assumption about the judge is made; labels must have been chosen with known probabilities. Both means are
 * weighted by 1 / p, and the variance is linearised over sessions as in `weighted-rate.ts`, with labelled runs in both means.
 *
 * Reads the runs once and keeps sums. Not estimable with fewer than two labelled units.
 */
export function predictionPowered(
  runs: Iterable<JudgedRun>,
  { confidence = usualConfidence }: EstimateOptions = {},
): PredictionPowered | NotEstimable {
  const { data, n, refused, labels, labelledUnits, labelWeightSquares } = sumsOf(runs);
  if (n === 0) return notEstimable('no_observations');
  if (labels === 0) return notEstimable('no_labels');
  if (labelledUnits < 2) return notEstimable('one_label');
  const [, , labelWeight = 0] = data.totals;
  const squares = unitSquares(data, labelAt);
  const labelledEffectiveN = (labelWeight * labelWeight) / squares;
  const { label, judgedLess, bestTrust } = parts(data, labelledUnits);
  const isEnough = (labelWeight * labelWeight) / labelWeightSquares >= labelsForTrustMin && labelledEffectiveN >= sessionsForTrustMin;
  const trust = isEnough ? bestTrust : 0;
  const factors = label.factors.map((factor, at) => factor + trust * (judgedLess.factors[at] ?? 0));
  const point = Math.min(1, Math.max(0, label.mean + trust * judgedLess.mean));
  const variance = Math.max(0, totalVariance(data, { factors, weightAt: labelAt, units: labelledUnits }));
  const { low, high, effectiveN } = shareInterval({
    point,
    variance,
    unseen: Math.sqrt(labelWeightSquares * squares) / (labelWeight * labelWeight),
    degrees: Math.max(1, labelledEffectiveN - 1),
    confidence,
  });
  return { kind: 'estimated', point, low, high, standardError: Math.sqrt(variance), n, effectiveN, confidence, labels, trust, refused };
}

/**
 * A trust computed from fewer labels fits them too well: of 95 % intervals from 15 labels only 82 % held the truth. Below it only the labels count.
 * In effective numbers: labels, and sessions with labels, that all weigh the same.
 */
export const labelsForTrustMin = 30;
const sessionsForTrustMin = 10;

/** Rows are: weight, weight · verdict, and for labelled runs: weight, weight · label, weight · verdict. */
const labelAt = 2;

interface Sums {
  readonly data: MomentsData;
  readonly n: number;
  readonly refused: number;
  readonly labels: number;
  /** Labelled runs without a session, and groups of sessions with a label. */
  readonly labelledUnits: number;
  readonly labelWeightSquares: number;
}

function sumsOf(runs: Iterable<JudgedRun>): Sums {
  const rows = moments(5);
  let n = 0;
  let refused = 0;
  let labels = 0;
  let labelledAlone = 0;
  let labelWeightSquares = 0;
  for (const { verdict, probability, session, label } of runs) {
    if (
      !isShare(verdict) ||
      !isProbability(probability) ||
      (label !== undefined && !(isShare(label.value) && isProbability(label.probability)))
    ) {
      refused++;
      continue;
    }
    n++;
    const weight = 1 / probability;
    if (label === undefined) {
      rows.add([weight, weight * verdict, 0, 0, 0], session);
      continue;
    }
    const labelWeight = weight / label.probability;
    labels++;
    if (session === undefined) labelledAlone++;
    labelWeightSquares += labelWeight * labelWeight;
    rows.add([weight, weight * verdict, labelWeight, labelWeight * label.value, labelWeight * verdict], session);
  }
  const data = rows.data();
  const labelledUnits = labelledAlone + data.groups.filter(({ totals }) => (totals[labelAt] ?? 0) > 0).length;
  return { data, n, refused, labels, labelledUnits, labelWeightSquares };
}

interface Mean {
  readonly mean: number;
  /** Contribution of each number in a row to the mean's deviation from its expectation. */
  readonly factors: readonly number[];
}

/**
 * The mean label, and the mean verdict of all less that of the labelled. `bestTrust` is how much of the second makes the variance of the
 * sum least.
 */
function parts(data: MomentsData, units: number): { readonly label: Mean; readonly judgedLess: Mean; readonly bestTrust: number } {
  const [weight = 0, judged = 0, labelWeight = 0, labelled = 0, judgedOfLabelled = 0] = data.totals;
  const all = judged / weight;
  const few = judgedOfLabelled / labelWeight;
  const mean = labelled / labelWeight;
  const label = { mean, factors: [0, 0, -mean / labelWeight, 1 / labelWeight, 0] };
  const judgedLess = { mean: all - few, factors: [-all / weight, 1 / weight, few / labelWeight, 0, -1 / labelWeight] };
  const variance = totalVariance(data, { factors: judgedLess.factors, weightAt: labelAt, units });
  const covariance = totalVariance(data, { factors: judgedLess.factors, others: label.factors, weightAt: labelAt, units });
  return { label, judgedLess, bestTrust: variance > 0 ? Math.min(1, Math.max(0, -covariance / variance)) : 0 };
}

function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}

function isProbability(value: number): boolean {
  return value > 0 && value <= 1;
}
