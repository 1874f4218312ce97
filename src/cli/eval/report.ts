/** Everything that a report tells, for whichever form it is told in. */
import { classOf, type VerdictClass } from '../../library/tally.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { EvaluatorTally, GateResult } from './gates.ts';
import type { EvalOutcome, EvalResult } from './item.ts';
import type { TaskResult } from './tasks.ts';

export interface EvalReport {
  readonly outcome: EvalOutcome;
  readonly tallies: readonly EvaluatorTally[];
  readonly gates: readonly GateResult[];
  /** How directly the runs of one task went. */
  readonly tasks: readonly TaskResult[];
  readonly passed: boolean;
}

export interface Finding extends NamedVerdict {
  readonly label: string;
}

/** Without gates every verdict has to pass; an example without a run is a failure in any case. */
export function hasPassed({ missing, results }: EvalOutcome, gates: readonly GateResult[]): boolean {
  if (missing.length > 0 || gates.some(({ held }) => !held)) return false;
  return gates.length > 0 || findings(results, 'failed').length === 0;
}

export function findings(results: readonly EvalResult[], which: VerdictClass): readonly Finding[] {
  return results.flatMap(({ item, verdicts }) => verdicts.filter(({ verdict }) => classOf(verdict) === which).map((one) => ({ ...one, label: item.label })));
}

/** The counts in words; what is nought is left out, but runs. */
export function countsText({ runs, results, sampledOut, notBegun, missing }: EvalOutcome): string {
  const parts = [`${results.length} of ${runs} ${runs === 1 ? 'run' : 'runs'} scored`];
  if (sampledOut > 0) parts.push(`${sampledOut} sampled out`);
  if (notBegun > 0) parts.push(`${notBegun} not begun after the first failure`);
  if (missing.length > 0) parts.push(`${missing.length} ${missing.length === 1 ? 'example has' : 'examples have'} no run`);
  return parts.join(', ');
}

export function gateText({ name, share, reached, held }: GateResult): string {
  return `${held ? 'held' : 'not held'}: ${name} ${reached === undefined ? 'has nothing that passed or failed' : `passed ${percent(reached)}`}, at least ${percent(share)} wanted`;
}

/** Never rounded up to what was not reached. */
export function percent(share: number): string {
  return `${Math.floor(share * 1_000 + 1e-9) / 10} %`;
}
