/**
 * Spans → bytes of an OTLP request. Data that the model does not keep (dropped counts but that of attributes, schema urls, a link's trace state) is
 * not written.
 */
import type { Span, Attributed, Scope, LogRecord, Resource } from '../../model/span.ts';
import type { OtlpEncoding } from '../read/read.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { anyValueJson, writeKeyValue } from './attributes.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import { spanJson, writeSpan, type AttributesFormat, type WireSpan } from './span.ts';

/** An ExportTraceServiceRequest; in JSON it is one line, as files of JSON lines want it. Reading it gives equal spans. */
export function writeTraces(spans: readonly Span[], encoding: OtlpEncoding): Buffer {
  return encoding === 'json' ? writeTracesJson(spans) : writeTracesProtobuf(spans);
}

/** Spans → OTLP/JSON, on one line. The shape is documented in the readers. */
export function writeTracesJson(spans: readonly Span[]): Buffer {
  const groups = regroup(
    spans,
    (resource) => JSON.stringify(attributes(resource)),
    (scope) => JSON.stringify(scopeJson(scope)),
  );
  const resourceSpans = groups.map(({ resource, scopes }) => ({
    resource: { attributes: attributes(resource) },
    scopeSpans: scopes.map((group) => ({
      scope: scopeJson(group.scope),
      spans: group.spans.map((span) => spanJson(wireSpan(span), attributesFormat)),
    })),
  }));
  return Buffer.from(JSON.stringify({ resourceSpans }));
}

function scopeJson(scope: Scope): JsonObject {
  return { name: scope.name, version: scope.version, attributes: attributes(scope) };
}

/** OTLP's numbers. */
const statusCodes = { unset: 0, ok: 1, error: 2 } as const;

function wireSpan(span: Span): WireSpan<Attributed> {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.traceState,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: span.kind,
    startUnixNano: span.startUnixNano,
    endUnixNano: span.endUnixNano,
    attributes: span,
    droppedAttributes: span.droppedAttributes,
    events: span.events.map((event) => ({ timeUnixNano: event.timeUnixNano, name: event.name, attributes: event })),
    links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId, traceState: '', attributes: link, flags: 0 })),
    status: { code: statusCodes[span.status.code], message: span.status.message },
    flags: span.flags,
  };
}

const attributesFormat: AttributesFormat<Attributed> = { json: attributes, protobuf: writeAttributes };

function attributes(from: Attributed): readonly JsonValue[] {
  return from.attributeKeys().map((key) => ({ key, value: anyValueJson(from.attribute(key) ?? null) }));
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

/** Spans → the bytes of an ExportTraceServiceRequest. The grammar is documented in the readers. */
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
          for (const span of group.spans) out.message(2, () => writeSpan(out, wireSpan(span), attributesFormat));
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

function writeAttributes(to: ProtobufWriter, field: number, from: Attributed): void {
  for (const key of from.attributeKeys()) writeKeyValue(to, field, key, from.attribute(key) ?? null);
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

/** Groups neighbours whose resources and scopes have equal keys. The order of spans stays, as it shows which began first. */
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
