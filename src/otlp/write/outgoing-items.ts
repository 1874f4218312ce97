/** Spans and log records of the service, as plain values, and their writers. */
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { attributesJson, plainAttributes, writeAttributes } from './attributes.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import { spanJson, writeAddedFields, writeSpan, type WireSpan } from './span.ts';

export interface OutgoingSpan {
  /** Attributes of the resource under which it stands. */
  readonly resource: JsonObject;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** Undefined: it is the first of its trace. */
  readonly parentSpanId: SpanId | undefined;
  /** As it came with the span that it is about. */
  readonly traceState: string;
  readonly name: string;
  /** Internal when left out. */
  readonly kind?: 'client';
  /** True when the service began its trace. Otherwise its parent is in another process. */
  readonly ownTrace?: true;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly attributes: JsonObject;
  readonly events: readonly OutgoingEvent[];
  readonly links: readonly OutgoingLink[];
  /** The fault in it; `undefined` without one. */
  readonly fault?: string;
}

interface OutgoingEvent {
  readonly name: string;
  readonly timeUnixNano: bigint;
  readonly attributes: JsonObject;
}

export interface OutgoingLink {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly traceState: string;
}

/** Writes spans, or records, one at a time, and puts them together to a request. */
export interface OtlpWriter<Item> {
  readonly contentType: string;
  /** A part of a request: at least one item. The same items give the same bytes. Throws on what cannot be written. */
  write(...items: readonly Item[]): Buffer;
  /** Joins any number of parts; without parts the request is empty. */
  request(parts: readonly Buffer[]): Buffer;
}

export const scopeName = 'tracejury';
/** OTLP's numbers of kinds. */
const spanKinds = { internal: 1, client: 3 } as const;
/** OTLP's number of the status of what failed. */
const errorStatus = 2;
/** W3C sampled; and of the parent or the linked span it is known (0x100) that it is in another process (0x200). */
const sampledRemote = 0x301;
/** The same when the parent is a span of the service. */
const sampledHere = 0x101;

function wireSpan({ kind, ownTrace, fault, links, ...span }: OutgoingSpan): WireSpan<JsonObject> {
  return {
    ...span,
    kind: spanKinds[kind ?? 'internal'],
    links: links.map((link) => ({ ...link, flags: sampledRemote })),
    status: fault === undefined ? { code: 0, message: '' } : { code: errorStatus, message: fault },
    flags: ownTrace === true ? sampledHere : sampledRemote,
  };
}

/** A log record of the service, as plain values. */
export interface OutgoingLog {
  /** Attributes of the resource under which it stands. */
  readonly resource: JsonObject;
  /** The span that it is about. */
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly timeUnixNano: bigint;
  readonly severity: keyof typeof severities;
  readonly eventName: string;
  /** The text that a list of records shows to people. */
  readonly body: string;
  readonly attributes: JsonObject;
}

/** OTLP's numbers of severities. */
const severities = { INFO: 9, WARN: 13, ERROR: 17 } as const;
/** W3C sampled. */
const recordFlags = 1;

/** Writes spans as OTLP/JSON. */
export function jsonSpans(): OtlpWriter<OutgoingSpan> {
  return {
    contentType: 'application/json',
    write: (...spans) => listed(spans.map((span) => Buffer.from(JSON.stringify(spanBlock(span))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceSpans":['), listed(parts), Buffer.from(']}')]),
  };
}

const comma = Buffer.from(',');

function listed(items: readonly Buffer[]): Buffer {
  return Buffer.concat(items.flatMap((item, at) => (at === 0 ? [item] : [comma, item])));
}

/** One span with its resource and scope. */
function spanBlock(span: OutgoingSpan): JsonObject {
  return {
    resource: { attributes: attributesJson(span.resource) },
    scopeSpans: [{ scope: { name: scopeName }, spans: [spanJson(wireSpan(span), plainAttributes)] }],
  };
}

export function jsonRecords(): OtlpWriter<OutgoingLog> {
  return {
    contentType: 'application/json',
    write: (...records) => listed(records.map((record) => Buffer.from(JSON.stringify(recordBlock(record))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceLogs":['), listed(parts), Buffer.from(']}')]),
  };
}

/** One record with its resource and scope. */
function recordBlock(record: OutgoingLog): JsonObject {
  return {
    resource: { attributes: attributesJson(record.resource) },
    scopeLogs: [{ scope: { name: scopeName }, logRecords: [recordOf(record)] }],
  };
}

function recordOf({ traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: OutgoingLog): JsonObject {
  return {
    timeUnixNano: timeUnixNano.toString(),
    observedTimeUnixNano: timeUnixNano.toString(),
    severityNumber: severities[severity],
    severityText: severity,
    body: { stringValue: body },
    attributes: attributesJson(attributes),
    flags: recordFlags,
    traceId,
    spanId,
    eventName,
  };
}

/** Writes spans as protobuf. OpenTelemetry's serializer takes ten times as long and does not keep whole numbers as doubles. */

/** The field numbers are documented in the readers, `otlp/envelope-protobuf.ts` and `otlp/spans-protobuf.ts`. */
export function protobufSpans(): OtlpWriter<OutgoingSpan> {
  const out = protobufWriter();
  return {
    contentType: 'application/x-protobuf',
    write(...spans) {
      out.restart();
      for (const span of spans) out.message(1, () => writeSpanBlock(out, span));
      return out.result();
    },
    // A repeated field may be in several pieces.
    request: (parts) => (parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)),
  };
}

/** One span with its resource and scope. */
function writeSpanBlock(to: ProtobufWriter, span: OutgoingSpan): void {
  to.message(1, () => writeAttributes(to, 1, span.resource));
  to.message(2, () => {
    to.message(1, () => to.text(1, scopeName));
    to.message(2, () => writeSpan(to, wireSpan(span), plainAttributes));
  });
}

/** Fields at the end of a span that another process has written. */
export function writeAddition(to: ProtobufWriter, addition: Pick<OutgoingSpan, 'attributes' | 'events'>): void {
  writeAddedFields(to, addition, plainAttributes);
}

export function protobufRecords(): OtlpWriter<OutgoingLog> {
  const out = protobufWriter();
  return {
    contentType: 'application/x-protobuf',
    write(...records) {
      out.restart();
      for (const record of records) out.message(1, () => writeRecordBlock(out, record));
      return out.result();
    },
    // A repeated field may be in several pieces.
    request: (parts) => Buffer.concat(parts),
  };
}

/** One record with its resource and scope. */
function writeRecordBlock(to: ProtobufWriter, record: OutgoingLog): void {
  to.message(1, () => writeAttributes(to, 1, record.resource));
  to.message(2, () => {
    to.message(1, () => to.text(1, scopeName));
    to.message(2, () => writeRecord(to, record));
  });
}

function writeRecord(to: ProtobufWriter, { traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: OutgoingLog): void {
  to.fixed64(1, timeUnixNano);
  to.varint(2, severities[severity]);
  to.text(3, severity);
  to.message(5, () => to.text(1, body));
  writeAttributes(to, 6, attributes);
  to.fixed32(8, recordFlags);
  to.hex(9, traceId);
  to.hex(10, spanId);
  to.fixed64(11, timeUnixNano);
  to.text(12, eventName);
}
