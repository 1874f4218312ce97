/** Spans → OTLP/JSON, on one line. The shape stands beside the readers. */
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { Attributed, AttributeValue, Scope, Span } from '../../model/span.ts';
import { isValueList } from '../read/attributes.ts';
import { regroup } from './group-by-resource.ts';

export function writeTracesJson(spans: readonly Span[]): Buffer {
  const groups = regroup(
    spans,
    (resource) => JSON.stringify(attributes(resource)),
    (scope) => JSON.stringify(scopeJson(scope)),
  );
  const resourceSpans = groups.map(({ resource, scopes }) => ({
    resource: { attributes: attributes(resource) },
    scopeSpans: scopes.map((group) => ({ scope: scopeJson(group.scope), spans: group.spans.map(spanJson) })),
  }));
  return Buffer.from(JSON.stringify({ resourceSpans }));
}

export function scopeJson(scope: Scope): JsonObject {
  return { name: scope.name, version: scope.version, attributes: attributes(scope) };
}

function spanJson(span: Span): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    traceState: span.traceState,
    flags: span.flags,
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: span.startUnixNano.toString(),
    endTimeUnixNano: span.endUnixNano.toString(),
    attributes: attributes(span),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributesCount: span.droppedAttributes }),
    events: span.events.map((event) => ({ timeUnixNano: event.timeUnixNano.toString(), name: event.name, attributes: attributes(event) })),
    links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId, attributes: attributes(link) })),
    status: { code: statusCodes[span.status.code], message: span.status.message },
  };
}

const statusCodes = { unset: 0, ok: 1, error: 2 } as const;

export function attributes(from: Attributed): readonly JsonValue[] {
  return from.attributeKeys().map((key) => ({ key, value: anyValueJson(from.attribute(key) ?? null) }));
}

/** An integer outside 64 bits, which no reader gives, is written as a text: it keeps every digit. */
export function anyValueJson(value: AttributeValue): JsonObject {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint')
    return BigInt.asIntN(64, value) === value ? { intValue: value.toString() } : { stringValue: value.toString() };
  if (typeof value === 'number') return numberJson(value);
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
  if (isValueList(value)) return { arrayValue: { values: value.map(anyValueJson) } };
  return { kvlistValue: { values: Object.keys(value).map((key) => ({ key, value: anyValueJson(value[key] ?? null) })) } };
}

function numberJson(value: number): JsonObject {
  if (Object.is(value, -0)) return { doubleValue: '-0' };
  if (Number.isSafeInteger(value)) return { intValue: value.toString() };
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}
