/** Spans → bytes of an OTLP request. What the model does not keep (dropped counts but that of attributes, schema urls, a link's trace state) is not written. */
import type { Span, Attributed, AttributeValue, Scope, LogRecord, Resource, SpanStatus } from '../../model/span.ts';
import type { OtlpEncoding } from '../read/read.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { isValueList } from '../read/attribute-table.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';

/** An ExportTraceServiceRequest; in JSON it is one line, as files of JSON lines want it. Reading it gives equal spans. */
export function writeTraces(spans: readonly Span[], encoding: OtlpEncoding): Buffer {
  return encoding === 'json' ? writeTracesJson(spans) : writeTracesProtobuf(spans);
}

/** Spans → OTLP/JSON, on one line. The shape stands beside the readers. */
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

function scopeJson(scope: Scope): JsonObject {
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

function attributes(from: Attributed): readonly JsonValue[] {
  return from.attributeKeys().map((key) => ({ key, value: anyValueJson(from.attribute(key) ?? null) }));
}

/** An integer outside 64 bits, which no reader gives, is written as a text: it keeps every digit. */
function anyValueJson(value: AttributeValue): JsonObject {
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

/** An ExportLogsServiceRequest; reading it gives equal records. Records of one resource and scope that follow one another share a block. */
export function writeLogsJson(records: readonly LogRecord[]): Buffer {
  const blocks: { readonly first: LogRecord; readonly own: JsonObject[] }[] = [];
  for (const record of records) {
    const last = blocks.at(-1);
    if (last !== undefined && last.first.resource === record.resource && last.first.scope === record.scope)
      last.own.push(recordJson(record));
    else blocks.push({ first: record, own: [recordJson(record)] });
  }
  const resourceLogs = blocks.map(({ first: { resource, scope }, own }) => ({
    resource: { attributes: attributes(resource) },
    scopeLogs: [{ scope: scopeJson(scope), logRecords: own }],
  }));
  return Buffer.from(JSON.stringify({ resourceLogs }));
}

function recordJson(record: LogRecord): JsonObject {
  const body = record.body();
  return {
    traceId: record.traceId,
    spanId: record.spanId ?? '',
    timeUnixNano: record.timeUnixNano.toString(),
    eventName: record.eventName,
    ...(body === undefined ? {} : { body: anyValueJson(body) }),
    attributes: attributes(record),
  };
}

/** Spans → the bytes of an ExportTraceServiceRequest. The grammar stands beside the readers. */
function writeTracesProtobuf(spans: readonly Span[]): Buffer {
  const out = protobufWriter();
  const alone = (write: (to: ProtobufWriter) => void): string => {
    const writer = protobufWriter();
    write(writer);
    return writer.result().toString('latin1');
  };
  const groups = regroup(
    spans,
    (resource) => alone((to) => writeAttributes(to, 1, resource)),
    (scope) => alone((to) => writeScope(to, scope)),
  );
  for (const { resource, scopes } of groups) {
    out.message(1, () => {
      writeResource(out, resource);
      for (const group of scopes) {
        out.message(2, () => {
          if (!isEmptyScope(group.scope)) out.message(1, () => writeScope(out, group.scope));
          for (const span of group.spans) out.message(2, () => writeSpan(out, span));
        });
      }
    });
  }
  return out.result();
}

export function writeResource(to: ProtobufWriter, resource: Resource): void {
  if (resource.attributeKeys().length > 0) to.message(1, () => writeAttributes(to, 1, resource));
}

export function isEmptyScope(scope: Scope): boolean {
  return scope.name === '' && scope.version === '' && scope.attributeKeys().length === 0;
}

export function writeScope(to: ProtobufWriter, scope: Scope): void {
  if (scope.name !== '') to.text(1, scope.name);
  if (scope.version !== '') to.text(2, scope.version);
  writeAttributes(to, 3, scope);
}

function writeSpan(to: ProtobufWriter, span: Span): void {
  to.hex(1, span.traceId);
  to.hex(2, span.spanId);
  if (span.traceState !== '') to.text(3, span.traceState);
  if (span.parentSpanId !== undefined) to.hex(4, span.parentSpanId);
  if (span.name !== '') to.text(5, span.name);
  if (span.kind !== 0) to.varint(6, span.kind);
  to.fixed64(7, span.startUnixNano);
  to.fixed64(8, span.endUnixNano);
  writeAttributes(to, 9, span);
  if (span.droppedAttributes !== undefined) to.varint(10, span.droppedAttributes);
  for (const event of span.events) {
    to.message(11, () => {
      to.fixed64(1, event.timeUnixNano);
      if (event.name !== '') to.text(2, event.name);
      writeAttributes(to, 3, event);
    });
  }
  for (const link of span.links) {
    to.message(13, () => {
      to.hex(1, link.traceId);
      to.hex(2, link.spanId);
      writeAttributes(to, 4, link);
    });
  }
  writeStatus(to, span.status);
  if (span.flags !== 0) to.fixed32(16, span.flags);
}

function writeStatus(to: ProtobufWriter, status: SpanStatus): void {
  if (status.code === 'unset' && status.message === '') return;
  to.message(15, () => {
    if (status.message !== '') to.text(2, status.message);
    if (status.code !== 'unset') to.varint(3, status.code === 'ok' ? 1 : 2);
  });
}

function writeAttributes(to: ProtobufWriter, field: number, from: Attributed): void {
  for (const key of from.attributeKeys()) writePair(to, field, key, from.attribute(key) ?? null);
}

function writePair(to: ProtobufWriter, field: number, key: string, value: AttributeValue): void {
  if (key !== '' && (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'))
    return to.pair(field, key, value, false);
  to.message(field, () => {
    if (key !== '') to.text(1, key);
    to.message(2, () => writeAnyValue(to, value));
  });
}

/** An integer outside 64 bits, which no reader gives, is written as a text: it keeps every digit. */
function writeAnyValue(to: ProtobufWriter, value: AttributeValue): void {
  if (value === null) return;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') to.scalar(value, false);
  else if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) === value) to.varint(3, value);
    else to.text(1, value.toString());
  } else if (value instanceof Uint8Array) to.bytes(7, value);
  else if (isValueList(value)) {
    to.message(5, () => {
      for (const item of value) to.message(1, () => writeAnyValue(to, item));
    });
  } else {
    to.message(6, () => {
      for (const key of Object.keys(value)) writePair(to, 1, key, value[key] ?? null);
    });
  }
}

/** Spans put back under their resource and scope, as a request has them. */
interface ResourceGroup {
  readonly resource: Resource;
  readonly scopes: readonly ScopeGroup[];
}

interface ScopeGroup {
  readonly scope: Scope;
  readonly spans: readonly Span[];
}

/** Neighbours whose resources and scopes have equal content, as the two key functions tell it, are one group: the order of the spans stays, for it tells which of them began first. */
function regroup(
  spans: readonly Span[],
  resourceKey: (resource: Resource) => string,
  scopeKey: (scope: Scope) => string,
): readonly ResourceGroup[] {
  const resourceKeys = remembered(resourceKey);
  const scopeKeys = remembered(scopeKey);
  const groups: {
    readonly key: string;
    readonly resource: Resource;
    readonly scopes: { readonly key: string; readonly scope: Scope; readonly spans: Span[] }[];
  }[] = [];
  for (const span of spans) {
    const [resourceIs, scopeIs] = [resourceKeys(span.resource), scopeKeys(span.scope)];
    let group = groups.at(-1);
    if (group?.key !== resourceIs) groups.push((group = { key: resourceIs, resource: span.resource, scopes: [] }));
    const last = group.scopes.at(-1);
    if (last?.key === scopeIs) last.spans.push(span);
    else group.scopes.push({ key: scopeIs, scope: span.scope, spans: [span] });
  }
  return groups;
}

/** The spans of one request share their resource and scope objects, so most keys are made once. */
function remembered<Value extends object>(key: (value: Value) => string): (value: Value) => string {
  const known = new Map<Value, string>();
  return (value) => {
    const text = known.get(value) ?? key(value);
    known.set(value, text);
    return text;
  };
}
