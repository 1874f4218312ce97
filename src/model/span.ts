/** Spans and log records as OpenTelemetry defines them, read only. Attribute values are decoded when they are asked for. */
import type { SpanId, TraceId } from './ids.ts';

/** An attribute value or log body. 64-bit integers outside ±2^53 are bigint; a kvlist has no prototype. */
export type AttributeValue = string | boolean | number | bigint | Uint8Array | null | readonly AttributeValue[] | AttributeMap;
export interface AttributeMap {
  readonly [key: string]: AttributeValue;
}

/** Anything that carries attributes. Of equal keys the last one counts. */
export interface Attributed {
  attribute(key: string): AttributeValue | undefined;
  /** Keys in wire order, each once. */
  attributeKeys(): readonly string[];
  /** As they lie in a body, where they do: for those who compare values, or what follows from the keys alone, without decoding. */
  written?(): WrittenAttributes;
  /** The keys alone, where the attributes lie in a body. */
  keyShape?(): KeyShape;
  /** Where the UTF-8 of the text under a key lies; undefined for another value, or where nothing lies in a body. */
  writtenText?(key: string): WrittenBytes | undefined;
  /** The first byte of that text; undefined also for an empty one. */
  textStart?(key: string): number | undefined;
}

export interface WrittenAttributes {
  readonly shape: KeyShape;
  readonly bytes: Buffer;
  /** Four numbers a place: where the key starts and ends, and where the protobuf AnyValue under it does. The first place begins at `from`. */
  readonly ranges: Int32Array;
  readonly from: number;
}

/** A part of a body. */
export interface WrittenBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The keys of some attributes in wire order; spans that have the same ones share it. */
export interface KeyShape {
  /** Each once. */
  readonly keys: readonly string[];
  /** Of equal keys the last one counts. */
  place(key: string): number | undefined;
  /** What follows from the keys alone, made once. `by` tells different things apart. */
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
  /** Attributes that the SDK left out at its limit; absent: none. */
  readonly droppedAttributes?: number;
  /** Bytes of this span on the wire: what a byte budget counts. */
  readonly wireBytes: number;
  /** Where the span lies in a protobuf body; undefined where it came in another way. */
  asWritten?(): WrittenBytes;
}

export interface LogRecord extends Attributed {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly traceId: TraceId;
  /** Undefined when the record belongs to the trace as a whole. */
  readonly spanId: SpanId | undefined;
  readonly timeUnixNano: bigint;
  /** The record's EventName field, else its attribute `event.name`, else the empty text. */
  readonly eventName: string;
  body(): AttributeValue | undefined;
  readonly wireBytes: number;
}

/** The text under a key; undefined when it is absent or not a text. */
export function textAttribute(from: Attributed, key: string): string | undefined {
  const value = from.attribute(key);
  return typeof value === 'string' ? value : undefined;
}
