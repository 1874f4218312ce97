/** Spans and log records from plain data: a test shows only what matters to it. Ids are numbers, times milliseconds. */
import { parseTraceId, type TraceId } from '../../src/model/ids.ts';
import type { Attributed, AttributeValue, LogRecord, Span, SpanKind, SpanStatus } from '../../src/model/span.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { spanId } from './agent-trace.ts';

export interface Attributes {
  readonly [key: string]: AttributeValue;
}

export interface SpanData {
  readonly id: number;
  readonly parent?: number | undefined;
  readonly trace?: number;
  readonly name?: string;
  readonly scope?: string;
  readonly kind?: SpanKind;
  readonly start?: number;
  readonly end?: number;
  readonly status?: SpanStatus['code'];
  readonly message?: string;
  readonly flags?: number;
  readonly dropped?: number;
  readonly attributes?: Attributes;
  readonly resource?: Attributes;
  readonly links?: readonly { readonly trace: number; readonly span: number }[];
  readonly events?: readonly { readonly name: string; readonly attributes?: Attributes }[];
  readonly bytes?: number;
}

/** The flags of a span whose parent is in another process. */
export const remoteParent = 0x300;

export function span(data: SpanData): Span {
  const start = data.start ?? data.id;
  return {
    ...attributed(data.attributes ?? {}),
    resource: attributed(data.resource ?? {}),
    scope: { ...attributed({}), name: data.scope ?? 'test', version: '' },
    traceId: traceId(data.trace ?? 1),
    spanId: spanId(data.id),
    parentSpanId: data.parent === undefined ? undefined : spanId(data.parent),
    traceState: '',
    flags: data.flags ?? 1,
    name: data.name ?? `span ${data.id}`,
    kind: data.kind ?? 1,
    startUnixNano: nanos(start),
    endUnixNano: nanos(data.end ?? start + 1),
    status: { code: data.status ?? 'unset', message: data.message ?? '' },
    events: (data.events ?? []).map((event) => ({ ...attributed(event.attributes ?? {}), name: event.name, timeUnixNano: nanos(start) })),
    links: (data.links ?? []).map((link) => ({ ...attributed({}), traceId: traceId(link.trace), spanId: spanId(link.span) })),
    ...(data.dropped === undefined ? {} : { droppedAttributes: data.dropped }),
    wireBytes: data.bytes ?? 100,
    // A copy with other members writes these.
    asWritten() {
      return readTraces(writeTraces([this], 'protobuf'), 'protobuf').spans[0]?.asWritten?.() ?? { bytes: Buffer.of(), start: 0, end: 0 };
    },
  };
}

export interface RecordData {
  /** The span that the record belongs to; undefined: the trace as a whole. */
  readonly span: number | undefined;
  readonly trace?: number;
  readonly time?: number;
  readonly event: string;
  readonly body?: AttributeValue;
  readonly attributes?: Attributes;
  readonly bytes?: number;
}

export function record(data: RecordData): LogRecord {
  return {
    ...attributed(data.attributes ?? {}),
    resource: attributed({}),
    scope: { ...attributed({}), name: 'test', version: '' },
    traceId: traceId(data.trace ?? 1),
    spanId: data.span === undefined ? undefined : spanId(data.span),
    timeUnixNano: nanos(data.time ?? 0),
    eventName: data.event,
    body: () => data.body,
    wireBytes: data.bytes ?? 100,
  };
}

export function attributed(attributes: Attributes): Attributed {
  const values = new Map(Object.entries(attributes));
  return { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] };
}

export function traceId(number: number): TraceId {
  const id = parseTraceId(number.toString(16).padStart(32, '0'));
  if (id === undefined) throw new Error(`${number} makes no trace id`);
  return id;
}

export function nanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000_000));
}
