/** A verdict as a word and a kind. A verdict without a threshold is a score, never a pass. */

export interface ShortVerdict {
  readonly status: 'scored' | 'skipped' | 'failed';
  readonly passed: boolean | null;
}

export type VerdictKind = 'pass' | 'fail' | 'raw' | 'skipped' | 'error';

export function verdictKind({ status, passed }: ShortVerdict): VerdictKind {
  if (status === 'skipped') return 'skipped';
  if (status === 'failed') return 'error';
  return passed === null ? 'raw' : passed ? 'pass' : 'fail';
}

/** Failed, or the evaluator did. */
export function isBad(verdict: ShortVerdict): boolean {
  const kind = verdictKind(verdict);
  return kind === 'fail' || kind === 'error';
}

/** Worst first: a table shows the first chips of a run only. */
const order: readonly VerdictKind[] = ['fail', 'error', 'raw', 'pass', 'skipped'];

export function worstFirst<V extends ShortVerdict>(verdicts: readonly V[]): readonly V[] {
  return verdicts.toSorted((one, other) => order.indexOf(verdictKind(one)) - order.indexOf(verdictKind(other)));
}
