/** Spans of ours as OTLP/JSON. */
import type { JsonObject } from '../../model/json.ts';
import { pairs } from './attribute-pairs.ts';
import { errorStatus, flagsOf, sampledRemote, scopeName, spanKinds, type OtlpWriter, type SentSpan } from './outgoing-span.ts';

export function jsonSpans(): OtlpWriter<SentSpan> {
  return {
    contentType: 'application/json',
    write: (...spans) => listed(spans.map((span) => Buffer.from(JSON.stringify(blockOf(span))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceSpans":['), listed(parts), Buffer.from(']}')]),
  };
}

const comma = Buffer.from(',');

export function listed(items: readonly Buffer[]): Buffer {
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
