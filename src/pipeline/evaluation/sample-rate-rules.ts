/** The share of runs that an evaluator asks about: its own rate, or the highest of those that the rules' verdicts on the run raise it to. */
import type { Verdict } from '../../model/verdict.ts';

/** `tool_error < 1`: it holds on a run that this evaluator has scored so. */
export interface ScoreCondition {
  readonly evaluator: string;
  readonly comparison: '<' | '<=' | '>' | '>=' | '=';
  readonly score: number;
}

export interface Raise {
  readonly when: ScoreCondition;
  /** A share 0..1 of the received runs. */
  readonly to: number;
}

const comparisons: { readonly [sign in ScoreCondition['comparison']]: (one: number, other: number) => boolean } = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '=': (one, other) => one === other,
};

/** `verdicts` by the names of the evaluators. A verdict without a score raises nothing. */
export function raisedRate(rate: number, raise: readonly Raise[], verdicts: ReadonlyMap<string, Verdict>): number {
  return rateByScores(rate, raise, (evaluator) => {
    const verdict = verdicts.get(evaluator);
    return verdict?.kind === 'scored' ? verdict.score : undefined;
  });
}

/** `scoreOf` tells what an evaluator scored the run; undefined: nothing. */
export function rateByScores(rate: number, raise: readonly Raise[], scoreOf: (evaluator: string) => number | undefined): number {
  const raised = raise.filter(({ when: { evaluator, comparison, score: limit } }) => {
    const score = scoreOf(evaluator);
    return score !== undefined && comparisons[comparison](score, limit);
  });
  return Math.max(rate, ...raised.map(({ to }) => to));
}
