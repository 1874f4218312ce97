/** Spans and log records of ours as OTLP/JSON. */
import {
  errorStatus,
  flagsOf,
  sampledRemote,
  scopeName,
  spanKinds,
  type OtlpWriter,
  type SentSpan,
  recordFlags,
  severities,
  type SentRecord,
} from './outgoing-items.ts';
import type { JsonObject } from '../../model/json.ts';
import { pairs } from './attributes.ts';

export function jsonSpans(): OtlpWriter<SentSpan> {
  return {
    contentType: 'application/json',
    write: (...spans) => listed(spans.map((span) => Buffer.from(JSON.stringify(spanBlock(span))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceSpans":['), listed(parts), Buffer.from(']}')]),
  };
}

const comma = Buffer.from(',');

export function listed(items: readonly Buffer[]): Buffer {
  return Buffer.concat(items.flatMap((item, at) => (at === 0 ? [item] : [comma, item])));
}

/** One span with its resource and scope. */
function spanBlock(span: SentSpan): JsonObject {
  return { resource: { attributes: pairs(span.resource) }, scopeSpans: [{ scope: { name: scopeName }, spans: [spanOf(span)] }] };
}

function spanOf(span: SentSpan): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.traceState === '' ? {} : { traceState: span.traceState }),
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: spanKinds[span.kind ?? 'internal'],
    startTimeUnixNano: span.startUnixNano.toString(),
    endTimeUnixNano: span.endUnixNano.toString(),
    attributes: pairs(span.attributes),
    events: span.events.map(({ timeUnixNano, name, attributes }) => ({
      timeUnixNano: timeUnixNano.toString(),
      name,
      attributes: pairs(attributes),
    })),
    links: span.links.map(({ traceId, spanId, traceState }) => ({
      traceId,
      spanId,
      ...(traceState === '' ? {} : { traceState }),
      flags: sampledRemote,
    })),
    ...(span.fault === undefined ? {} : { status: { code: errorStatus, message: span.fault } }),
    flags: flagsOf(span),
  };
}

export function jsonRecords(): OtlpWriter<SentRecord> {
  return {
    contentType: 'application/json',
    write: (...records) => listed(records.map((record) => Buffer.from(JSON.stringify(recordBlock(record))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceLogs":['), listed(parts), Buffer.from(']}')]),
  };
}

/** One record with its resource and scope. */
function recordBlock(record: SentRecord): JsonObject {
  return { resource: { attributes: pairs(record.resource) }, scopeLogs: [{ scope: { name: scopeName }, logRecords: [recordOf(record)] }] };
}

function recordOf({ traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: SentRecord): JsonObject {
  return {
    timeUnixNano: timeUnixNano.toString(),
    observedTimeUnixNano: timeUnixNano.toString(),
    severityNumber: severities[severity],
    severityText: severity,
    body: { stringValue: body },
    attributes: pairs(attributes),
    flags: recordFlags,
    traceId,
    spanId,
    eventName,
  };
}
