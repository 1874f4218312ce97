/** Converts verdicts into scores for score APIs. Pure: the same item gives the same scores, ids included. */
import { environmentOf } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import { member } from '../../model/json.ts';
import { type Evaluation, type EvaluatorKind, type PartVerdict, errorType, evaluationId } from '../../model/verdict.ts';
import { cutText } from '../delivery/export-outcome.ts';
import { itemRevision, type ExportedRun, type ExportItem } from '../../model/scored-run.ts';
import { present } from '../../model/present.ts';

/** The target of a score. `isOutermost` means that no other agent called this one, so the run represents its trace. */
export type ScorePlace =
  | { readonly kind: 'run'; readonly traceId: string; readonly spanId: string; readonly isOutermost: boolean }
  | { readonly kind: 'span'; readonly traceId: string; readonly spanId: string }
  | { readonly kind: 'session'; readonly sessionId: string };

export type ScoreValue =
  /** `passed`: null for a metric without a threshold. `label`: empty, `pass`, `fail`, or the evaluator's own. */
  | { readonly kind: 'scored'; readonly score: number; readonly label: string; readonly passed: boolean | null }
  /** `error`: a word of low cardinality. */
  | { readonly kind: 'failed'; readonly error: string }
  /** Removes the score of an earlier revision. */
  | { readonly kind: 'withdrawn' };

export interface ScoreApiScore {
  /** 32 hex digits derived from the evaluation key, so all revisions share them. */
  readonly id: string;
  readonly place: ScorePlace;
  /** Name of the evaluator in the configuration. */
  readonly name: string;
  readonly evaluatorKind: EvaluatorKind;
  readonly value: ScoreValue;
  /** Well-formed, at most 4,096 UTF-16 units. */
  readonly explanation: string;
  readonly metadata: { readonly [key: string]: string | number | boolean };
  /** End of the run, in epoch milliseconds. */
  readonly timeMs: number;
  /** Revision of the run, or of the session for a session verdict; the first is 1. */
  readonly revision: number;
  /** Project, service and environment from the resource of the spans. */
  readonly project?: string;
  readonly service?: string;
  readonly environment?: string;
}

/** Limit per item: verdicts first, then the parts with a span; the same limit as on an evaluation span. */
export const scoreApiScoresMax = 1000;
const explanationCharsMax = 4096;

export function scoreApiScores(item: ExportItem): readonly ScoreApiScore[] {
  const { run, evaluations } = item;
  const verdicts = evaluations.flatMap((evaluation) => verdictScore(evaluation, run));
  const parts = evaluations.flatMap((evaluation) => partScores(evaluation, run));
  return [...verdicts, ...parts].slice(0, scoreApiScoresMax);
}

function verdictScore(evaluation: Evaluation, run: ExportedRun): readonly ScoreApiScore[] {
  const { key, verdict } = evaluation;
  const value = valueOf(evaluation, run);
  const place = placeOf(evaluation, run);
  if (value === undefined || place === undefined) return [];
  return [scoreOf(evaluation, run, { id: evaluationId(key), place, value, explanation: verdict.explanation })];
}

function scoreOf(
  evaluation: Evaluation,
  run: ExportedRun,
  {
    explanation,
    metadata = {},
    ...own
  }: Pick<ScoreApiScore, 'id' | 'place' | 'value' | 'explanation'> & Partial<Pick<ScoreApiScore, 'metadata'>>,
): ScoreApiScore {
  return {
    ...own,
    name: evaluation.key.name,
    evaluatorKind: evaluation.evaluatorKind,
    explanation: cutText(explanation, explanationCharsMax),
    metadata: { ...metadataOf(evaluation, run), ...metadata },
    ...ofRun(run),
  };
}

/** A skipped verdict is not a result. In a later revision, or for a withdrawn run, it removes the earlier score. */
function valueOf({ verdict }: Evaluation, run: ExportedRun): ScoreValue | undefined {
  if (verdict.kind === 'scored') return { kind: 'scored', score: verdict.score, label: verdict.label, passed: verdict.passed };
  if (verdict.kind === 'failed') return { kind: 'failed', error: errorType(verdict.error) };
  return itemRevision({ run }) > 1 || run.partOf !== undefined ? { kind: 'withdrawn' } : undefined;
}

function placeOf({ key }: Evaluation, run: ExportedRun): ScorePlace | undefined {
  const { traceId, spanTraceId = traceId, spanId, trace, parent } = run;
  if (key.targetKind === 'run')
    return { kind: 'run', traceId: spanTraceId, spanId, isOutermost: parent === undefined && run.partOf === undefined };
  // A trace has no place for task groups and tools, so their scores are not sent here.
  if (key.targetKind === 'session') return trace.sessionId === undefined ? undefined : { kind: 'session', sessionId: trace.sessionId };
  if (key.targetKind === 'tool_call') return { kind: 'span', traceId: spanTraceId, spanId: key.targetId.split('/').at(-1) ?? spanId };
  return undefined;
}

/**
 * The id of a part comes from the span of its tool call, not from the run. So a withdrawn run leaves its parts to the run that now contains
 * them.
 */
function partScores(evaluation: Evaluation, run: ExportedRun): readonly ScoreApiScore[] {
  const { key, verdict } = evaluation;
  if (verdict.kind !== 'scored') return [];
  const { traceId, spanTraceId = traceId } = run;
  const seen = new Map<string, number>();
  return verdict.parts.flatMap((part): readonly ScoreApiScore[] => {
    if (part.spanId === undefined) return [];
    const nth = seen.get(part.spanId) ?? 0;
    seen.set(part.spanId, nth + 1);
    const id = evaluationId({
      tenant: key.tenant,
      targetKind: 'tool_call',
      targetId: `${spanTraceId}/${part.spanId}${nth === 0 ? '' : `/${nth}`}`,
      name: key.name,
    });
    return [
      scoreOf(evaluation, run, {
        id,
        place: { kind: 'span', traceId: spanTraceId, spanId: part.spanId },
        value: { kind: 'scored', score: part.score, label: part.passed ? 'pass' : 'fail', passed: part.passed },
        explanation: part.explanation,
        metadata: toolOf(part),
      }),
    ];
  });
}

function toolOf(part: PartVerdict): ScoreApiScore['metadata'] {
  const target = part.of === undefined ? { [wire.targetTool]: part.tool } : { [wire.targetPart]: part.of };
  return { ...target, ...(part.callId === undefined ? {} : { [wire.targetCallId]: part.callId }) };
}

function metadataOf(
  { evaluator, evaluatorKind, evaluatorVersion, verdict, sampleProbability }: Evaluation,
  run: ExportedRun,
): ScoreApiScore['metadata'] {
  return {
    [wire.generated]: true,
    [wire.evaluatorId]: evaluator,
    [wire.evaluatorKind]: evaluatorKind,
    [wire.evaluatorVersion]: evaluatorVersion,
    [wire.revision]: itemRevision({ run }),
    [wire.completeness]: run.completeness,
    [wire.sampleProbability]: sampleProbability,
    ...(verdict.kind === 'scored' && verdict.threshold !== null ? { [wire.threshold]: verdict.threshold } : {}),
    ...(run.trace.agent === undefined ? {} : { [wire.agentName]: run.trace.agent }),
    ...(run.tenant === '' ? {} : { [wire.tenant]: run.tenant }),
  };
}

function ofRun(run: ExportedRun): Pick<ScoreApiScore, 'timeMs' | 'revision' | 'project' | 'service' | 'environment'> {
  const { endUnixNano, service, resourceAttributes } = run;
  const named = member(resourceAttributes, wire.openInferenceProject);
  const project = typeof named === 'string' && named !== '' ? named : undefined;
  return present({
    timeMs: Number(endUnixNano / 1_000_000n),
    revision: itemRevision({ run }),
    project,
    service,
    environment: environmentOf(run),
  });
}

/** Formats 32 hex digits as a UUID; the version digit is arbitrary. */
export function uuidText(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** A score whose target is a span. */
export type SpanScore = ScoreApiScore & { readonly place: Exclude<ScorePlace, { readonly kind: 'session' }> };

export function spanScores(scores: readonly ScoreApiScore[]): readonly SpanScore[] {
  return scores.flatMap(({ place, ...score }) => (place.kind === 'session' ? [] : [{ ...score, place }]));
}

/** True when the score of an earlier revision must be deleted: scores with a value replace it, a failed evaluation has none. */
export function isEnded({ value, revision }: ScoreApiScore): boolean {
  return value.kind === 'withdrawn' || (value.kind === 'failed' && revision > 1);
}

/** Keeps one score per place and name: the lowest. */
export function worstPerName<Score extends ScoreApiScore>(all: readonly Score[], placeOf: (score: Score) => string): readonly Score[] {
  const kept = new Map<string, Score>();
  for (const score of all) {
    const key = `${placeOf(score)} ${score.name}`;
    const before = kept.get(key);
    if (before === undefined || numberOf(score) < numberOf(before)) kept.set(key, score);
  }
  return [...kept.values()];
}

function numberOf({ value }: ScoreApiScore): number {
  return value.kind === 'scored' ? value.score : Infinity;
}
