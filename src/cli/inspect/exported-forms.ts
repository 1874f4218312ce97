/**
 * Spans as other programs write them into files, as an OTLP request: traces that Tempo and Jaeger give for download, and what an SDK's `to_json`
 * writes.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue, objectsAt, objectAt, textAt } from '../../model/json.ts';
import { parseTimeText } from '../../model/timestamp.ts';

/** Undefined: the value has none of these forms. */
export function otlpOf(value: JsonValue): JsonObject | undefined {
  if (isJsonArray(value))
    return value.length > 0 && value.every(isSdkSpan) ? { resourceSpans: value.map((span) => sdkBlock(span)) } : undefined;
  if (!isJsonObject(value)) return undefined;
  if (isSdkSpan(value)) return { resourceSpans: [sdkBlock(value)] };
  const data = member(value, 'data');
  if (isJsonArray(data) && data.length > 0 && data.every(isJaegerTrace)) return { resourceSpans: data.flatMap(jaegerBlocks) };
  const held = member(value, 'trace') ?? member(value, 'result');
  const blocks = isJsonObject(held) ? (member(held, 'resourceSpans') ?? member(held, 'batches')) : member(value, 'batches');
  return isJsonArray(blocks) ? { resourceSpans: blocks.map(withHexIds) } : undefined;
}

const idKeys: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);
/** Names before OTLP 0.19. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['instrumentationLibrarySpans', 'scopeSpans'],
  ['instrumentationLibrary', 'scope'],
]);

/** Tempo writes protobuf as JSON, with ids in base64. */
function withHexIds(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(withHexIds);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      renamed.get(key) ?? key,
      idKeys.has(key) && typeof inner === 'string' ? hexId(inner) : withHexIds(inner),
    ]),
  );
}

const HEX_ID = /^(?:[\da-f]{16}|[\da-f]{32})$/i;

export function hexId(id: string): string {
  return HEX_ID.test(id) ? id : Buffer.from(id, 'base64').toString('hex');
}

function isJaegerTrace(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && isJsonArray(member(value, 'spans')) && isJsonObject(member(value, 'processes'));
}

/** Blocks of one trace; none when the value is not a trace. */
export function jaegerBlocks(trace: JsonValue): readonly JsonObject[] {
  if (!isJaegerTrace(trace)) return [];
  const processes = objectAt(trace, 'processes');
  return objectsAt(trace, 'spans').map((span) => {
    const process = objectAt(processes, textIn(span, 'processID'));
    const tags = new Map(objectsAt(span, 'tags').map((tag) => [textIn(tag, 'key'), tag]));
    const tagText = (...keys: readonly string[]): string =>
      keys.map((key) => textIn(tags.get(key) ?? {}, 'value')).find((text) => text !== '') ?? '';
    const start = microsIn(span, 'startTime');
    const isError = tagText('otel.status_code') === 'ERROR' || member(tags.get('error') ?? {}, 'value') === true;
    return block(
      [...objectsAt(process, 'tags').map(jaegerAttribute), attribute('service.name', textIn(process, 'serviceName'))],
      tagText('otel.scope.name', 'otel.library.name'),
      {
        traceId: textIn(span, 'traceID').padStart(32, '0'),
        spanId: textIn(span, 'spanID').padStart(16, '0'),
        parentSpanId: jaegerParent(span),
        name: textIn(span, 'operationName'),
        kind: kindOf(tagText('span.kind')),
        startTimeUnixNano: nanosText(start),
        endTimeUnixNano: nanosText(start + microsIn(span, 'duration')),
        attributes: [...tags.values()].map(jaegerAttribute),
        events: objectsAt(span, 'logs').map((log) => {
          const fields = objectsAt(log, 'fields');
          const named = fields.find((field) => textIn(field, 'key') === 'event');
          return {
            name: named === undefined ? 'log' : textIn(named, 'value'),
            timeUnixNano: nanosText(microsIn(log, 'timestamp')),
            attributes: fields.filter((field) => field !== named).map(jaegerAttribute),
          };
        }),
        status: isError ? { code: 2, message: tagText('otel.status_description') } : { code: tagText('otel.status_code') === 'OK' ? 1 : 0 },
      },
    );
  });
}

function jaegerParent(span: JsonObject): string {
  const references = objectsAt(span, 'references').filter((one) => textIn(one, 'traceID') === textIn(span, 'traceID'));
  const parent = references.find((one) => textIn(one, 'refType') === 'CHILD_OF') ?? references[0];
  const id = parent === undefined ? '' : textIn(parent, 'spanID');
  return id === '' ? '' : id.padStart(16, '0');
}

/** Jaeger writes the type beside the value. */
function jaegerAttribute(tag: JsonObject): JsonObject {
  const value = member(tag, 'value') ?? null;
  return textIn(tag, 'type') === 'int64' && typeof value === 'string'
    ? { key: textIn(tag, 'key'), value: { intValue: value } }
    : attribute(textIn(tag, 'key'), value);
}

function isSdkSpan(value: JsonValue): value is JsonObject {
  const context = isJsonObject(value) ? member(value, 'context') : undefined;
  return isJsonObject(context) && typeof member(context, 'trace_id') === 'string' && typeof member(context, 'span_id') === 'string';
}

/** `resource`: attributes beside those of the span's resource. */
export function sdkBlock(value: JsonValue, resource: readonly JsonObject[] = []): JsonObject {
  const span = isJsonObject(value) ? value : {};
  const context = objectAt(span, 'context');
  const status = member(span, 'status');
  const told = isJsonObject(status) ? status : span;
  return block(
    [...attributesOf(objectAt(objectAt(span, 'resource'), 'attributes')), ...resource],
    textIn(objectAt(span, 'instrumentation_scope'), 'name'),
    {
      traceId: withoutPrefix(textIn(context, 'trace_id')),
      spanId: withoutPrefix(textIn(context, 'span_id')),
      parentSpanId: withoutPrefix(textIn(span, 'parent_id')),
      name: textIn(span, 'name'),
      kind: kindOf(textIn(span, 'kind').replace('SpanKind.', '')),
      startTimeUnixNano: sdkTime(member(span, 'start_time')),
      endTimeUnixNano: sdkTime(member(span, 'end_time')),
      attributes: attributesOf(objectAt(span, 'attributes')),
      events: objectsAt(span, 'events').map((event) => ({
        name: textIn(event, 'name'),
        timeUnixNano: sdkTime(member(event, 'timestamp')),
        attributes: attributesOf(objectAt(event, 'attributes')),
      })),
      status: {
        code: Math.max(0, ['UNSET', 'OK', 'ERROR'].indexOf(textIn(told, 'status_code').replace('StatusCode.', ''))),
        message: textIn(told, 'description') || textIn(span, 'status_message'),
      },
    },
  );
}

function withoutPrefix(id: string): string {
  return id.replace(/^0x/, '');
}

/** A time in words, or in nanoseconds. */
function sdkTime(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return value === undefined || value === null ? '0' : String(value);
  return nanosText(parseTimeText(value) ?? 0);
}

export function block(resource: readonly JsonObject[], scope: string, span: JsonObject): JsonObject {
  return { resource: { attributes: resource }, scopeSpans: [{ scope: { name: scope }, spans: [span] }] };
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

function kindOf(name: string): number {
  return Math.max(0, kinds.indexOf(name.toUpperCase()));
}

export function attributesOf(object: JsonObject): readonly JsonObject[] {
  return Object.entries(object).map(([key, value]) => attribute(key, value));
}

export function attribute(key: string, value: JsonValue): JsonObject {
  return { key, value: anyValue(value) };
}

function anyValue(value: JsonValue): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint' || Number.isInteger(value)) return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: value };
  if (isJsonArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return value === null ? {} : { kvlistValue: { values: attributesOf(value) } };
}

export function textIn(from: JsonObject, key: string): string {
  return textAt(from, key) ?? '';
}

function microsIn(from: JsonObject, key: string): number {
  const value = member(from, key);
  return typeof value === 'number' ? Math.max(0, Math.trunc(value)) : 0;
}

export function nanosText(micros: number): string {
  return String(BigInt(micros) * 1_000n);
}
