/** How a budget is spread over the day: sampled less in time, it is not spent by noon. */
import { ofQuorum } from '../jury/jury-panel.ts';

/** Of the budget; so much may be spent at once, and from there to the line below it the rate sinks. */
const headStart = 0.2;
/** Less than this is nothing: a verdict that stands for thousands of runs tells little of them, and it is better said that nobody was asked. */
const shareLeast = 0.02;

export interface DayShares {
  /** Of the day (UTC) that has passed, 0..1. */
  readonly dayShare: number;
  /** Of the day's budget that is spent; above 1 when a call cost more than it could be expected to. */
  readonly spentShare: number;
}

/**
 * What is left of a sample rate, 0..1. A line rises from the head start at midnight to the whole budget at the next: with as much spent as it allows nothing is
 * left of the rate, a head start below it everything, and between them the rate sinks evenly. Traffic that would cost n times
 * the budget settles at one part in n of its rate, down to a fiftieth; traffic that would cost less than the budget without its head start is not held back.
 */
export function pacedShare({ dayShare, spentShare }: DayShares): number {
  const allowed = headStart + (1 - headStart) * dayShare;
  const share = Math.min(1, (allowed - spentShare) / headStart);
  return share < shareLeast ? 0 : share;
}

/** What budgets leave of a sample rate. */
export interface Paced {
  /** 0..1. */
  readonly left: number;
  /** Reason of a decision when nothing is left: the limit that is scarcest. */
  readonly by: string;
}

export const unpaced: Paced = { left: 1, by: '' };

/**
 * What the budget of an evaluator and those of its judges, one for each vote, leave together. Of several judges it is what a quorum of them can keep up: one whose budget is
 * spent gives no vote, and the others go on.
 */
export function pacedBy(own: Paced, judges: readonly Paced[]): Paced {
  const left = ofQuorum(judges.map((one) => one.left));
  const theirs = judges.find((one) => one.left === left);
  return theirs === undefined || own.left <= left ? own : theirs;
}
