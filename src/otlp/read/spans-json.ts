/** Spans out of OTLP/JSON bodies. The whole body is parsed; attribute values are turned into ours when they are asked for. */
import { parseSpanId, parseTraceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Resource, Scope, Span, SpanEvent, SpanKind, SpanLink, SpanStatus } from '../../model/span.ts';
import { attributesOf } from './any-value-json.ts';
import { readJsonEnvelope } from './envelope-json.ts';
import { optionalSpanId, requiredIds } from './span-ids.ts';
import { enumeration, object, objects, text, time, uint32 } from './json-fields.ts';
import { note, takeItem, type Scan } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';

export function readTracesJson(body: Buffer, scan: Scan): Steps<readonly Span[]> {
  const itemsMax = scan.limits.spansPerRequest;
  return readJsonEnvelope(body, scan, {
    resourceBlocks: ['resourceSpans', 'resource_spans'],
    scopeBlocks: ['scopeSpans', 'scope_spans'],
    items: ['spans'],
    itemsMax,
    tooMany: { reason: 'too_many_spans', detail: `more than ${itemsMax} spans in one request` },
    read: readSpan,
  });
}

function readSpan(from: JsonObject, scan: Scan, resource: Resource, scope: Scope): Span | undefined {
  const ids = requiredIds(scan, text(scan, from, 'traceId', 'trace_id'), text(scan, from, 'spanId', 'span_id'));
  const parentSpanId = optionalSpanId(scan, text(scan, from, 'parentSpanId', 'parent_span_id'), 'invalid_parent_span_id');
  const traceState = text(scan, from, 'traceState', 'trace_state');
  const flags = uint32(scan, from, 'flags');
  const name = text(scan, from, 'name');
  const kind = spanKind(enumeration(scan, from, 'SPAN_KIND_', spanKinds, 'kind'));
  const startUnixNano = time(scan, from, 'startTimeUnixNano', 'start_time_unix_nano');
  const endUnixNano = time(scan, from, 'endTimeUnixNano', 'end_time_unix_nano');
  const status = readStatus(scan, from);
  const droppedAttributes = uint32(scan, from, 'droppedAttributesCount');
  const { attribute, attributeKeys, keyShape } = attributesOf(scan, from);
  const events = readEvents(scan, from);
  const links = readLinks(scan, from);
  if (ids === undefined || scan.fault !== undefined) return undefined;
  const { traceId, spanId } = ids;
  const wireBytes = fixedBytes + scan.bytes;
  return {
    ...(droppedAttributes === 0 ? {} : { droppedAttributes }),
    resource,
    scope,
    traceId,
    spanId,
    parentSpanId,
    traceState,
    flags,
    name,
    kind,
    startUnixNano,
    endUnixNano,
    status,
    events,
    links,
    wireBytes,
    attribute,
    attributeKeys,
    ...(keyShape === undefined ? {} : { keyShape }),
  };
}

/** The size of a span without texts in protobuf; `wireBytes` of JSON spans approximates their protobuf size. */
const fixedBytes = 24;

const spanKinds: readonly string[] = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const statusCodes: readonly string[] = ['UNSET', 'OK', 'ERROR'];

function spanKind(kind: number): SpanKind {
  return kind === 1 || kind === 2 || kind === 3 || kind === 4 || kind === 5 ? kind : 0;
}

function readStatus(scan: Scan, from: JsonObject): SpanStatus {
  const status = object(scan, from, 'status');
  if (status === undefined) return { code: 'unset', message: '' };
  const code = enumeration(scan, status, 'STATUS_CODE_', statusCodes, 'code');
  return { code: code === 2 ? 'error' : code === 1 ? 'ok' : 'unset', message: text(scan, status, 'message') };
}

function readEvents(scan: Scan, from: JsonObject): readonly SpanEvent[] {
  const events = objects(scan, from, 'events');
  if (events.length > scan.limits.eventsPerSpan) note(scan, 'too_many_events', `${events.length} events`);
  return events
    .filter(() => takeItem(scan))
    .map((event) => ({
      name: text(scan, event, 'name'),
      timeUnixNano: time(scan, event, 'timeUnixNano', 'time_unix_nano'),
      ...attributesOf(scan, event),
    }));
}

/** A link to no valid span is left out. */
function readLinks(scan: Scan, from: JsonObject): readonly SpanLink[] {
  const links = objects(scan, from, 'links');
  if (links.length > scan.limits.linksPerSpan) note(scan, 'too_many_links', `${links.length} links`);
  return links
    .filter(() => takeItem(scan))
    .flatMap((link) => {
      const traceId = parseTraceId(text(scan, link, 'traceId', 'trace_id'));
      const spanId = parseSpanId(text(scan, link, 'spanId', 'span_id'));
      const attributes = attributesOf(scan, link);
      return traceId === undefined || spanId === undefined ? [] : [{ traceId, spanId, ...attributes }];
    });
}
