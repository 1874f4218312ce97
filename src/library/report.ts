/** Counts verdicts. Skipped verdicts and those without a judge count neither as passed nor as failed. */
import type { ExpectedPart } from '../../evaluators/evaluator.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { PartVerdict, Verdict } from '../model/verdict.ts';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Scores of raw metrics, which neither pass nor fail. */
  readonly raw: number;
  readonly skipped: number;
  /** Errors of the judge or the evaluator. */
  readonly errors: number;
  /** Sum of all scores. */
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

/** Number of verdicts with a score. */
export function scoredCount({ passed, failed, raw }: Tally): number {
  return passed + failed + raw;
}

/** Passed share of the verdicts that passed or failed; `undefined` without any. */
export function passedShare({ passed, failed }: Tally): number | undefined {
  return passed + failed === 0 ? undefined : passed / (passed + failed);
}

export interface NamedVerdict {
  /** The configured name. */
  readonly name: string;
  /** The evaluator's id. */
  readonly evaluator: string;
  readonly verdict: Verdict;
}

export interface ExampleResult {
  readonly id: string;
  readonly input: unknown;
  /**
   * failed: a verdict did not pass, the agent threw, its time was over, or its run ended in an error. error: a judge gave no usable answer. skipped: nothing could be scored,
   * or an expectation has no score.
   */
  readonly status: 'passed' | 'failed' | 'error' | 'skipped';
  readonly error?: { readonly kind: 'timed_out' | 'task_failed' | 'run_error'; readonly message: string };
  readonly trace?: AgentTrace;
  readonly verdicts: readonly NamedVerdict[];
  /** Parts of the expectation without a score; absent when each has one. */
  readonly expectationsWithoutScore?: readonly ExpectedPart[];
}

export interface EvaluatorResult extends Tally {
  readonly name: string;
  readonly evaluator: string;
  /** In the order of the dataset, without unscored ones. */
  readonly scores: readonly { readonly id: string; readonly score: number }[];
}

/** Counts are of examples. */
export interface Report {
  /** Id in the store, if there is one. */
  readonly experimentId?: string;
  /** Examples of the dataset; `failFast` or a sample runs fewer. */
  readonly total: number;
  /** Examples outside the sample, if any. */
  readonly sampledOut?: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly skipped: number;
  readonly examples: readonly ExampleResult[];
  readonly evaluators: readonly EvaluatorResult[];
}

export function reportOf(
  examples: readonly ExampleResult[],
  { total, sampledOut }: { readonly total: number; readonly sampledOut: number },
): Report {
  const count = (status: ExampleResult['status']): number => examples.filter((example) => example.status === status).length;
  return {
    total,
    ...(sampledOut === 0 ? {} : { sampledOut }),
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    skipped: count('skipped'),
    examples,
    evaluators: evaluatorResults(examples),
  };
}

function evaluatorResults(examples: readonly ExampleResult[]): readonly EvaluatorResult[] {
  const all = examples.flatMap(({ id, verdicts }) => verdicts.map((one) => ({ id, ...one })));
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => ({
    name,
    evaluator: own[0]?.evaluator ?? name,
    ...tallyOf(own.map(({ verdict }) => verdict)),
    scores: own.flatMap(({ id, verdict }) => (verdict.kind === 'scored' ? [{ id, score: verdict.score }] : [])),
  }));
}

/** Writes the verdict on one part in a line, with the name and the position of a tool call. */
export function partText({ of, index, tool, explanation, spanId }: PartVerdict): string {
  const place = `(call ${index + 1})`;
  // Most explanations name the call.
  const named = of !== undefined || explanation.includes(place) ? explanation : `${tool} ${place}: ${explanation}`;
  return spanId === undefined ? named : `${named} (span ${spanId})`;
}
