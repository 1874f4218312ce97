/**
 * Verdicts on runs that come along with spans and log records: `gen_ai.evaluation.result` as the GenAI conventions have it, as an event of a span or
 * as a record, and `evaluations.*` and `annotations.*` as OpenInference writes them on spans, about a span or its trace. Results that this service
 * sent are ignored when they come back, and so are results about a whole session, which concern no run.
 */
import type { Annotation, AnnotatorKind } from '../../model/store/annotation-store.ts';
import { annotationHead, wire } from '../../model/attributes.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { Attributed, KeyShape, LogRecord, Resource, Scope, Span } from '../../model/span.ts';
import { textAttribute } from '../../model/span.ts';

/** Limit of one span; the rest is left out. */
const annotationsPerSpanMax = 100;
const nameCharsMax = 200;
const explanationCharsMax = 4_000;

export function annotationsOfSpans(tenant: Tenant, spans: readonly Span[]): readonly Annotation[] {
  const telling = spans.filter((span) => tellsResults(span) && span.attribute(wire.generated) !== true);
  return telling.flatMap((span) => {
    const near: Near = { tenant, ...targetOf(span), resource: span.resource, scope: span.scope };
    const told = flattened(near, span, span.endUnixNano).filter((one) => one !== undefined);
    const names = new Set(told.map(({ name }) => name));
    // A sender that writes a result in both forms puts more into the attributes.
    const events = span.events
      .filter(({ name }) => name === wire.evaluationEvent)
      .map((event) => resultOf(near, event, event.timeUnixNano))
      .filter((one) => one !== undefined && !names.has(one.name));
    return [...events, ...told].filter((one) => one !== undefined).slice(0, annotationsPerSpanMax);
  });
}

export function annotationsOfRecords(tenant: Tenant, records: readonly LogRecord[]): readonly Annotation[] {
  return records.flatMap((record) => {
    if (record.eventName !== wire.evaluationEvent || record.attribute(wire.generated) === true) return [];
    const { traceId, spanId, resource, scope } = record;
    return resultOf({ tenant, traceId, spanId, resource, scope }, record, record.timeUnixNano) ?? [];
  });
}

interface Near {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  readonly spanId: SpanId | undefined;
  readonly resource: Resource;
  readonly scope: Scope;
}

/**
 * A span that was made to report on another one, which had ended, links to that one and to nothing else. The span of an agent or of a tool that
 * reports on itself may have a link too, to its cause.
 */
function targetOf(span: Span): Pick<Near, 'traceId' | 'spanId'> {
  const [link, ...others] = span.links;
  const kind = textAttribute(span, wire.openInferenceKind);
  const isCarrier = kind === undefined ? textAttribute(span, wire.operation) === undefined : kind === 'EVALUATOR';
  return link === undefined || others.length > 0 || !isCarrier ? span : link;
}

/** Most spans have none, so this check runs for every span. */
function tellsResults(span: Span): boolean {
  const shape = span.keyShape?.();
  if (shape === undefined ? isFlattened(span.attributeKeys()) : shape.keep(isFlattened, flattenedShape).found) return true;
  return span.events.some(({ name }) => name === wire.evaluationEvent);
}

/** Spans of one shape are asked once. */
function flattenedShape({ keys }: KeyShape): { readonly found: boolean } {
  return { found: isFlattened(keys) };
}

function isFlattened(keys: readonly string[]): boolean {
  return keys.some((key) => annotationHead.test(key));
}

/** One result of the conventions. One with an error is none, and one with an evaluator's id is ours. */
function resultOf(near: Near, from: Attributed, unixNano: bigint): Annotation | undefined {
  if (from.attribute(wire.errorType) !== undefined || from.attribute(wire.evaluatorId) !== undefined) return undefined;
  return annotationOf(near, unixNano, {
    name: textAttribute(from, wire.evaluationName),
    score: from.attribute(wire.scoreValue),
    label: textAttribute(from, wire.scoreLabel),
    passed: from.attribute(wire.passed),
    explanation: textAttribute(from, wire.explanation),
    kind: textAttribute(from, wire.annotatorKind),
    by: textAttribute(from, wire.annotatorId),
  });
}

function flattened(near: Near, span: Span, unixNano: bigint): readonly (Annotation | undefined)[] {
  const heads = new Set(span.attributeKeys().flatMap((key) => annotationHead.exec(key)?.[0] ?? []));
  return [...heads].slice(0, annotationsPerSpanMax).map((of) =>
    annotationOf(of.startsWith(wire.annotationOfTrace) ? { ...near, spanId: undefined } : near, unixNano, {
      name: textAttribute(span, `${of}${wire.annotationName}`),
      score: span.attribute(`${of}${wire.annotationScore}`),
      label: textAttribute(span, `${of}${wire.annotationLabel}`),
      passed: undefined,
      explanation: textAttribute(span, `${of}${wire.annotationExplanation}`),
      kind: textAttribute(span, `${of}${wire.annotationKind}`),
      by: textAttribute(span, `${of}${wire.annotationIdentifier}`),
    }),
  );
}

interface Told {
  readonly name: string | undefined;
  readonly score: unknown;
  readonly label: string | undefined;
  readonly passed: unknown;
  readonly explanation: string | undefined;
  readonly kind: string | undefined;
  readonly by: string | undefined;
}

/** `undefined` when it has nothing that could be kept. A score on a scale other than 0..1 is dropped. */
function annotationOf(
  { tenant, traceId, spanId, resource, scope }: Near,
  unixNano: bigint,
  { name = '', score: value, label: word, passed: told, explanation = '', kind, by }: Told,
): Annotation | undefined {
  const score = typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined;
  const label = word === undefined || word === '' ? undefined : cut(word, nameCharsMax);
  const passed = typeof told === 'boolean' ? told : undefined;
  if (name === '' || (score === undefined && label === undefined && passed === undefined)) return undefined;
  const who = [by, textAttribute(resource, wire.serviceName), scope.name].find((one) => one !== undefined && one !== '') ?? 'unknown';
  return {
    tenant,
    traceId,
    spanId,
    isNear: true,
    name: cut(name, nameCharsMax),
    by: cut(who, nameCharsMax),
    kind: kindOf(kind),
    label,
    score,
    passed,
    explanation: cut(explanation, explanationCharsMax),
    at: Number(unixNano / 1_000n),
  };
}

/** A person only where it is named as one. */
function kindOf(told: string | undefined): AnnotatorKind {
  const word = told?.toLowerCase();
  return word === 'human' || word === 'user' ? word : 'evaluator';
}

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? text.slice(0, charsMax).toWellFormed() : text;
}
