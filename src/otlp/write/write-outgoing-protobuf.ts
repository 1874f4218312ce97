/** Spans and log records of ours as protobuf. Written by hand: OpenTelemetry's serializer takes ten times as long, and has one type for whole and broken numbers. */
import {
  errorStatus,
  flagsOf,
  sampledRemote,
  scopeName,
  spanKinds,
  type OtlpWriter,
  type SentEvent,
  type SentLink,
  type SentSpan,
  recordFlags,
  severities,
  type SentRecord,
} from './outgoing-items.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import { writeAttributes } from './attributes.ts';

/** The field numbers stand beside the readers, in `otlp/envelope-protobuf.ts` and `otlp/spans-protobuf.ts`. */
export function protobufSpans(): OtlpWriter<SentSpan> {
  const out = protobufWriter();
  return {
    contentType: 'application/x-protobuf',
    write(...spans) {
      out.restart();
      for (const span of spans) out.message(1, () => writeSpanBlock(out, span));
      return out.result();
    },
    // A field that repeats may stand in several pieces.
    request: (parts) => (parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)),
  };
}

/** One span with its resource and scope. */
function writeSpanBlock(to: ProtobufWriter, span: SentSpan): void {
  to.message(1, () => writeAttributes(to, 1, span.resource));
  to.message(2, () => {
    to.message(1, () => to.text(1, scopeName));
    to.message(2, () => writeSpan(to, span));
  });
}

function writeSpan(to: ProtobufWriter, span: SentSpan): void {
  to.hex(1, span.traceId);
  to.hex(2, span.spanId);
  if (span.traceState !== '') to.text(3, span.traceState);
  if (span.parentSpanId !== undefined) to.hex(4, span.parentSpanId);
  to.text(5, span.name);
  to.varint(6, spanKinds[span.kind ?? 'internal']);
  to.fixed64(7, span.startUnixNano);
  to.fixed64(8, span.endUnixNano);
  writeAttributes(to, spanAttribute, span.attributes);
  writeEvents(to, span.events);
  for (const link of span.links) to.message(13, () => writeLink(to, link));
  const { fault } = span;
  if (fault !== undefined) {
    to.message(15, () => {
      to.text(2, fault);
      to.varint(3, errorStatus);
    });
  }
  to.fixed32(16, flagsOf(span));
}

/** Fields at the end of a span that somebody else has written. */
export function writeAddition(to: ProtobufWriter, { attributes, events }: Pick<SentSpan, 'attributes' | 'events'>): void {
  writeAttributes(to, spanAttribute, attributes);
  writeEvents(to, events);
}

const spanAttribute = 9;

function writeEvents(to: ProtobufWriter, events: readonly SentEvent[]): void {
  for (const event of events) to.message(11, () => writeEvent(to, event));
}

function writeEvent(to: ProtobufWriter, event: SentEvent): void {
  to.fixed64(1, event.timeUnixNano);
  to.text(2, event.name);
  writeAttributes(to, 3, event.attributes);
}

function writeLink(to: ProtobufWriter, link: SentLink): void {
  to.hex(1, link.traceId);
  to.hex(2, link.spanId);
  if (link.traceState !== '') to.text(3, link.traceState);
  to.fixed32(6, sampledRemote);
}

export function protobufRecords(): OtlpWriter<SentRecord> {
  const out = protobufWriter();
  return {
    contentType: 'application/x-protobuf',
    write(...records) {
      out.restart();
      for (const record of records) out.message(1, () => writeRecordBlock(out, record));
      return out.result();
    },
    // A field that repeats may stand in several pieces.
    request: (parts) => Buffer.concat(parts),
  };
}

/** One record with its resource and scope. */
function writeRecordBlock(to: ProtobufWriter, record: SentRecord): void {
  to.message(1, () => writeAttributes(to, 1, record.resource));
  to.message(2, () => {
    to.message(1, () => to.text(1, scopeName));
    to.message(2, () => writeRecord(to, record));
  });
}

function writeRecord(to: ProtobufWriter, { traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: SentRecord): void {
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
