/** The spans that are kept of a run's trace, as pages of JSON and as a file that can be scored again. */
import type { SpanId } from '../../model/ids.ts';
import { jsonText, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Attributed, AttributeValue, Span } from '../../model/span.ts';
import { timeText } from '../../model/timestamp.ts';
import type { Unbundled } from '../../otlp/cut/bundle.ts';
import { writeLogsJson, writeTraces } from '../../otlp/write/write.ts';

/** One OTLP/JSON request a line, as the Collector's file exporter writes them: traces, then logs where there are any. */
export function otlpLines({ spans, records }: Unbundled): string {
  return [
    ...(spans.length === 0 ? [] : [writeTraces(spans, 'json').toString()]),
    ...(records.length === 0 ? [] : [writeLogsJson(records).toString()]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Of one text; the rest is left out and the attribute is named in `cut`. */
const textCharsMax = 20_000;
const eventsMax = 100;
/** Of one page, as JSON: what is beyond comes on the next one. At least one span is told. */
const pageCharsMax = 4_000_000;

export interface SpanPage {
  readonly spans: readonly JsonObject[];
  /** Undefined: there are no more. */
  readonly next: number | undefined;
}

/** The run's own spans first, in order of their starts, then the others of its trace. Spans with one start stay as they are kept: as they arrived. */
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

/** The run's span and all that hangs on it, sub-agents included. */
function ownSpans(spans: readonly Span[], root: SpanId): ReadonlySet<Span> {
  const children = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId);
  const own = new Set(spans.filter(({ spanId }) => spanId === root));
  const next: SpanId[] = [root];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    for (const child of children.get(at) ?? []) {
      if (own.has(child)) continue;
      own.add(child);
      next.push(child.spanId);
    }
  }
  return own;
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

function spanJson(span: Span, isOwn: boolean): JsonObject {
  const cut: string[] = [];
  const attributes = attributesJson(span, cut);
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId ?? null,
    of_run: isOwn,
    name: textJson(span.name),
    kind: kinds[span.kind],
    started_at: timeText(span.startUnixNano),
    ended_at: timeText(span.endUnixNano),
    status: { code: span.status.code, message: textJson(span.status.message) },
    service: typeof span.resource.attribute('service.name') === 'string' ? textJson(String(span.resource.attribute('service.name'))) : null,
    scope: textJson(span.scope.name),
    attributes,
    events: span.events
      .slice(0, eventsMax)
      .map((event) => ({ name: textJson(event.name), at: timeText(event.timeUnixNano), attributes: attributesJson(event, cut) })),
    links: span.links.slice(0, eventsMax).map(({ traceId, spanId }) => ({ trace_id: traceId, span_id: spanId })),
    cut: [...new Set(cut)],
  };
}

/** Names of attributes that were cut short are added to `cut`. */
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
