/** How a judge's budget is spread over the day: sampled less in time, it is not spent by noon. */

/** Of the budget; so much may be spent at once, and from there to the line below it the rate sinks. */
const headStart = 0.2;

export interface DayShares {
  /** Of the day (UTC) that has passed, 0..1. */
  readonly dayShare: number;
  /** Of the day's budget that is spent; above 1 when a call cost more than it could be expected to. */
  readonly spentShare: number;
}

/**
 * What is left of a sample rate, 0..1. A line rises from the head start at midnight to the whole budget at the next: with as much spent as it allows nothing is
 * left of the rate, a head start below it everything, and between them the rate sinks evenly. Traffic that would cost n times
 * the budget settles at one part in n of its rate; traffic that would cost less than the budget without its head start is not held back.
 */
export function pacedShare({ dayShare, spentShare }: DayShares): number {
  const allowed = headStart + (1 - headStart) * dayShare;
  return Math.min(1, Math.max(0, (allowed - spentShare) / headStart));
}
