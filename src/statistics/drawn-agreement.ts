/**
 * How a judge's verdicts stand to people's labels, over all traffic, from labelled runs that were drawn with known, unequal probabilities.
 * Each run counts 1 / p, so each figure is a ratio of two weighted totals (Särndal, Swensson and Wretman, Model Assisted Survey Sampling,
 * 1992, chapter 5). With equal probabilities the points are the plain shares, and that of `cohenKappa`.
 */
import { type Kappa, kappaEstimate } from './cohen-kappa.ts';
import { notEstimable, usualConfidence, type Estimate, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { moments, totalVariance, unitCount, unitSquares } from './moments.ts';
import type { ConfusionRates, LabelledVerdict } from './proportion.ts';
import { kishEffectiveN, rateSums, weightedRate } from './weighted-rate.ts';

export interface DrawnLabel extends LabelledVerdict {
  /** With which the run was judged, drawn and labelled, up to a common factor: above 0, at most 1. */
  readonly probability: number;
  /** Id of the session: its runs resemble one another. */
  readonly session?: string;
}

export interface DrawnAgreement {
  readonly rates: ConfusionRates;
  readonly kappa: Kappa | NotEstimable;
}

/** Effective number of drawn labels below which a share is not estimable: of what the share divides by. */
export const drawnLabelsMin = 10;

/** `label` and `verdict`: true is positive. */
export function drawnAgreement(items: readonly DrawnLabel[], options: EstimateOptions = {}): DrawnAgreement {
  const share = (within: (item: DrawnLabel) => boolean, hit: (item: DrawnLabel) => boolean): Estimate => {
    const own = items.filter(within);
    const sums = rateSums(
      own.map(({ probability, session, ...item }) => ({
        value: hit({ ...item, probability }) ? 1 : 0,
        probability,
        ...(session === undefined ? {} : { session }),
      })),
    ).data();
    return tooFewDrawn(items.length, kishEffectiveN(sums), drawnLabelsMin) ?? weightedRate(sums, options);
  };
  return {
    rates: {
      accuracy: share(() => true, isRight),
      precision: share(({ verdict }) => verdict, isRight),
      recall: share(({ label }) => label, isRight),
      specificity: share(({ label }) => !label, isRight),
    },
    kappa: drawnKappa(items, options),
  };
}

function isRight({ label, verdict }: LabelledVerdict): boolean {
  return label === verdict;
}

/** `labels`: all drawn labels. `effective`: those that count for the figure, in effective number. */
export function tooFewDrawn(labels: number, effective: number, least: number): NotEstimable | undefined {
  if (labels === 0) return notEstimable('no_drawn_labels', `At least ${least} are needed.`);
  // Rounding leaves a little less than the number itself.
  if (effective >= least - 1e-6) return undefined;
  const more = effective === 0 ? undefined : Math.ceil((labels * least) / effective - labels);
  return notEstimable(
    'too_few_drawn_labels',
    more === undefined ? `At least ${least} of this kind are needed.` : `About ${more} more are needed.`,
  );
}

/** Places in a row: weight, and weight · (same, label, verdict). */
const weightAt = 0;

/**
 * Cohen's kappa of weighted shares; its variance is linearised over sessions, as that of a weighted rate. The interval is on Fisher's scale.
 */
function drawnKappa(given: readonly DrawnLabel[], { confidence = usualConfidence }: EstimateOptions): Kappa | NotEstimable {
  // As in a share, a probability out of its range does not count.
  const items = given.filter(({ probability }) => probability > 0 && probability <= 1);
  const rows = moments(4);
  for (const { label, verdict, probability, session } of items) {
    const weight = 1 / probability;
    rows.add([weight, label === verdict ? weight : 0, label ? weight : 0, verdict ? weight : 0], session);
  }
  const data = rows.data();
  const kindOf = (kind: (item: DrawnLabel) => boolean): number =>
    kishEffectiveN(rateSums(items.filter(kind).map(({ probability }) => ({ value: 1, probability }))).data());
  const few = tooFewDrawn(
    items.length,
    Math.min(
      kindOf(({ label }) => label),
      kindOf(({ label }) => !label),
    ),
    drawnLabelsMin,
  );
  if (few !== undefined) return few;
  if (unitCount(data) < 2) return notEstimable('one_session');
  const [weight = 0, ...totals] = data.totals;
  const [agreement = 0, labels = 0, verdicts = 0] = totals.map((total) => total / weight);
  const expected = labels * verdicts + (1 - labels) * (1 - verdicts);
  const apart = 1 - expected;
  const point = (agreement - expected) / apart;
  const byExpected = (agreement - 1) / (apart * apart);
  const slopes = [1 / apart, byExpected * (2 * verdicts - 1), byExpected * (2 * labels - 1)];
  const mean = slopes.reduce((sum, slope, at) => sum + slope * ([agreement, labels, verdicts][at] ?? 0), 0);
  const variance = Math.max(0, totalVariance(data, { factors: [-mean, ...slopes].map((factor) => factor / weight), weightAt }));
  const effectiveN = (weight * weight) / unitSquares(data, weightAt);
  return kappaEstimate({ n: items.length, effectiveN, agreement, expected }, { point, variance, confidence });
}
