/** Converts spans of the OpenTelemetry JavaScript SDK. */
import type { Attributes, HrTime, Link } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { parseSpanId, parseTraceId } from '../model/ids.ts';
import type { Attributed, AttributeValue, Scope, Span, SpanKind, SpanLink, SpanStatus } from '../model/span.ts';

/** Version 1 of the SDK has other names for the parent and the scope. */
export type SdkSpan = Omit<ReadableSpan, 'instrumentationScope'> & {
  readonly parentSpanId?: string;
  readonly instrumentationScope?: ReadableSpan['instrumentationScope'];
  readonly instrumentationLibrary?: ReadableSpan['instrumentationScope'];
};

/** The SDK counts kinds from 0, OTLP from 1. */
const kinds: readonly SpanKind[] = [1, 2, 3, 4, 5];
const statusCodes: readonly SpanStatus['code'][] = ['unset', 'ok', 'error'];
/** OTLP span flags: bit 8 means that bit 9 is known, bit 9 that the parent is in another process. */
const remoteIsKnown = 0x100;
const isRemote = 0x200;

/** `undefined` for a span that was never recorded: it has no valid ids. */
export function spanOf(from: SdkSpan): Span | undefined {
  const { traceId: trace, spanId: id, traceFlags, traceState } = from.spanContext();
  const [traceId, spanId] = [parseTraceId(trace), parseSpanId(id)];
  if (traceId === undefined || spanId === undefined) return undefined;
  const parent = from.parentSpanContext?.spanId ?? from.parentSpanId;
  return {
    ...attributed(from.attributes),
    resource: attributed(from.resource.attributes),
    scope: scopeOf(from),
    traceId,
    spanId,
    parentSpanId: parent === undefined ? undefined : parseSpanId(parent),
    traceState: traceState?.serialize() ?? '',
    flags: (traceFlags & 0xff) | remoteIsKnown | (from.parentSpanContext?.isRemote === true ? isRemote : 0),
    name: from.name,
    kind: kinds[from.kind] ?? 0,
    startUnixNano: nanos(from.startTime),
    endUnixNano: nanos(from.endTime),
    status: { code: statusCodes[from.status.code] ?? 'unset', message: from.status.message ?? '' },
    events: from.events.map((event) => ({ ...attributed(event.attributes), name: event.name, timeUnixNano: nanos(event.time) })),
    links: from.links.flatMap(linkOf),
    wireBytes: 0,
  };
}

function scopeOf({ instrumentationScope, instrumentationLibrary }: SdkSpan): Scope {
  const scope = instrumentationScope ?? instrumentationLibrary;
  return { ...attributed({}), name: scope?.name ?? '', version: scope?.version ?? '' };
}

function linkOf({ context, attributes }: Link): readonly SpanLink[] {
  const [traceId, spanId] = [parseTraceId(context.traceId), parseSpanId(context.spanId)];
  return traceId === undefined || spanId === undefined ? [] : [{ ...attributed(attributes), traceId, spanId }];
}

function attributed(attributes: Attributes = {}): Attributed {
  const values = new Map(
    Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [[key, valueOf(value)] as const])),
  );
  return { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] };
}

function valueOf(value: NonNullable<Attributes[string]>): AttributeValue {
  return Array.isArray(value) ? value.map((item) => item ?? null) : value;
}

function nanos([seconds, nanoseconds]: HrTime): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(Math.round(nanoseconds));
}
