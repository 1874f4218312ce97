/**
 * The evaluation span: a finished span cannot change, so the verdicts of a run travel on a separate span in the same trace. Pure: the
 * same item gives the same span, id included, so a repeat replaces it.
 */
import { hash } from 'node:crypto';
import { wire } from '../../model/attributes.ts';
import { parseSpanId, type SpanId } from '../../model/ids.ts';
import {
  type Evaluation,
  type EvaluationKey,
  evaluationKeyText,
  type PartVerdict,
  runTargetId,
  errorType,
  evaluationId,
  type Verdict,
} from '../../model/verdict.ts';
import { cutText } from '../delivery/export-outcome.ts';
import { itemRevision, type ExportedRun, type ExportItem } from '../../model/scored-run.ts';
import type { NewAttributes, PlainValue } from '../../otlp/write/attributes.ts';
import { jsonText } from '../../model/json.ts';

/**
 * Content of an evaluation span. `lean`: each verdict once, as an event, and only tool calls that fail or are evidence. `full`: every tool
 * call, and the verdicts again as OpenInference annotations.
 */
export const spanDetails = ['lean', 'full'] as const;
export type SpanDetail = (typeof spanDetails)[number];

export interface EvaluationSpan {
  readonly name: string;
  readonly spanId: SpanId;
  /** The evaluation span of the previous revision; `undefined` when there is none. */
  readonly replaces: SpanId | undefined;
  readonly attributes: EvaluationAttributes;
  /** Attributes of the `gen_ai.evaluation.result` events. */
  readonly events: readonly EvaluationAttributes[];
}

/** Limit of events: verdicts first, then their tool-call parts. With 4 KiB of explanation each, a request stays near 4 MiB. */
export const evaluationEventsMax = 1000;
const explanationCharsMax = 4096;

/** `undefined` when the item has no result. A skipped verdict is not a result, but a withdrawn run withdraws its verdicts. */
export function evaluationSpanOf(item: ExportItem, detail: SpanDetail = 'lean'): EvaluationSpan | undefined {
  const { run } = item;
  const reported = item.evaluations.filter((evaluation) => evaluation.verdict.kind !== 'skipped');
  if (reported.length === 0 && run.partOf === undefined) return undefined;
  // Verdicts of judges had separate evaluation spans. The withdrawal replaces the span of the rules.
  const own = run.partOf === undefined ? item.evaluations : item.evaluations.filter(({ evaluatorKind }) => evaluatorKind === 'rule');
  const keys = own.map((evaluation) => evaluation.key);
  const revision = itemRevision(item);
  // The previous evaluation span of a session may be in the trace of another turn.
  const replaces = revision > 1 && run.session === undefined ? evaluationSpanId(keys, revision - 1) : undefined;
  const events = [...reported.map(resultEvent), ...reported.flatMap((evaluation) => partEvents(evaluation, detail))];
  const kept = events.slice(0, evaluationEventsMax);
  return {
    name: run.trace.agent === undefined ? 'evaluate' : `evaluate ${run.trace.agent}`,
    spanId: evaluationSpanId(keys, revision),
    replaces,
    events: kept,
    attributes: attributesOf(run, reported, { detail, replaces, leftOut: events.length - kept.length }),
  };
}

function attributesOf(
  run: ExportedRun,
  reported: readonly Evaluation[],
  { detail, replaces, leftOut }: Pick<EvaluationSpan, 'replaces'> & { readonly detail: SpanDetail; readonly leftOut: number },
): EvaluationAttributes {
  const attributes = runAttributes(run, { [wire.openInferenceKind]: 'EVALUATOR' });
  addVerdict(attributes, reported);
  const probabilities = new Set(reported.map(({ sampleProbability }) => sampleProbability));
  const [probability] = probabilities;
  if (probabilities.size === 1 && probability !== undefined) attributes[wire.sampleProbability] = probability;
  if (replaces !== undefined) attributes[wire.replaces] = replaces;
  if (leftOut > 0) attributes[wire.resultsLeftOut] = leftOut;
  const some = reported.slice(0, evaluationEventsMax);
  addScores(attributes, some);
  if (detail === 'full') addAnnotations(attributes, some);
  return attributes;
}

/** Verdicts as fields of the run's own spans, for spans that are not forwarded yet. */
export interface Results {
  /** `tracejury.verdict` and `tracejury.failed`, for a sampler. */
  readonly attributes: EvaluationAttributes;
  /** Event attributes for the agent's span. */
  readonly verdicts: readonly EvaluationAttributes[];
  /** Event attributes for spans of tool calls; a part without a span belongs to the agent's span. */
  readonly parts: readonly { readonly spanId: SpanId | undefined; readonly attributes: EvaluationAttributes }[];
}

export function resultsOf({ evaluations }: Pick<ExportItem, 'evaluations'>): Results {
  const reported = evaluations.filter(({ verdict }) => verdict.kind !== 'skipped').slice(0, evaluationEventsMax);
  const parts = reported.flatMap((evaluation) =>
    (evaluation.verdict.kind === 'scored' ? evaluation.verdict.parts : []).map((part) => ({
      spanId: part.spanId,
      attributes: partEvent(evaluation, part),
    })),
  );
  const attributes: NewAttributes = {};
  addVerdict(attributes, reported);
  return {
    attributes,
    verdicts: reported.map(resultEvent),
    parts: parts.slice(0, evaluationEventsMax - reported.length),
  };
}

/** The first 8 bytes of a hash over the evaluation keys, in any order, and the revision. */
export function evaluationSpanId(keys: readonly EvaluationKey[], revision: number): SpanId {
  const digest = hash('sha256', JSON.stringify([keys.map(evaluationKeyText).sort(), revision]), 'hex');
  for (let at = 0; at + 16 <= digest.length; at += 16) {
    const id = parseSpanId(digest.slice(at, at + 16));
    if (id !== undefined) return id;
  }
  throw new Error('a SHA-256 of nothing but zeros');
}

/** Attributes about the run, after those in `head`. */
export function runAttributes(run: ExportedRun, head: NewAttributes = {}): NewAttributes {
  const attributes: NewAttributes = {
    [wire.generated]: true,
    ...head,
    [wire.revision]: itemRevision({ run }),
    [wire.completeness]: run.completeness,
  };
  if (run.trace.status !== undefined) attributes[wire.runStatus] = run.trace.status;
  if (run.trace.agent !== undefined) attributes[wire.agentName] = run.trace.agent;
  if (run.trace.sessionId !== undefined) attributes[wire.sessionId] = run.trace.sessionId;
  if (run.tenant !== '') attributes[wire.tenant] = run.tenant;
  if (run.partOf !== undefined) attributes[wire.partOf] = runTargetId(run.partOf);
  return attributes;
}

/** One outcome for the whole item, so a search or a sampler finds failed runs. Raw metrics and failed evaluations do not count. */
function addVerdict(to: NewAttributes, reported: readonly Evaluation[]): void {
  const judged = reported.filter(({ verdict }) => verdict.kind === 'scored' && verdict.passed !== null);
  const failedNames = judged.filter(({ verdict }) => verdict.kind === 'scored' && verdict.passed === false).map(({ key }) => key.name);
  if (judged.length > 0) to[wire.verdict] = failedNames.length === 0 ? 'pass' : 'fail';
  if (failedNames.length > 0) to[wire.failedNames] = failedNames;
}

/** Attributes of one result, as the GenAI conventions name them. */
export function resultEvent(evaluation: Evaluation): EvaluationAttributes {
  const { verdict } = evaluation;
  const event = evaluatorAttributes(evaluation);
  event[wire.sampleProbability] = evaluation.sampleProbability;
  addExplanation(event, verdict.explanation);
  if (verdict.kind === 'failed') event[wire.errorType] = errorType(verdict.error);
  if (verdict.kind !== 'scored') return event;
  event[wire.scoreValue] = verdict.score;
  if (verdict.label !== '') event[wire.scoreLabel] = verdict.label;
  if (verdict.threshold !== null) event[wire.threshold] = verdict.threshold;
  if (verdict.passed !== null) event[wire.passed] = verdict.passed;
  return event;
}

function evaluatorAttributes({ key, evaluator, evaluatorKind, evaluatorVersion }: Evaluation): NewAttributes {
  return {
    [wire.evaluationName]: key.name,
    [wire.evaluatorId]: evaluator,
    [wire.evaluatorKind]: evaluatorKind,
    [wire.evaluatorVersion]: evaluatorVersion,
  };
}

/** In `lean`, leaves out a call that passes and is not evidence: such events would be most of the span. */
function partEvents(evaluation: Evaluation, detail: SpanDetail): readonly EvaluationAttributes[] {
  const { verdict } = evaluation;
  if (verdict.kind !== 'scored') return [];
  const { parts, evidence } = verdict;
  return parts
    .filter(({ passed, spanId }) => detail === 'full' || !passed || (spanId !== undefined && evidence.includes(spanId)))
    .map((part) => partEvent(evaluation, part));
}

/** Attributes of the part of a verdict on one tool call, or on another part of the run. */
export function partEvent(evaluation: Evaluation, part: PartVerdict): EvaluationAttributes {
  const event = evaluatorAttributes(evaluation);
  event[wire.scoreValue] = part.score;
  event[wire.scoreLabel] = part.passed ? 'pass' : 'fail';
  event[wire.passed] = part.passed;
  addExplanation(event, part.explanation);
  if (part.of === undefined) event[wire.targetTool] = part.tool;
  else event[wire.targetPart] = part.of;
  if (part.callId !== undefined) event[wire.targetCallId] = part.callId;
  if (part.spanId !== undefined) event[wire.targetSpanId] = part.spanId;
  return event;
}

/** One number per evaluator, for backends that search attributes but not events. */
function addScores(to: NewAttributes, reported: readonly Evaluation[]): void {
  for (const { key, verdict } of reported) if (verdict.kind === 'scored') to[`${wire.scorePrefix}${key.name}`] = verdict.score;
}

function addExplanation(to: NewAttributes, explanation: string): void {
  if (explanation !== '') to[wire.explanation] = cutText(explanation, explanationCharsMax);
}

export interface EvaluationAttributes {
  readonly [key: string]: PlainValue;
}

interface Keys {
  readonly name: string;
  readonly score: string;
  readonly label: string;
  readonly explanation: string;
  readonly kind: string;
  readonly identifier: string;
  readonly metadata: string;
}

/**
 * Adds the scored verdicts as annotations, the way OpenInference defines them: `evaluations.N.evaluation.*` for the linked span, and
 * `session.evaluations.N.evaluation.*` for the session. N counts from 0 in each.
 */
function addAnnotations(to: NewAttributes, evaluations: readonly Evaluation[]): void {
  const numbers = new Map<Scope, number>();
  for (const evaluation of evaluations) {
    const { key, verdict } = evaluation;
    if (verdict.kind !== 'scored') continue;
    const scope = key.targetKind === 'session' ? wire.sessionAnnotationPrefix : wire.annotationPrefix;
    const at = numbers.get(scope) ?? 0;
    numbers.set(scope, at + 1);
    addAnnotation(to, firstKeys[scope][at] ?? keysOf(scope, at), evaluation, verdict);
  }
}

function addAnnotation(
  to: NewAttributes,
  keys: Keys,
  { key, evaluator, evaluatorKind, evaluatorVersion, revision, completeness, sampleProbability }: Evaluation,
  verdict: Extract<Verdict, { kind: 'scored' }>,
): void {
  const metadata: NewAttributes = {
    [wire.evaluatorId]: evaluator,
    [wire.evaluatorVersion]: evaluatorVersion,
    [wire.revision]: revision,
    [wire.completeness]: completeness,
    [wire.sampleProbability]: sampleProbability,
  };
  if (verdict.threshold !== null) metadata[wire.threshold] = verdict.threshold;
  if (verdict.passed !== null) metadata[wire.passed] = verdict.passed;
  to[keys.name] = key.name;
  to[keys.score] = verdict.score;
  if (verdict.label !== '') to[keys.label] = verdict.label;
  if (verdict.explanation !== '') to[keys.explanation] = cutText(verdict.explanation, explanationCharsMax);
  to[keys.kind] = evaluatorKind === 'judge' ? 'LLM' : 'CODE';
  to[keys.identifier] = evaluationId(key);
  to[keys.metadata] = jsonText(metadata);
}

type Scope = typeof wire.annotationPrefix | typeof wire.sessionAnnotationPrefix;

function keysOf(scope: Scope, at: number): Keys {
  const head = `${scope}${at}${wire.annotationForm}`;
  return {
    name: `${head}${wire.annotationName}`,
    score: `${head}${wire.annotationScore}`,
    label: `${head}${wire.annotationLabel}`,
    explanation: `${head}${wire.annotationExplanation}`,
    kind: `${head}${wire.annotationKind}`,
    identifier: `${head}${wire.annotationIdentifier}`,
    metadata: `${head}${wire.annotationMetadata}`,
  };
}

/** Keys of the first annotations, built once: building them takes longer than the rest of `addAnnotation`. */
const firstKeys: { readonly [scope in Scope]: readonly Keys[] } = {
  [wire.annotationPrefix]: firstOf(wire.annotationPrefix),
  [wire.sessionAnnotationPrefix]: firstOf(wire.sessionAnnotationPrefix),
};

function firstOf(scope: Scope): readonly Keys[] {
  return Array.from({ length: 32 }, (_, at) => keysOf(scope, at));
}
