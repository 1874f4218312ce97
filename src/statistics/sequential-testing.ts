/**
 * A repeated test finds something by chance sooner or later. So each look of a schedule gets a part of the level. The probability of one
 * false alarm or more, over all looks together, stays below the whole, whatever the dependence of the looks (Bonferroni's inequality). The
 * price is power: the test detects a change only when it is larger, or lasts longer.
 */
import { usualConfidence, type EstimateOptions } from './estimate.ts';

export interface SequentialTestOptions extends EstimateOptions {
  /** The look's place in a schedule; the only look when left out. */
  readonly schedule?: Schedule;
}

export interface Schedule {
  /** Which look this is, from 1. */
  readonly look: number;
  /** How many are planned; those beyond get nothing. Without a plan look k gets 1 / (k (k + 1)) of the level, for ever. */
  readonly planned?: number;
}

/** The level, 0..1, below which the p-value of this look shows a change: 1 − confidence, or the part of it that the look gets. */
export function sequentialLevel({ confidence = usualConfidence, schedule }: SequentialTestOptions): number {
  const level = 1 - confidence;
  if (schedule === undefined) return level;
  const { look, planned } = schedule;
  if (!(look >= 1)) return 0;
  if (planned !== undefined) return look <= planned ? level / planned : 0;
  return level / (look * (look + 1));
}
