/** Did a rate change between two periods, or does it differ between two agents? */
import { type Estimate, type Estimated, type NotEstimable } from './estimate.ts';
import { normalBelow } from './normal.ts';
import { sequentialLevel, type SequentialTestOptions } from './sequential-testing.ts';

export interface RateChange {
  readonly kind: 'estimated';
  readonly word: 'higher' | 'lower' | 'no_change_shown';
  /** The later rate less the earlier one; the interval has the confidence of the two rates'. */
  readonly point: number;
  readonly low: number;
  readonly high: number;
  /** Two-sided probability of a difference this large if the rates were the same. */
  readonly p: number;
  /** The level that p was held against. */
  readonly level: number;
}

/** Rates of two independent sets of runs: no session in both. */
export interface TwoRates {
  readonly before: Estimate;
  readonly after: Estimate;
}

/**
 * The interval joins those of the two rates (Newcombe, “Interval estimation for the difference between independent proportions”, Statistics
 * in Medicine 17, 1998, method 10; for weighted rates as MOVER: Zou and Donner, Statistics in Medicine 27, 2008). The p-value is of the score
 * test with both rates put together, counted in effective runs. Over a schedule of looks `levelOfLook` says what is controlled.
 */
export function rateChange({ before, after }: TwoRates, options: SequentialTestOptions = {}): RateChange | NotEstimable {
  if (before.kind === 'not_estimable') return before;
  if (after.kind === 'not_estimable') return after;
  const point = after.point - before.point;
  const p = twoSided(before, after);
  const level = sequentialLevel(options);
  return {
    kind: 'estimated',
    word: p >= level || point === 0 ? 'no_change_shown' : point > 0 ? 'higher' : 'lower',
    point,
    low: Math.max(-1, point - Math.hypot(after.point - after.low, before.high - before.point)),
    high: Math.min(1, point + Math.hypot(after.high - after.point, before.point - before.low)),
    p,
    level,
  };
}

function twoSided(before: Estimated, after: Estimated): number {
  const together = (before.point * before.effectiveN + after.point * after.effectiveN) / (before.effectiveN + after.effectiveN);
  const variance = together * (1 - together) * (1 / before.effectiveN + 1 / after.effectiveN);
  return variance > 0 ? 2 * normalBelow(-Math.abs(after.point - before.point) / Math.sqrt(variance)) : 1;
}
