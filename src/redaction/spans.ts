/** Redacts spans and log records: every text, attribute names and numbers included. Ids and times stay. */
import type { Attributed, AttributeMap, AttributeValue, LogRecord, Scope, Span } from '../model/span.ts';
import type { JsonValue } from '../model/json.ts';
import type { Search } from './search.ts';

/** Redacted resources and scopes, which spans share. */
export type SharedParts = Map<Attributed, Attributed>;

export function changedSpan(span: Span, search: Search, shared: SharedParts): Span {
  // Lists every member, as an unknown one might contain the original text.
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    flags: span.flags,
    kind: span.kind,
    startUnixNano: span.startUnixNano,
    endUnixNano: span.endUnixNano,
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributes: span.droppedAttributes }),
    wireBytes: span.wireBytes,
    ...changedAttributes(span, search),
    resource: once(shared, span.resource, (resource) => changedAttributes(resource, search)),
    scope: once(shared, span.scope, (scope) => changedScope(scope, search)),
    // A shortened tracestate would be invalid.
    traceState: search.text(span.traceState) === span.traceState ? span.traceState : '',
    name: search.text(span.name),
    status: { code: span.status.code, message: search.text(span.status.message) },
    events: span.events.map((event) => ({
      timeUnixNano: event.timeUnixNano,
      name: search.text(event.name),
      ...changedAttributes(event, search),
    })),
    links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId, ...changedAttributes(link, search) })),
  };
}

export function changedRecord(record: LogRecord, search: Search, shared: SharedParts): LogRecord {
  const body = record.body();
  const changed = body === undefined ? undefined : changedValue(body, search);
  return {
    traceId: record.traceId,
    spanId: record.spanId,
    timeUnixNano: record.timeUnixNano,
    wireBytes: record.wireBytes,
    // Collectors recognise a record by its event name.
    eventName: search.text(record.eventName),
    resource: once(shared, record.resource, (resource) => changedAttributes(resource, search)),
    scope: once(shared, record.scope, (scope) => changedScope(scope, search)),
    body: () => changed,
    ...changedAttributes(record, search),
  };
}

function once<Part extends Attributed>(shared: SharedParts, part: Part, change: (part: Part) => Part): Part {
  const known = shared.get(part);
  if (known !== undefined) return known as Part;
  const changed = change(part);
  shared.set(part, changed);
  return changed;
}

function changedScope(scope: Scope, search: Search): Scope {
  return { name: search.text(scope.name), version: search.text(scope.version), ...changedAttributes(scope, search) };
}

function changedAttributes(from: Attributed, search: Search): Attributed {
  const map = Object.create(null) as { [key: string]: AttributeValue };
  for (const key of from.attributeKeys()) map[key] = from.attribute(key) ?? null;
  const values = new Map(Object.entries(changedValue(map, search) as AttributeMap));
  return { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] };
}

function changedValue(value: AttributeValue, search: Search): AttributeValue {
  return search.json(withoutBytes(value, search));
}

/** Searches bytes as text, which replaces them when it matches. Decoders bound the depth of values. */
function withoutBytes(value: AttributeValue, search: Search): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value).toString();
    const changed = search.text(text);
    // The search ignores values that are not JSON.
    return changed === text ? (value as unknown as JsonValue) : changed;
  }
  if (Array.isArray(value)) return (value as readonly AttributeValue[]).map((item) => withoutBytes(item, search));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutBytes(item, search)]));
}
