/** Compares a drift measurement with the baseline. */
import type { DriftAnswer, DriftCounts, DriftWord } from '../model/store/drift-store.ts';
import type { NotEstimable } from '../statistics/estimate.ts';
import { verdictDrift, type RepeatedVerdict, type VerdictDrift } from '../statistics/comparison.ts';

/** Counts runs that passed or failed in both measurements. */
export function driftCounts(before: readonly DriftAnswer[], now: readonly DriftAnswer[]): DriftCounts {
  const first = new Map(before.map((answer) => [answer.run, answer.word]));
  const pairs = now.map(({ run, word }) => `${first.get(run) ?? ''} ${word}`);
  const count = (pair: string): number => pairs.filter((one) => one === pair).length;
  return { stayedPass: count('pass pass'), stayedFail: count('fail fail'), toPass: count('fail pass'), toFail: count('pass fail') };
}

export function driftFigures(
  counts: DriftCounts,
  schedule: { readonly look: number; readonly planned: number | undefined },
): VerdictDrift | NotEstimable {
  const { look, planned } = schedule;
  return verdictDrift(pairsOf(counts), { schedule: { look, ...(planned === undefined ? {} : { planned }) } });
}

export function driftWordOf(counts: DriftCounts, schedule: { readonly look: number; readonly planned: number | undefined }): DriftWord {
  const figures = driftFigures(counts, schedule);
  return figures.kind === 'estimated' ? figures.word : 'no_change_shown';
}

function* pairsOf({ stayedPass, stayedFail, toPass, toFail }: DriftCounts): Iterable<RepeatedVerdict> {
  for (const [pairs, before, after] of [
    [stayedPass, true, true],
    [stayedFail, false, false],
    [toPass, false, true],
    [toFail, true, false],
  ] as const) {
    for (let left = pairs; left > 0; left--) yield { before, after };
  }
}
