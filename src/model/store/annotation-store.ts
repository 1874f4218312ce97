/**
 * Annotations: verdicts from outside, mainly from people. The store keeps them beside the service's own, and exporters do not send them.
 */
import { hash } from 'node:crypto';
import type { RunKey } from '../agent-trace.ts';
import { parseTraceId, type SpanId, type Tenant, type TraceId } from '../ids.ts';
import type { Micros } from '../timestamp.ts';
import type { SampledBy } from '../verdict.ts';

/** `human`: a reviewer. `user`: an end user, for example with a thumb. `evaluator`: another program. */
export const annotatorKinds = ['human', 'user', 'evaluator'] as const;
export type AnnotatorKind = (typeof annotatorKinds)[number];

export interface Annotation {
  /** `undefined` for any tenant of the trace. */
  readonly tenant: Tenant | undefined;
  readonly traceId: TraceId;
  /** The agent span of the run; `undefined` for the outermost run of the trace, which started first. */
  readonly spanId: SpanId | undefined;
  /** True when the span is only a hint. If no run has it, the annotation concerns the outermost run. */
  readonly isNear?: true;
  /** The annotated tool call: its span id or the model's id. Omitted for the run as a whole. */
  readonly toolCall?: string;
  /** Name of the annotation; that of an evaluator to compare with its verdicts. */
  readonly name: string;
  /** Opaque id of the annotator. */
  readonly by: string;
  readonly kind: AnnotatorKind;
  /** At least one of label, score and passed is present. */
  readonly label: string | undefined;
  /** The score, 0 to 1. */
  readonly score: number | undefined;
  readonly passed: boolean | undefined;
  readonly explanation: string;
  /** Time of the annotation. Among several by one annotator on one run and name the newest counts; among equal times the last one that arrived. */
  readonly at: Micros;
  /**
   * The probability with which a queue drew the run at random from those that have a verdict, above 0 and at most 1. Omitted when a person or a rule
   * chose the run, so that nothing is known of runs without a label. A later annotation of the same annotator keeps it.
   */
  readonly probability?: number;
}

/**
 * attached: the run exists. waiting: the run does not exist, or not yet. outdated: a newer annotation exists, and this one is dropped.
 * too_many: the trace has reached its limit. full: the limit of waiting annotations is reached.
 */
export type AnnotationFate = 'attached' | 'waiting' | 'outdated' | 'too_many' | 'full';

/** `id`: `undefined` when the annotation is dropped. */
export interface TakenAnnotation {
  readonly fate: AnnotationFate;
  readonly id: string | undefined;
}

/** Limit of one tenant on a trace. */
export const annotationsPerTraceMax = 1_000;
/** Limit of one tenant, of annotations whose run is not stored. */
export const annotationsWaitingMax = 100_000;
/** Limit of one query. */
export const annotationRowsMax = 50_000;

/** An annotation of a stored run. */
export type StoredAnnotation = Pick<
  Annotation,
  'toolCall' | 'name' | 'by' | 'kind' | 'label' | 'score' | 'passed' | 'explanation' | 'at' | 'probability'
>;

/** An annotation with the id that identifies its annotator, name and target. */
export interface IdentifiedAnnotation extends StoredAnnotation {
  readonly id: string;
}

const ID = /^[0-9a-f]{32}-[0-9a-f]{24}$/;

/** `undefined` when the text is not an annotation id. */
export function traceOfAnnotation(id: string): TraceId | undefined {
  return ID.test(id) ? parseTraceId(id.slice(0, 32)) : undefined;
}

/** A text as every store can keep it: without zeros and halves of pairs of surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

export function annotationId({
  traceId,
  tenant,
  spanId,
  toolCall,
  name,
  by,
}: Pick<Annotation, 'traceId' | 'tenant' | 'spanId' | 'toolCall' | 'name' | 'by'>): string {
  return `${traceId}-${hash('sha256', JSON.stringify([tenant ?? null, spanId ?? null, ...[name, by, ...(toolCall === undefined ? [] : [toolCall])].map(storableText)]), 'hex').slice(0, 24)}`;
}

/** Annotations are deleted with their run. Those without a run wait and expire. */
export interface AnnotationStore {
  /** Writes all or none, except those beyond a limit. Resolves with the fate of each, in order. Rejects when nothing was written. */
  write(annotations: readonly Annotation[], receivedAt: Micros): Promise<readonly AnnotationFate[]>;
  /** Resolves with whether it existed. */
  remove(id: string): Promise<boolean>;
  /** Number of annotations without a run. */
  waiting(): Promise<number>;
  /** Deletes up to `limit` annotations that have waited since before a time. Resolves with their number. */
  expire(query: { readonly before: Micros; readonly limit: number }): Promise<number>;
  /** Annotations of runs, newest run first. */
  onRuns(query: AnnotatedQuery): Promise<readonly AnnotatedRun[]>;
}

export interface AnnotatedQuery {
  /** Start of the run: from `from` (inclusive) to `to` (exclusive). */
  readonly from: Micros;
  readonly to: Micros;
  readonly name?: string;
  readonly agent?: string;
  /** Tenant of the run; absent: all tenants. */
  readonly tenant?: Tenant;
  readonly kinds: readonly AnnotatorKind[];
  /** Limit of annotations. */
  readonly limit: number;
}

/** One annotation, and the verdict of the same name on the same run or tool call. */
export interface AnnotatedRun extends RunKey {
  /** Version of the agent; absent when the run names none. */
  readonly agentVersion?: string;
  /** Absent when the run names none. */
  readonly sessionId?: string;
  readonly annotation: StoredAnnotation;
  readonly verdict: AnnotatedVerdict | undefined;
  /** Index of the tool call in the trajectory; absent without a verdict. */
  readonly part?: number;
}

interface AnnotatedVerdict extends Pick<SampledBy, 'upstream'> {
  readonly evaluator: string;
  readonly kind: string;
  readonly version: number;
  /** Model of the judge; `undefined` when unknown. */
  readonly model: string | undefined;
  readonly word: string;
  readonly label: string;
  readonly sampleProbability: number;
}
