/** Verdicts counted. What was skipped, and what failed for want of a judge, counts neither as passed nor as failed. */
import type { Verdict } from '../model/verdict.ts';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Scores of raw metrics, which neither pass nor fail. */
  readonly raw: number;
  readonly skipped: number;
  /** The judge, or the evaluator itself, broke off. */
  readonly errors: number;
  /** Sum of the scores of all that were scored. */
  readonly scoreSum: number;
}

export type VerdictClass = Exclude<keyof Tally, 'scoreSum'>;

export function classOf(verdict: Verdict): VerdictClass {
  if (verdict.kind !== 'scored') return verdict.kind === 'skipped' ? 'skipped' : 'errors';
  if (verdict.passed === null) return 'raw';
  return verdict.passed ? 'passed' : 'failed';
}

export function tallyOf(verdicts: Iterable<Verdict>): Tally {
  const counts = { passed: 0, failed: 0, raw: 0, skipped: 0, errors: 0, scoreSum: 0 };
  for (const verdict of verdicts) {
    counts[classOf(verdict)]++;
    if (verdict.kind === 'scored') counts.scoreSum += verdict.score;
  }
  return counts;
}

/** How many verdicts were scores. */
export function scoredCount({ passed, failed, raw }: Tally): number {
  return passed + failed + raw;
}

/** Share that passed of those that passed or failed; undefined when there is none of either. */
export function passedShare({ passed, failed }: Tally): number | undefined {
  return passed + failed === 0 ? undefined : passed / (passed + failed);
}
