/** Annotations: verdicts on runs that come from elsewhere, from people above all. They are kept beside our own verdicts and never sent on. */
import { hash } from 'node:crypto';
import type { RunKey } from '../agent-trace.ts';
import { parseTraceId, type SpanId, type Tenant, type TraceId } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

/** `human`: somebody who judges runs. `user`: an end user of the agent, as with a thumb. `evaluator`: another program. */
export const annotatorKinds = ['human', 'user', 'evaluator'] as const;
export type AnnotatorKind = (typeof annotatorKinds)[number];

export interface Annotation {
  /** Undefined: whichever tenant the trace belongs to. */
  readonly tenant: Tenant | undefined;
  readonly traceId: TraceId;
  /** The run's own span. Undefined: the outermost run of the trace, which is the one that started first. */
  readonly spanId: SpanId | undefined;
  /** True: the span was only met near it. Where no run has that span, the annotation is about the outermost run. */
  readonly isNear?: true;
  /** Of the run, the tool call that it is about: the id of its span, or the model's id of it. Absent: the run as a whole. */
  readonly toolCall?: string;
  /** Of an evaluator, where it is meant to be compared with that one's verdicts. */
  readonly name: string;
  /** Who gave it: an opaque id. */
  readonly by: string;
  readonly kind: AnnotatorKind;
  /** At least one of these three is there. */
  readonly label: string | undefined;
  /** 0..1 */
  readonly score: number | undefined;
  readonly passed: boolean | undefined;
  readonly explanation: string;
  /** When it was given: of two by the same annotator on one run and name the newer one counts; of equally new ones the one that came last. */
  readonly at: Micros;
}

/**
 * attached: the run is there. waiting: it is not, or not yet. outdated: a newer one is there, and this one was not kept. too_many: its trace has as
 * many as it may have. full: as many wait as may wait.
 */
export type AnnotationFate = 'attached' | 'waiting' | 'outdated' | 'too_many' | 'full';

/** `id`: undefined where it is not kept. */
export interface TakenAnnotation {
  readonly fate: AnnotationFate;
  readonly id: string | undefined;
}

export const annotationsPerTraceMax = 1_000;
export const annotationsWaitingMax = 100_000;
/** Of one question about what was said of runs. */
export const annotationRowsMax = 50_000;

/** An annotation of a run that is stored. */
export type StoredAnnotation = Pick<Annotation, 'toolCall' | 'name' | 'by' | 'kind' | 'label' | 'score' | 'passed' | 'explanation' | 'at'>;

/** As it is told and taken back: of one annotator, name and target it is always the same, and of no other ever. */
export interface IdentifiedAnnotation extends StoredAnnotation {
  readonly id: string;
}

const ID = /^[0-9a-f]{32}-[0-9a-f]{24}$/;

/** Undefined: the text is none. */
export function traceOfAnnotation(id: string): TraceId | undefined {
  return ID.test(id) ? parseTraceId(id.slice(0, 32)) : undefined;
}

export function annotationId({
  traceId,
  tenant,
  spanId,
  toolCall,
  name,
  by,
}: Pick<Annotation, 'traceId' | 'tenant' | 'spanId' | 'toolCall' | 'name' | 'by'>): string {
  return `${traceId}-${hash('sha256', JSON.stringify([tenant ?? null, spanId ?? null, name, by, ...(toolCall === undefined ? [] : [toolCall])]), 'hex').slice(0, 24)}`;
}

/** Annotations go with their run; those of one that never comes wait for a while. */
export interface AnnotationStore {
  /** All or none but for what does not fit; gives the fate of each, in their order. Rejects when nothing was written. */
  write(annotations: readonly Annotation[], receivedAt: Micros): Promise<readonly AnnotationFate[]>;
  /** Whether it was there. */
  remove(id: string): Promise<boolean>;
  /** How many wait for their run. */
  waiting(): Promise<number>;
  /** Lets those go that came before and still wait; so many at most. Gives how many. */
  expire(query: { readonly before: Micros; readonly limit: number }): Promise<number>;
  /** What was said of runs, newest run first. */
  onRuns(query: AnnotatedQuery): Promise<readonly AnnotatedRun[]>;
}

export interface AnnotatedQuery {
  /** Runs that started from here on, before `to`. */
  readonly from: Micros;
  readonly to: Micros;
  readonly name?: string;
  readonly agent?: string;
  /** Of the run; absent: of all tenants. */
  readonly tenant?: Tenant;
  readonly kinds: readonly AnnotatorKind[];
  /** Annotations. */
  readonly limit: number;
}

/** One annotation, and the verdict of the same name on the run, or on the tool call, where there is one. */
export interface AnnotatedRun extends RunKey {
  readonly annotation: StoredAnnotation;
  readonly verdict: AnnotatedVerdict | undefined;
  /** Of a tool call, its place in the trajectory; known where there is a verdict on it. */
  readonly part?: number;
}

interface AnnotatedVerdict {
  readonly evaluator: string;
  readonly kind: string;
  readonly version: number;
  /** The model that was asked, where that is known. */
  readonly model: string | undefined;
  readonly word: string;
  readonly label: string;
  readonly sampleProbability: number;
}
