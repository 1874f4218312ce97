/** Spans and records as plain data, with every attribute read, so that they can be compared. */
import type { Attributed, AttributeValue, LogRecord, Scope, Span } from '../../src/model/span.ts';

export type PlainAttributes = readonly (readonly [string, AttributeValue | undefined])[];

export function plainAttributes(from: Attributed): PlainAttributes {
  return from.attributeKeys().map((key) => [key, from.attribute(key)] as const);
}

function plainScope(scope: Scope): object {
  return { name: scope.name, version: scope.version, attributes: plainAttributes(scope) };
}

export function plainSpan(span: Span): object {
  return {
    resource: plainAttributes(span.resource),
    scope: plainScope(span.scope),
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
    attributes: plainAttributes(span),
    droppedAttributes: span.droppedAttributes,
    events: span.events.map((event) => ({ name: event.name, timeUnixNano: event.timeUnixNano, attributes: plainAttributes(event) })),
    links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId, attributes: plainAttributes(link) })),
  };
}

export function plainRecord(record: LogRecord): object {
  return {
    resource: plainAttributes(record.resource),
    scope: plainScope(record.scope),
    traceId: record.traceId,
    spanId: record.spanId,
    timeUnixNano: record.timeUnixNano,
    eventName: record.eventName,
    body: record.body(),
    attributes: plainAttributes(record),
  };
}
