/** Spans as resources of the API, and as lines of OTLP/JSON. */
import type { SpanId } from '../../model/ids.ts';
import { type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { type Attributed, type AttributeValue, endOf, type Span, type SpanLink } from '../../model/span.ts';
import { timeText } from '../../model/timestamp.ts';
import type { Unbundled } from '../../otlp/cut/bundle.ts';
import { writeLogsJson, writeTraces } from '../../otlp/write/write.ts';
import { ownSpans } from '../../pipeline/reporting/span-readings.ts';

/** One OTLP/JSON request a line, as the Collector's file exporter writes them: traces, then logs. */
export function otlpLines({ spans, records }: Unbundled): string {
  return [
    ...(spans.length === 0 ? [] : [writeTraces(spans, 'json').toString()]),
    ...(records.length === 0 ? [] : [writeLogsJson(records).toString()]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Most characters of one text; `cut` names longer attributes. */
const textCharsMax = 20_000;
const eventsMax = 100;
/** Most bytes of one page as JSON. A page has at least one span. */
const pageCharsMax = 4_000_000;

interface SpanPage {
  readonly spans: readonly JsonObject[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

/** The run's own spans by start, then the other spans of its trace. Spans with the same start keep the order of their arrival. */
export function spanPage(
  spans: readonly Span[],
  root: SpanId,
  { from, limit }: { readonly from: number; readonly limit: number },
): SpanPage {
  const own = ownSpans(spans, root);
  const ordered = spans.toSorted(
    (one, other) => Number(own.has(other)) - Number(own.has(one)) || compared(one.startUnixNano, other.startUnixNano),
  );
  const page: JsonObject[] = [];
  let chars = 0;
  for (const span of ordered.slice(from, from + limit)) {
    const json = spanJson(span, own.has(span));
    chars += jsonText(json).length;
    if (page.length > 0 && chars > pageCharsMax) break;
    page.push(json);
  }
  const next = from + page.length;
  return { spans: page, next: page.length > 0 && next < ordered.length ? next : undefined };
}

export const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/** The attributes are cut, and `cut` names those. */
interface ShownSpan {
  readonly span: Span;
  readonly isOwn: boolean;
  readonly attributes: JsonObject;
  readonly events: readonly JsonObject[];
  readonly cut: readonly string[];
}

export const spanResource = api.resource<ShownSpan>()('Span', {
  trace_id: [api.text, ({ span }) => span.traceId],
  span_id: [api.text, ({ span }) => span.spanId],
  parent_span_id: [api.textOrNull(), ({ span }) => span.parentSpanId],
  of_run: [{ ...api.flag, description: 'True for the run’s span and its descendants.' }, ({ isOwn }) => isOwn],
  name: [api.text, ({ span }) => textJson(span.name)],
  kind: [{ enum: spanKinds }, ({ span }) => spanKinds[span.kind]],
  started_at: [api.time, ({ span }) => timeText(span.startUnixNano)],
  ended_at: [api.time, ({ span }) => timeText(endOf(span))],
  status: [
    api.object({ code: { enum: ['unset', 'ok', 'error'] }, message: api.text }),
    ({ span: { status } }) => ({ code: status.code, message: textJson(status.message) }),
  ],
  service: [api.textOrNull(), ({ span }) => serviceOf(span)?.slice(0, textCharsMax)],
  scope: [api.text, ({ span }) => textJson(span.scope.name)],
  attributes: { type: 'object' },
  events: api.many(api.object({ name: api.text, at: api.time, attributes: { type: 'object' } })),
  links: [api.many(api.inline<SpanLink>()({ trace_id: api.text, span_id: api.text })), ({ span }) => span.links.slice(0, eventsMax)],
  cut: api.many(api.text, 'Shortened attributes; `otlp` has their full text.'),
});

export function serviceOf({ resource: of }: Span): string | undefined {
  const service = of.attribute('service.name');
  return typeof service === 'string' ? service : undefined;
}

export function spanJson(span: Span, isOwn: boolean): JsonObject {
  const cut: string[] = [];
  const attributes = attributesJson(span, cut);
  const events = span.events
    .slice(0, eventsMax)
    .map((event) => ({ name: textJson(event.name), at: timeText(event.timeUnixNano), attributes: attributesJson(event, cut) }));
  return spanResource.write({ span, isOwn, attributes, events, cut: [...new Set(cut)] });
}

/** Adds the names of shortened attributes to `cut`. */
function attributesJson(from: Attributed, cut: string[]): JsonObject {
  const entries = from.attributeKeys().map((key) => {
    const value = plainJson(from.attribute(key) ?? null);
    const text = typeof value === 'string' ? value : jsonText(value);
    if (text.length <= textCharsMax) return [key, value] as const;
    cut.push(key);
    return [key, textJson(text)] as const;
  });
  return Object.fromEntries(entries);
}

function plainJson(value: AttributeValue): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return (value as readonly AttributeValue[]).map(plainJson);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item)]));
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function textJson(text: string): string {
  return text.slice(0, textCharsMax);
}

function compared(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
