/** Outcomes of an evaluation: scored, skipped, failed. Missing evidence is never 0 and never 1, and a broken judge is not a bad agent. */
import type { Completeness, RunKey, AgentTrace, Run } from './agent-trace.ts';
import type { SpanId, Tenant } from './ids.ts';
import type { JsonObject } from './json.ts';
import { hash } from 'node:crypto';

/** The word that names the kind of an error: `rate_limit: …`. */
const errorWord = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;

/** The word before the colon; `_OTHER`, as OpenTelemetry prescribes, when there is none. */
export function errorType(error: string): string {
  const word = error.split(':', 1)[0]?.trim() ?? '';
  return errorWord.test(word) ? word : '_OTHER';
}

/** The reason why there was nothing to score, for machines. The explanation gives it in words. */
export type SkipReason =
  | 'no_tool_calls'
  | 'no_tool_definitions'
  | 'no_expectation'
  | 'no_input'
  | 'no_final_response'
  | 'no_tasks'
  | 'no_plan'
  | 'tool_calls_not_carried'
  | 'arguments_not_carried'
  | 'results_not_carried'
  | 'truncated'
  | 'no_errors'
  | 'no_such_target'
  | 'no_price'
  | 'no_tokens'
  | 'no_times'
  | 'filtered'
  | 'part_of_another_run'
  | 'schema_not_applied'
  | 'too_large'
  | 'learning'
  | 'no_model'
  | 'incomplete'
  | 'paused'
  | 'refused';

/** The part of a verdict on one tool call, or on another part of the run. */
export interface PartVerdict {
  /** Omitted for a tool call. */
  readonly of?: 'retriever' | 'sub_agent' | 'model_call';
  /** Position in the trajectory, or among the parts of its kind, from 0. */
  readonly index: number;
  /** For another part the name of its tool, agent or model; empty when it has none. */
  readonly tool: string;
  readonly callId?: string;
  readonly spanId?: SpanId;
  readonly score: number;
  readonly passed: boolean;
  readonly explanation: string;
}

/** The result of an evaluator, before `verdictOf` applies the threshold. */
export type Outcome =
  | {
      readonly kind: 'scored';
      /** From 0 to 1, higher is better. One division of whole numbers, so a score equal to the threshold passes. */
      readonly score: number;
      /** A label of the evaluator's own. */
      readonly label?: string;
      /** One sentence that a person can act on. */
      readonly explanation: string;
      readonly evidence: readonly SpanId[];
      readonly parts?: readonly PartVerdict[];
      readonly details: JsonObject;
    }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly explanation: string; readonly details?: JsonObject }
  | { readonly kind: 'failed'; readonly error: string; readonly explanation: string; readonly details?: JsonObject };

/** An outcome with a score, after its threshold. */
export interface ScoredVerdict {
  readonly kind: 'scored';
  readonly score: number;
  /** `null` for a raw metric that neither passes nor fails. */
  readonly threshold: number | null;
  readonly passed: boolean | null;
  /** `pass`, `fail`, or the evaluator's own label; empty for a raw metric without labels. */
  readonly label: string;
  readonly explanation: string;
  readonly evidence: readonly SpanId[];
  readonly parts: readonly PartVerdict[];
  readonly details: JsonObject;
}

export type Verdict =
  | ScoredVerdict
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly explanation: string; readonly details: JsonObject }
  | { readonly kind: 'failed'; readonly error: string; readonly explanation: string; readonly details: JsonObject };

/** How every pair of run and evaluator ends, exactly once. */
export type Decision = 'scored' | 'skipped' | 'filtered' | 'sampled_out' | 'over_budget' | 'overload' | 'failed';

/** The target of a verdict. With the configured name it identifies an evaluation, whose highest revision counts. */
export interface EvaluationKey {
  readonly tenant: Tenant;
  readonly targetKind: 'run' | 'tool_call' | 'session' | 'tool_definition' | 'group';
  readonly targetId: string;
  readonly name: string;
}

/** The source of the verdict: a rule, a judge, or an HTTP endpoint. */
export type EvaluatorKind = 'rule' | 'judge' | 'http';

/** The origin of the probability of a choice, beside the rate of the evaluator and its budget. */
export interface SampledBy {
  /** The probability divided by the least that a run could have had at that moment, above 1; absent: it was not raised. */
  readonly raisedBy?: number;
  /** The part of the probability that is of samplers before the service, below 1, as the trace states; absent: there were none. */
  readonly upstream?: number;
}

/** The members that are known. */
export function sampledBy({
  raisedBy,
  upstream,
}: {
  readonly raisedBy?: number | undefined;
  readonly upstream?: number | undefined;
}): SampledBy {
  return { ...(raisedBy === undefined ? {} : { raisedBy }), ...(upstream === undefined ? {} : { upstream }) };
}

/** One verdict of one configured evaluator on one run. */
export interface Evaluation extends SampledBy {
  readonly key: EvaluationKey;
  readonly run: RunKey;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  readonly evaluatorVersion: number;
  /** True when the evaluator guards against harm, so that a run that it could not check is worth a notice. */
  readonly guard?: true;
  /** Hash of options and expectation: distinguishes verdicts of differently configured evaluators. */
  readonly optionsHash: string;
  readonly revision: number;
  readonly completeness: Completeness;
  readonly verdict: Verdict;
  /** Probability with which this run was chosen for this evaluator; 1 for rules. */
  readonly sampleProbability: number;
}

/** The text form of an evaluation key, the same in every process. */
export function evaluationKeyText({ tenant, targetKind, targetId, name }: EvaluationKey): string {
  return `${tenant.length}:${tenant}|${targetKind.length}:${targetKind}|${targetId.length}:${targetId}|${name.length}:${name}`;
}

/** The id of a run inside an evaluation key. */
export function runTargetId(run: RunKey): string {
  return `${run.traceId}/${run.spanId}`;
}

/** Applies the threshold: `passed` is score ≥ threshold, null without one. */
export function verdictOf(outcome: Outcome, threshold: number | null): Verdict {
  if (outcome.kind !== 'scored') return { ...outcome, details: outcome.details ?? {} };
  const passed = threshold === null ? null : outcome.score >= threshold;
  const label = outcome.label ?? (passed === null ? '' : passed ? 'pass' : 'fail');
  return {
    kind: 'scored',
    score: outcome.score,
    threshold,
    passed,
    label,
    explanation: outcome.explanation,
    evidence: outcome.evidence,
    parts: outcome.parts ?? [],
    details: outcome.details,
  };
}

/** pass and fail with a threshold, raw without one; skipped: nothing to score; error: no verdict. */
export const verdictWords = ['pass', 'fail', 'raw', 'skipped', 'error'] as const;
export type VerdictWord = (typeof verdictWords)[number];

export function verdictWord(verdict: Verdict): VerdictWord {
  if (verdict.kind !== 'scored') return verdict.kind === 'skipped' ? 'skipped' : 'error';
  return verdict.passed === null ? 'raw' : verdict.passed ? 'pass' : 'fail';
}

/** The evaluator whose pass shows only that a run did not end in an error. */
export const endEvaluator = 'run_error';

/** True when a verdict shows that something of the run was checked. */
export function isCheck({ evaluator, word }: { readonly evaluator: string; readonly word: VerdictWord }): boolean {
  return word === 'fail' || ((word === 'pass' || word === 'raw') && evaluator !== endEvaluator);
}

/** 32 hex digits, the same for every revision. */
export function evaluationId(key: EvaluationKey): string {
  return hash('sha256', evaluationKeyText(key), 'hex').slice(0, 32);
}

export function targetKey(
  run: RunKey & Pick<Run, 'session'> & { readonly trace: Pick<AgentTrace, 'sessionId'> },
  name: string,
): EvaluationKey {
  const {
    tenant,
    session,
    trace: { sessionId },
  } = run;
  if (session === undefined || sessionId === undefined) return { tenant, targetKind: 'run', targetId: runTargetId(run), name };
  return { tenant, targetKind: 'session', targetId: sessionId, name };
}
