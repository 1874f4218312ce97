/** Spans of ours as OTLP/JSON. */
import { isJsonArray, type JsonObject, type JsonValue } from '../model/json.ts';
import { isDouble, sentValue, type SentValue } from './attribute-values.ts';
import { errorStatus, flagsOf, sampledRemote, scopeName, spanKinds, type SentSpan, type SpanWriter } from './sent-span.ts';

export function jsonSpans(): SpanWriter {
  return {
    contentType: 'application/json',
    write: (...spans) => listed(spans.map((span) => Buffer.from(JSON.stringify(blockOf(span))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceSpans":['), listed(parts), Buffer.from(']}')]),
  };
}

const comma = Buffer.from(',');

function listed(items: readonly Buffer[]): Buffer {
  return Buffer.concat(items.flatMap((item, at) => (at === 0 ? [item] : [comma, item])));
}

/** One span with its resource and scope. */
function blockOf(span: SentSpan): JsonObject {
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
    events: span.events.map(({ timeUnixNano, name, attributes }) => ({ timeUnixNano: timeUnixNano.toString(), name, attributes: pairs(attributes) })),
    links: span.links.map(({ traceId, spanId, traceState }) => ({ traceId, spanId, ...(traceState === '' ? {} : { traceState }), flags: sampledRemote })),
    ...(span.fault === undefined ? {} : { status: { code: errorStatus, message: span.fault } }),
    flags: flagsOf(span),
  };
}

function pairs(attributes: JsonObject): readonly JsonValue[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const sent = sentValue(value);
    return sent === undefined ? [] : [{ key, value: anyValue(sent, isDouble(key)) }];
  });
}

/** Integers are texts and what JSON has no number for is named: as the protobuf JSON mapping has it. */
function anyValue(value: SentValue, asDouble: boolean): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (isJsonArray(value)) return { arrayValue: { values: value.map((item) => anyValue(item, asDouble)) } };
  if (!asDouble && Number.isSafeInteger(value) && !Object.is(value, -0)) return { intValue: value.toString() };
  return { doubleValue: !Number.isFinite(value) ? String(value) : Object.is(value, -0) ? '-0' : value };
}
