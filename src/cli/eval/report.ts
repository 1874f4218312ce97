/** The content of a report, for every format. */
import { classOf, type VerdictClass } from '../../library/tally.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { SwitchedOnEvaluator, Unverified } from './expectations.ts';
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
  /** Evaluators that expectations switched on. */
  readonly switchedOn?: readonly SwitchedOnEvaluator[];
  /** Expectations whose evaluators gave no score. */
  readonly unverified?: readonly Unverified[];
  /** Why nothing was scored, in one sentence; absent: something was. */
  readonly nothingScored?: string | undefined;
  /** Sentences about what was not scored. */
  readonly warnings?: readonly string[];
  /** The table lists each run, not the failing ones alone. */
  readonly verbose?: boolean;
}

export interface Finding extends NamedVerdict {
  readonly label: string;
}

export interface PassedWith {
  /** Expectations whose evaluators gave no score. */
  readonly unverified?: readonly Unverified[];
  /** Evaluators without a score whose judge could not be asked. */
  readonly unasked?: readonly string[];
  /** Nothing scored, expectations without a score and evaluators without a judge may pass. */
  readonly allowUnscored?: boolean;
}

/**
 * Nothing scored is no pass, and an example without a run is a failure in any case. Without gates every verdict has to pass, every
 * expectation needs a score of one of its evaluators, and every judge that is wanted could be asked.
 */
export function hasPassed(
  { missing, results }: EvalOutcome,
  gates: readonly GateResult[],
  { unverified = [], unasked = [], allowUnscored = false }: PassedWith = {},
): boolean {
  if (missing.length > 0 || gates.some(({ held }) => !held)) return false;
  if (!allowUnscored && !results.some(({ verdicts }) => verdicts.some(({ verdict }) => verdict.kind === 'scored'))) return false;
  if (gates.length > 0) return true;
  return findings(results, 'failed').length === 0 && (allowUnscored || (unverified.length === 0 && unasked.length === 0));
}

export function findings(results: readonly EvalResult[], which: VerdictClass): readonly Finding[] {
  return results.flatMap(({ item, verdicts }) =>
    verdicts.filter(({ verdict }) => classOf(verdict) === which).map((one) => ({ ...one, label: item.label })),
  );
}

/** The counts in words, without those that are 0; the number of runs always stands. */
export function countsText({ runs, results, sampledOut, notBegun, missing }: EvalOutcome): string {
  const scored = results.filter(({ verdicts }) => verdicts.some(({ verdict }) => verdict.kind === 'scored')).length;
  const parts = [`${scored} of ${runs} ${runs === 1 ? 'run' : 'runs'} scored`];
  if (sampledOut > 0) parts.push(`${sampledOut} sampled out`);
  if (notBegun > 0) parts.push(`${notBegun} not begun after the first failure`);
  if (missing.length > 0) parts.push(`${missing.length} ${missing.length === 1 ? 'example has' : 'examples have'} no run`);
  return parts.join(', ');
}

export function gateText({ name, share, reached, held }: GateResult): string {
  return `${held ? 'held' : 'not held'}: ${name} ${reached === undefined ? 'has nothing that passed or failed' : `passed ${percent(reached)}`}, at least ${percent(share)} wanted`;
}

export function switchedOnText({ name, parts, judge }: SwitchedOnEvaluator): string {
  return `${name} (${parts.map((part) => `expect.${part}`).join(', ')}${judge === undefined ? '' : `, judge ${judge}`})`;
}

export function unverifiedText({ label, part, why }: Unverified): string {
  return `${label}: expect.${part} has no score: ${why.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`;
}

/** What a reader has to know before the result: why nothing was scored, and what else was not. */
export function warningsOf({ nothingScored, warnings = [] }: EvalReport): readonly string[] {
  return [...(nothingScored === undefined ? [] : [nothingScored]), ...warnings];
}

/** Rounds down, so that the text never names a share that was not reached. */
export function percent(share: number): string {
  return `${Math.floor(share * 1_000 + 1e-9) / 10} %`;
}
