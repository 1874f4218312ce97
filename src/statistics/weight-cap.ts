/**
 * Bounds what one run can weigh. A run counts 1 / p, and p comes in part from outside: of few runs one with a tiny p would be the rate. Weights
 * beyond a share of the whole are cut to it (weight trimming: Potter, A study of procedures to identify and trim extreme sampling weights, 1990).
 * That leans towards the runs with small weights, so how many were cut is told.
 */

/** Of all weight, what one run may have. */
export const weightShareMax = 0.05;
/** Of fewer runs each may have as much as so many average ones. */
export const averageRunsMax = 3;

export interface CappedWeights {
  /** No weight is larger; Infinity: none was cut. */
  readonly weightMax: number;
  /** Weights that were cut. */
  readonly capped: number;
  /** Of all weight, the part of the heaviest run, before weights were cut. 0: there are no runs. */
  readonly largestShare: number;
}

/** Probabilities out of their range are passed over. */
export function cappedWeights(probabilities: readonly number[]): CappedWeights {
  const weights = probabilities
    .filter((probability) => probability > 0 && probability <= 1)
    .map((probability) => 1 / probability)
    .sort((one, other) => other - one);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const share = Math.max(weightShareMax, averageRunsMax / Math.max(1, weights.length));
  const largestShare = total === 0 ? 0 : (weights[0] ?? 0) / total;
  let [rest, capped, weightMax] = [total, 0, Infinity];
  // What k cut weights may be each: the share of the k of them and the rest together.
  while (capped < weights.length && share * (capped + 1) < 1) {
    const next = weights[capped] ?? 0;
    if (next <= share * (rest + (weightMax === Infinity ? 0 : capped * weightMax))) break;
    rest -= next;
    capped++;
    weightMax = (share * rest) / (1 - share * capped);
  }
  return { weightMax, capped, largestShare };
}
