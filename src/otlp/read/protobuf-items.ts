/** Spans, events and links whose attributes lie in a protobuf body. */
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { Resource, Scope, Span, SpanEvent, SpanKind, SpanLink, SpanStatus } from '../../model/span.ts';
import { ProtobufAttributes } from './any-value-protobuf.ts';
import type { Scanned } from './decode-state.ts';
import type { AttributeRanges } from './attribute-table.ts';

/** Everything of a span but its attributes. */
export interface SpanFields extends Omit<Span, 'attribute' | 'attributeKeys' | 'written' | 'droppedAttributes' | 'asWritten'> {
  /** Where the span starts in the body. */
  readonly at: number;
}

export class ProtobufSpan extends ProtobufAttributes implements Span {
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
  declare readonly droppedAttributes?: number;
  readonly wireBytes: number;
  readonly #at: number;

  constructor(fields: SpanFields, droppedAttributes: number, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.resource = fields.resource;
    this.scope = fields.scope;
    this.traceId = fields.traceId;
    this.spanId = fields.spanId;
    this.parentSpanId = fields.parentSpanId;
    this.traceState = fields.traceState;
    this.flags = fields.flags;
    this.name = fields.name;
    this.kind = fields.kind;
    this.startUnixNano = fields.startUnixNano;
    this.endUnixNano = fields.endUnixNano;
    this.status = fields.status;
    this.events = fields.events;
    this.links = fields.links;
    if (droppedAttributes > 0) this.droppedAttributes = droppedAttributes;
    this.wireBytes = fields.wireBytes;
    this.#at = fields.at;
  }

  asWritten(): Uint8Array {
    return this.bytesBetween(this.#at, this.#at + this.wireBytes);
  }
}

export class ProtobufEvent extends ProtobufAttributes implements SpanEvent {
  readonly name: string;
  readonly timeUnixNano: bigint;

  constructor(name: string, timeUnixNano: bigint, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.name = name;
    this.timeUnixNano = timeUnixNano;
  }
}

export class ProtobufLink extends ProtobufAttributes implements SpanLink {
  readonly traceId: TraceId;
  readonly spanId: SpanId;

  constructor(traceId: TraceId, spanId: SpanId, scanned: Scanned, ranges: AttributeRanges) {
    super(scanned, ranges);
    this.traceId = traceId;
    this.spanId = spanId;
  }
}
