/** Sends evaluation spans through an exporter of the OpenTelemetry SDK. Timers are arguments, so that tests pass theirs. */
import { type Attributes, context, type HrTime, type SpanContext, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { isJsonArray, jsonText, type JsonValue } from '../model/json.ts';
import { type OutgoingSpan, scopeName } from '../otlp/write/outgoing-items.ts';
import { contained } from '../runtime/contained.ts';

export interface ProcessTimers {
  /** Calls back once, unless the returned function is called before. It keeps the process alive only with `keepsAlive`. */
  after(ms: number, callback: () => void, keepsAlive?: boolean): () => void;
  /** Calls back once after the current turn of the event loop. It never keeps the process alive. */
  soon(callback: () => void): void;
}

export const machineTimers: ProcessTimers = {
  after(ms, callback, keepsAlive = false) {
    const timer = setTimeout(callback, Math.min(ms, 2_147_483_647));
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
  soon(callback) {
    setImmediate(callback).unref();
  },
};

interface SentSpansOptions {
  readonly exporter: SpanExporter;
  readonly waitingMax: number;
  readonly timers: ProcessTimers;
  /** Called when no span waits any more. */
  readonly onIdle: () => void;
}

export interface SentSpans {
  /** Never throws. */
  add(spans: readonly OutgoingSpan[]): void;
  isBusy(): boolean;
  counts(): { readonly sent: number; readonly failed: number; readonly dropped: number };
}

const batchMax = 128;
/** Deadline of an export. The OTLP exporters end after 10 s themselves. */
const exportMs = 30_000;

export function sentSpans({ exporter, waitingMax, timers, onIdle }: SentSpansOptions): SentSpans {
  const counts = { sent: 0, failed: 0, dropped: 0 };
  const waiting: ReadableSpan[] = [];
  let isSending = false;

  function send(): void {
    if (isSending) return;
    const batch = waiting.splice(0, batchMax);
    if (batch.length === 0) return onIdle();
    isSending = true;
    let isOver = false;
    const over = (isSent: boolean): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      counts[isSent ? 'sent' : 'failed'] += batch.length;
      isSending = false;
      send();
    };
    const cancel = timers.after(exportMs, () => over(false));
    // Suppresses spans of instrumentations for these requests.
    contained(
      () => context.with(suppressTracing(context.active()), () => exporter.export(batch, ({ code }) => over(code === 0))),
      () => over(false),
    );
  }

  return {
    add(spans) {
      const room = waitingMax - waiting.length;
      counts.dropped += Math.max(0, spans.length - room);
      waiting.push(...spans.slice(0, Math.max(0, room)).map(readable));
      timers.soon(send);
    },
    isBusy: () => isSending || waiting.length > 0,
    counts: () => ({ ...counts }),
  };
}

/** Converts an evaluation span to an ended span of the SDK. */
function readable(span: OutgoingSpan): ReadableSpan {
  const [startTime, endTime] = [timeOf(span.startUnixNano), timeOf(span.endUnixNano)];
  const context = contextOf(span.traceId, span.spanId);
  return {
    name: span.name,
    kind: span.kind === 'client' ? 2 : 0,
    spanContext: () => context,
    ...(span.parentSpanId === undefined ? {} : { parentSpanContext: contextOf(span.traceId, span.parentSpanId) }),
    startTime,
    endTime,
    duration: [endTime[0] - startTime[0], endTime[1] - startTime[1]],
    ended: true,
    status: span.fault === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: span.fault },
    attributes: attributesOf(span.attributes),
    links: span.links.map(({ traceId, spanId }) => ({ context: contextOf(traceId, spanId) })),
    events: span.events.map(({ name, timeUnixNano, attributes }) => ({
      name,
      time: timeOf(timeUnixNano),
      attributes: attributesOf(attributes),
    })),
    resource: resourceOf(span),
    instrumentationScope: { name: scopeName },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function resourceOf({ resource }: OutgoingSpan): Resource {
  return resourceFromAttributes(attributesOf(resource));
}

function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

/** The SDK supports no objects as values. */
function attributesOf(values: OutgoingSpan['attributes']): Attributes {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, attributeOf(value)]));
}

function attributeOf(value: JsonValue): Attributes[string] {
  if (value === null) return undefined;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object') return value;
  return isJsonArray(value) && value.every((item) => typeof item === 'string') ? [...value] : jsonText(value);
}

const nanosPerSecond = 1_000_000_000n;

function timeOf(unixNano: bigint): HrTime {
  return [Number(unixNano / nanosPerSecond), Number(unixNano % nanosPerSecond)];
}
