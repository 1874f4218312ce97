/** Computes the results of a replay from its tally: rates before and after, their difference, and whether an evaluator is worse. */
import type { EvaluatorTallyData, Measure, ReplayTallyData } from './tally.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { usualConfidence } from '../../statistics/estimate.ts';
import { holmAdjusted } from '../../statistics/holm.ts';
import { pairedRates, type PairedRates } from '../../statistics/paired-rate.ts';

/** `not_tested`: no run has both verdicts. */
export type ResultWord = 'worse' | 'better' | 'no_difference_shown' | 'not_tested';

export interface EvaluatorResult extends Omit<EvaluatorTallyData, 'sums'> {
  /** Rate of all runs with a stored verdict that were scored again. */
  readonly before: SideRate | undefined;
  /** Rate of all runs with a verdict under the new configuration. */
  readonly after: SideRate | undefined;
  /** Rates of the runs with both verdicts of one measure; `undefined` without such a run. */
  readonly paired: (PairedRates & { readonly measure: Measure }) | undefined;
  /** The p-value of the paired test, adjusted for the number of evaluators. */
  readonly p: number;
  readonly word: ResultWord;
}

export interface SideRate {
  readonly measure: Measure;
  readonly runs: number;
  readonly rate: Estimate;
  /** Runs whose weight was cut. */
  readonly capped: number;
}

export interface ReplayResults extends Omit<ReplayTallyData, 'evaluators'> {
  /** Sorted by name. */
  readonly evaluators: readonly EvaluatorResult[];
  readonly isWorse: boolean;
}

export function replayResults({ evaluators, ...tally }: ReplayTallyData): ReplayResults {
  const measured = evaluators.map((one) => ({ one, paired: pairedOf(one) }));
  const tested = measured.filter(({ paired }) => paired !== undefined);
  // A removed or a new evaluator has no pair, so it takes no part of the level.
  const adjusted = holmAdjusted(tested.map(({ paired }) => paired?.p ?? 1));
  const results = measured.map(({ one: { sums, ...one }, paired }): EvaluatorResult => {
    const at = tested.findIndex((other) => other.paired === paired);
    const p = paired === undefined ? 1 : (adjusted[at] ?? 1);
    return { ...one, before: sideOf(sums, 'before'), after: sideOf(sums, 'after'), paired, p, word: wordOf(paired, p) };
  });
  return {
    ...tally,
    evaluators: results.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    isWorse: results.some(({ word }) => word === 'worse'),
  };
}

/** The pass rate when any verdict passes or fails, else the mean score. */
function measureOf(sums: EvaluatorTallyData['sums'], side: keyof EvaluatorTallyData['sums'][Measure]): Measure | undefined {
  const has = (measure: Measure): boolean => countOf(sums[measure][side]) > 0;
  return has('pass_rate') ? 'pass_rate' : has('mean_score') ? 'mean_score' : undefined;
}

function countOf({ n, heaviest }: EvaluatorTallyData['sums'][Measure]['paired']): number {
  return n + heaviest.length;
}

function sideOf(sums: EvaluatorTallyData['sums'], side: 'before' | 'after'): SideRate | undefined {
  const measure = measureOf(sums, side);
  if (measure === undefined) return undefined;
  const { n, before, weights } = pairedRates(sums[measure][side]);
  return { measure, runs: n, rate: before, capped: weights.capped };
}

function pairedOf({ sums }: EvaluatorTallyData): EvaluatorResult['paired'] {
  const measure = measureOf(sums, 'paired');
  return measure === undefined ? undefined : { measure, ...pairedRates(sums[measure].paired) };
}

/** Both are needed: the test, and an interval without 0. Where there is no interval, the runs at hand can have become worse, and nothing else is claimed. */
function wordOf(paired: EvaluatorResult['paired'], p: number): ResultWord {
  if (paired === undefined) return 'not_tested';
  const { difference, worse, better } = paired;
  if (p >= 1 - usualConfidence) return 'no_difference_shown';
  if (difference.kind === 'not_estimable') return worse > better ? 'worse' : 'no_difference_shown';
  return difference.high < 0 ? 'worse' : difference.low > 0 ? 'better' : 'no_difference_shown';
}
