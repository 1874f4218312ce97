/**
 * The result of every estimator here: an estimate with an interval, or the reason why there is none. Missing values are never filled in.
 */

export type Estimate = Estimated | NotEstimable;

export interface Estimated {
  readonly kind: 'estimated';
  /** Point estimate; a share from 0 to 1 unless the function documents another range. */
  readonly point: number;
  /** Ends of the interval; the share `confidence` of such intervals contains the true value. Within the range of `point`. */
  readonly low: number;
  readonly high: number;
  /** Standard error of `point`. 0 without variation in the data; the interval then still has a width. */
  readonly standardError: number;
  /** Number of runs, items or labels. */
  readonly n: number;
  /** Number of independent, equally probable runs with the same information. */
  readonly effectiveN: number;
  /** From 0 to 1, usually 0.95. */
  readonly confidence: number;
}

export interface NotEstimable {
  readonly kind: 'not_estimable';
  readonly reason: NotEstimableReason;
  /** One sentence for people. */
  readonly explanation: string;
}

const explanations = {
  no_observations: 'Nothing was judged yet.',
  one_session: 'Only one run or session was judged: it does not show how others would do.',
  no_common_example: 'No example has a value on both sides.',
  one_common_example: 'Only one example has a value on both sides: it does not show how others would do.',
  no_common_tasks: 'No task has judged runs of both versions, and different tasks compare nothing.',
  too_few_usual_runs: 'Too few runs were judged at the rate without a raise, and these represent most of the traffic.',
  no_labels: 'No run was judged both by a person and by the judge.',
  no_drawn_labels: 'No label is of a run that was drawn at random, and labels of chosen runs do not say what people think of others.',
  too_few_drawn_labels: 'Too few labels are of runs that were drawn at random.',
  one_label: 'Only one run or session has a label: the distance of the next one from it cannot be estimated.',
  no_passing_labels: 'No labelled run passed, so how the judge treats runs that pass is unknown.',
  no_failing_labels: 'No labelled run failed, so how the judge treats runs that fail is unknown.',
  judge_no_better_than_chance: 'On the labelled runs the judge passes good runs no more often than bad ones.',
  judge_not_shown_better_than_chance: 'There are too few labels to say that the judge passes good runs more often than bad ones.',
  no_variation: 'Everyone gave every item the same label: agreement beyond chance is not defined.',
  no_spread: 'All values differ by the same amount: the distance of the next one from them cannot be estimated.',
} as const;

export type NotEstimableReason = keyof typeof explanations;

/** `more`: a further sentence, such as the number that is needed. */
export function notEstimable(reason: NotEstimableReason, more?: string): NotEstimable {
  return { kind: 'not_estimable', reason, explanation: more === undefined ? explanations[reason] : `${explanations[reason]} ${more}` };
}

export interface EstimateOptions {
  /** Share of intervals that contain the true value, between 0 and 1. */
  readonly confidence?: number;
}

export const usualConfidence = 0.95;
