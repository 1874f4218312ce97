/** Spans and log records of OpenTelemetry, read-only. Attribute values are decoded on access. */
import type { SpanId, TraceId } from './ids.ts';

/** An attribute value or log body. 64-bit integers outside ±2^53 are bigint; a kvlist has no prototype. */
export type AttributeValue = string | boolean | number | bigint | Uint8Array | null | readonly AttributeValue[] | AttributeMap;
export interface AttributeMap {
  readonly [key: string]: AttributeValue;
}

/** Anything that carries attributes. When keys are equal, the last one counts. */
export interface Attributed {
  attribute(key: string): AttributeValue | undefined;
  /** Keys in wire order, each once. */
  attributeKeys(): readonly string[];
  /** The encoded attributes in a body, to compare without decoding; absent when they are not in a body. */
  written?(): WrittenAttributes;
  /** The keys; absent when the attributes are not in a body. */
  keyShape?(): KeyShape;
  /** The UTF-8 bytes of a string attribute; `undefined` for other values, or when the attributes are not in a body. */
  writtenText?(key: string): WrittenBytes | undefined;
  /** Bytes of the longest string attribute; absent when the attributes are not in a body. */
  longestText?(): number;
}

export interface WrittenAttributes {
  readonly shape: KeyShape;
  readonly bytes: Buffer;
  /** Four numbers per attribute: start and end of the key, start and end of the protobuf AnyValue. The first ones are at `from`. */
  readonly ranges: Int32Array;
  readonly from: number;
}

/** A range of a body. */
export interface WrittenBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The keys of an attribute list in wire order. Spans with the same keys share it. */
export interface KeyShape {
  /** Each once. */
  readonly keys: readonly string[];
  /** When keys are equal, the last one counts. */
  place(key: string): number | undefined;
  /** A value derived from the keys, computed once per `by`. */
  keep<By extends object, Kept>(by: By, make: (shape: KeyShape, by: By) => Kept): Kept;
}

export type Resource = Attributed;

export interface Scope extends Attributed {
  readonly name: string;
  readonly version: string;
}

/** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
export type SpanKind = 0 | 1 | 2 | 3 | 4 | 5;

export interface SpanStatus {
  readonly code: 'unset' | 'ok' | 'error';
  readonly message: string;
}

export interface SpanEvent extends Attributed {
  readonly name: string;
  readonly timeUnixNano: bigint;
}

export interface SpanLink extends Attributed {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

export interface Span extends Attributed {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly parentSpanId: SpanId | undefined;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly status: SpanStatus;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  /** Attributes that the SDK dropped at its limit; absent when none. */
  readonly droppedAttributes?: number;
  /** Size of the span on the wire, as byte budgets count it. */
  readonly wireBytes: number;
  /** The bytes of the span in a protobuf body; `undefined` when it came in another way. */
  asWritten?(): WrittenBytes;
}

/** A copy of a span with other members. Attributes remain where they are decoded from, and the copy does not know its bytes in a body. */
export function spanWith(span: Span, members: Partial<Span>): Span {
  return {
    resource: span.resource,
    scope: span.scope,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    flags: span.flags,
    name: span.name,
    kind: span.kind,
    startUnixNano: span.startUnixNano,
    endUnixNano: span.endUnixNano,
    status: span.status,
    events: span.events,
    links: span.links,
    wireBytes: span.wireBytes,
    attribute: (key) => span.attribute(key),
    attributeKeys: () => span.attributeKeys(),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributes: span.droppedAttributes }),
    ...members,
  };
}

export interface LogRecord extends Attributed {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly traceId: TraceId;
  /** `undefined` when the record belongs to the trace as a whole. */
  readonly spanId: SpanId | undefined;
  readonly timeUnixNano: bigint;
  /** The record's EventName field, else its attribute `event.name`, else the empty text. */
  readonly eventName: string;
  body(): AttributeValue | undefined;
  readonly wireBytes: number;
}

/** When a span ended; `undefined` when it has no end, or one before its start. */
export function reportedEnd({ startUnixNano, endUnixNano }: Pick<Span, 'startUnixNano' | 'endUnixNano'>): bigint | undefined {
  return endUnixNano < startUnixNano ? undefined : endUnixNano;
}

/** The same, or its start. */
export function endOf(span: Pick<Span, 'startUnixNano' | 'endUnixNano'>): bigint {
  return reportedEnd(span) ?? span.startUnixNano;
}

/** The text under a key unless it is empty, or the integer as its text: applications number their sessions. */
export function idAttribute(from: Attributed, key: string): string | undefined {
  const value = from.attribute(key);
  if (typeof value === 'string') return value === '' ? undefined : value;
  return Number.isInteger(value) || typeof value === 'bigint' ? String(value) : undefined;
}

/** The string under a key; `undefined` when it is absent or no string. */
export function textAttribute(from: Attributed, key: string): string | undefined {
  const value = from.attribute(key);
  return typeof value === 'string' ? value : undefined;
}
