/** `tracejury/vitest`: matchers. Call `expect.extend(matchers)` once, in a setup file or at the top of a test. */
import type {} from 'vitest';
import type { ConfiguredEvaluator, ConfiguredJudge } from '../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import { statedParts } from '../../evaluators/expectation/expectation.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { Expectation } from '../model/expectation.ts';
import { unreachable } from '../model/ids.ts';
import type { Verdict } from '../model/verdict.ts';
import { evaluate, type EvaluateWith, type GivenExpectation, readyExpectation, ruleVerdict, type UsableJudge } from './evaluate.ts';
import { readyEvaluator } from './factory.ts';
import { partText, type ExampleResult, type NamedVerdict, type Report } from './report.ts';

export interface ToPassWith extends EvaluateWith {
  readonly expect?: GivenExpectation;
}

export interface NoFailuresWith {
  /** Accepts missing scores: nothing scored, expectations without a score, and judges without an answer. */
  readonly allowUnscored?: boolean;
}

export interface TracejuryMatchers<R = unknown> {
  /**
   * The evaluator scores the run, and the score reaches the threshold. `.not.toPass` needs a score below the threshold: a skipped or failed
   * verdict satisfies neither. Await it with a judge.
   */
  toPass(evaluator: ConfiguredJudge, run: ToPassWith & { readonly judge: UsableJudge }): Promise<void>;
  toPass(evaluator: ConfiguredEvaluator | AnyEvaluator, run?: ToPassWith): R;
  /**
   * No example failed, every judge answered, every expectation has a score, and something was scored. `.not` needs a failed example: missing
   * scores satisfy neither.
   */
  toHaveNoFailures(options?: NoFailuresWith): R;
}

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends TracejuryMatchers<R> {}
}

/** Matchers for `expect.extend`. */
export const matchers = { toPass, toHaveNoFailures } as const;

interface Matched {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The used part of a matcher's context. */
interface MatcherState {
  readonly isNot?: boolean;
}

function toPass(
  this: MatcherState,
  received: unknown,
  evaluator: ConfiguredEvaluator | AnyEvaluator,
  { expect: given, ...run }: ToPassWith = {},
): Matched | Promise<Matched> {
  const trace = agentTraceIn(received);
  const ready = readyEvaluator(evaluator);
  const expect = given === undefined ? undefined : readyExpectation(given);
  if (expect !== undefined) refuseUnchecked(ready, expect);
  const expected = expect === undefined ? {} : { expect };
  const matched = (verdict: Verdict | undefined): Matched =>
    matchedVerdict({ name: ready.name, evaluator: ready.evaluator.id, verdict: verdict ?? noVerdict }, this.isNot === true);
  if (ready.kind === 'rule') return matched(ruleVerdict(ready, trace, { ...expected, ...run }));
  return evaluate(trace, expected, [ready], run).then(([verdict]) => matched(verdict));
}

/** Refuses an expectation that the evaluator does not check: the matcher would pass with any expectation. */
function refuseUnchecked({ name, checks }: ConfiguredEvaluator, expected: Expectation): void {
  const [stated, checked] = [statedParts(expected), checks?.(expected)];
  if (stated.length === 0 || checked === undefined || stated.some((part) => checked.includes(part))) return;
  throw new TypeError(`${name} checks nothing of what is expected: ${stated.map((part) => `expect.${part}`).join(', ')}.`);
}

const noVerdict: Verdict = { kind: 'failed', error: 'no_verdict', explanation: 'The evaluator gave no verdict.', details: {} };

/** Without a pass or fail, both `toPass` and `not.toPass` fail. */
function matchedVerdict(named: NamedVerdict, isNot: boolean): Matched {
  const { verdict } = named;
  const passed = verdict.kind === 'scored' ? verdict.passed : null;
  if (passed !== null)
    return {
      pass: passed,
      message: () => (passed ? `expected the run not to pass ${verdictText(named)}` : `expected the run to pass ${verdictText(named)}`),
    };
  return { pass: isNot, message: () => `expected a pass or fail of ${verdictText(named)}` };
}

function toHaveNoFailures(this: MatcherState, received: unknown, { allowUnscored = false }: NoFailuresWith = {}): Matched {
  const report = reportIn(received);
  const failed = report.examples.filter(({ status }) => status === 'failed');
  const notCounted = [
    ...(report.errors > 0 ? [`${report.errors} without a usable judge`] : []),
    ...(report.skipped > 0 ? [`${report.skipped} skipped`] : []),
  ];
  const sum = `${failed.length} of ${report.examples.length} examples failed${notCounted.length === 0 ? '' : ` (${notCounted.join(', ')})`}`;
  if (failed.length > 0) return { pass: false, message: () => [sum, ...listed(failed)].join('\n\n') };
  const open = report.examples.filter(
    ({ status, expectationsWithoutScore = [] }) => status === 'error' || expectationsWithoutScore.length > 0,
  );
  const nothing = report.examples.every(({ status }) => status === 'skipped');
  if (allowUnscored || (open.length === 0 && !nothing)) return { pass: true, message: () => `expected failures, but ${sum}` };
  // Without failures but with missing scores neither the matcher nor its opposite holds.
  return {
    pass: this.isNot === true,
    message: () =>
      [
        `${sum}, but ${nothing ? 'nothing was scored' : `${open.length} of ${report.examples.length} examples ${open.length === 1 ? 'has' : 'have'} no score where one is wanted`}`,
        ...listed(nothing ? report.examples : open),
      ].join('\n\n'),
  };
}

function listed(examples: readonly ExampleResult[]): readonly string[] {
  return [
    ...examples.slice(0, examplesMax).map(exampleText),
    ...(examples.length > examplesMax ? [`… and ${examples.length - examplesMax} more`] : []),
  ];
}

const examplesMax = 20;
const partsMax = 5;

function exampleText({ id, status, error, verdicts, expectationsWithoutScore = [] }: ExampleResult): string {
  const lines = verdicts
    .filter(({ verdict }) => (status === 'failed' ? verdict.kind === 'scored' && verdict.passed === false : verdict.kind !== 'scored'))
    .map(verdictText);
  return [
    `example ${id}`,
    ...expectationsWithoutScore.map((part) => `expect.${part} has no score`),
    ...(error === undefined ? [] : [`${error.kind}: ${error.message}`]),
    ...lines,
  ].join('\n  ');
}

function verdictText({ name, verdict }: NamedVerdict): string {
  switch (verdict.kind) {
    case 'scored':
      return [
        `${name}: score ${verdict.score}${verdict.threshold === null ? ', a raw metric' : `, passes from ${verdict.threshold}`}. ${verdict.explanation}`,
        ...evidenceLines(verdict),
      ].join('\n    ');
    case 'skipped':
      return `${name}: skipped (${verdict.reason}). ${verdict.explanation}`;
    case 'failed':
      return `${name}: no verdict (${verdict.error}). ${verdict.explanation}`;
    default:
      return unreachable(verdict);
  }
}

function evidenceLines({ parts, evidence }: Extract<Verdict, { readonly kind: 'scored' }>): readonly string[] {
  const faulty = parts.filter(({ passed }) => !passed);
  const lines = faulty.slice(0, partsMax).map(partText);
  const explained = new Set(faulty.map(({ spanId }) => spanId));
  const others = evidence.filter((id) => !explained.has(id)).slice(0, partsMax);
  return [
    ...lines,
    ...(faulty.length > partsMax ? [`… and ${faulty.length - partsMax} more calls`] : []),
    ...(others.length === 0 ? [] : [`spans: ${others.join(', ')}`]),
  ];
}

function agentTraceIn(received: unknown): AgentTrace {
  if (typeof received === 'object' && received !== null && 'toolCalls' in received && 'toolDefinitions' in received)
    return received as AgentTrace;
  throw new TypeError('toPass looks at an agent trace: see agentTrace, fromMessages and fromSpans in tracejury/agent-trace.');
}

function reportIn(received: unknown): Report {
  if (typeof received === 'object' && received !== null && 'examples' in received && 'evaluators' in received) return received as Report;
  throw new TypeError('toHaveNoFailures looks at the report that experiment(…).run() resolves with.');
}
