/** What makes a run one of several that are compared: it is whole, its steps are known, and so is whether it arrived. */
import type { GroupRun } from '../../../evaluators/evidence/convergence.ts';
import { groupRun, type GroupRunOptions } from '../../../evaluators/evidence/group-run.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Verdict } from '../../model/verdict.ts';

export interface Comparing extends GroupRunOptions {
  /** Name of a configured evaluator whose pass is success; left out: a run succeeds unless it ends in an error. */
  readonly success?: string;
}

export type Compared =
  | { readonly kind: 'compared'; readonly run: GroupRun }
  | { readonly kind: 'left_out'; readonly reason: 'not_complete' | 'tool_calls_not_carried' | 'no_verdict' };

/** A run of which a part is missing would look shorter than it was, and might set the least number of steps for all others. */
export function comparedRun(run: Run, { success, ...options }: Comparing, verdictOf: (name: string) => Verdict | undefined): Compared {
  if (run.completeness !== 'complete') return { kind: 'left_out', reason: 'not_complete' };
  const found = groupRun(run.trace, options);
  if (found === undefined) return { kind: 'left_out', reason: 'tool_calls_not_carried' };
  if (success === undefined) return { kind: 'compared', run: found };
  const verdict = verdictOf(success);
  if (verdict?.kind !== 'scored' || verdict.passed === null) return { kind: 'left_out', reason: 'no_verdict' };
  return { kind: 'compared', run: { ...found, success: verdict.passed } };
}
