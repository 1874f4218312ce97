/** Makes and sends spans of the service itself with the OpenTelemetry SDK. Imported only when the configuration asks for them. */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace, type Attributes } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Config } from '../../config/config.ts';
import { wire } from '../../model/attributes.ts';
import { scopeName } from '../../otlp/write/outgoing-items.ts';
import { periodicTask } from '../../runtime/periodic-task.ts';
import { logThrottle } from '../../runtime/throttled-log.ts';
import type { OwnSpan, SpanSink } from './self-tracing.ts';
import type { Context } from '../../telemetry/context.ts';

export interface SdkSinkOptions extends Context {
  readonly traces: NonNullable<Config['ownTraces']>;
  /** Resource attributes beside `service.name`, from `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resource: { readonly [name: string]: string };
  /** Called when spans could not be sent, at most once a minute. */
  readonly onFault: (error: unknown) => void;
  /** Default: OTLP over HTTP, configured by `traces`. */
  readonly exporter?: SpanExporter;
}

/** Spans that wait; the sink drops and counts later ones. */
const waitingMax = 2_048;
const batchMax = 512;
const sendEveryMs = 5_000;

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

export function sdkSink({ traces, resource, telemetry, clock, sleep, onFault, exporter = otlpExporter(traces) }: SdkSinkOptions): SpanSink {
  const sampler = new TraceIdRatioBasedSampler(traces.sample);
  const waiting = waitingSpans({ exporter, telemetry, clock, onFault });
  // The SDK asks for ids while it makes a span. That is synchronous, so they belong to the span in `make`.
  let ids = { traceId: '', spanId: '' };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ [wire.serviceName]: scopeName, [wire.openInferenceProject]: scopeName, ...resource }),
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [waiting.processor],
  });
  const tracer = provider.getTracer(scopeName);
  const sending = periodicTask({ everyMs: sendEveryMs, sleep, work: waiting.send, onFault });

  function make(span: OwnSpan): void {
    ids = span;
    const { parentSpanId } = span;
    const parent =
      parentSpanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { traceId: span.traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED });
    const made = tracer.startSpan(
      span.name,
      {
        kind: kinds[span.kind],
        startTime: span.startMs,
        attributes: {
          ...(span.attributes as Attributes),
          [wire.generated]: true,
          ...(span.fault === undefined ? {} : { [wire.errorType]: span.fault }),
        },
        links: span.links.map(({ traceId, spanId }) => ({ context: { traceId, spanId, traceFlags: TraceFlags.NONE } })),
      },
      parent,
    );
    for (const { name, atMs, attributes } of span.events) made.addEvent(name, attributes as Attributes, atMs);
    if (span.fault !== undefined) made.setStatus({ code: SpanStatusCode.ERROR });
    made.end(span.endMs);
  }

  return {
    isSampled: (traceId) => sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    end(span) {
      try {
        make(span);
      } catch (error) {
        waiting.lost(error);
      }
    },
    async stop(deadlineMs) {
      const deadline = new AbortController();
      const sent = sending.stop().then(waiting.sendLast);
      await Promise.race([sent.then(() => exporter.shutdown()).catch(onFault), sleep(deadlineMs, deadline.signal)]);
      deadline.abort();
      waiting.abandon();
    },
  };
}

interface WaitingSpans {
  readonly processor: SpanProcessor;
  /** Sends waiting spans until a batch fails. Never rejects. */
  readonly send: () => Promise<void>;
  /** The same at a stop, unless the last batch failed. */
  readonly sendLast: () => Promise<void>;
  /** Counts a span that could not be made. */
  readonly lost: (error: unknown) => void;
  /** Drops and counts waiting spans. */
  readonly abandon: () => void;
}

function waitingSpans({
  exporter,
  telemetry,
  clock,
  onFault,
}: Required<Pick<SdkSinkOptions, 'exporter' | 'telemetry' | 'clock' | 'onFault'>>): WaitingSpans {
  let spans: ReadableSpan[] = [];
  const due = logThrottle({ clock });
  let isFailing = false;
  let isOver = false;
  let inFlight = 0;
  const count = (outcome: 'sent' | 'failed' | 'dropped', number: number): void =>
    telemetry.add('tracejury.own_spans', number, { 'tracejury.outcome': outcome });

  async function send(): Promise<void> {
    while (spans.length > 0) {
      const batch = spans.splice(0, batchMax);
      inFlight = batch.length;
      const error = await new Promise<Error | undefined>((resolve) =>
        exporter.export(batch, (result) => resolve(result.code === 0 ? undefined : (result.error ?? new Error('refused')))),
      ).catch((fault: unknown) => (fault instanceof Error ? fault : new Error('unknown')));
      // `abandon` has counted the batch.
      if (isOver) return;
      inFlight = 0;
      count(error === undefined ? 'sent' : 'failed', batch.length);
      isFailing = error !== undefined;
      if (error !== undefined) return report(error);
    }
  }

  function report(error: unknown): void {
    if (due('fault') !== undefined) onFault(error);
  }

  return {
    processor: {
      onStart: () => undefined,
      onEnd(span) {
        if (isOver || spans.length >= waitingMax) count('dropped', 1);
        else spans.push(span);
      },
      forceFlush: send,
      async shutdown() {
        spans = [];
      },
    },
    send,
    sendLast: async () => (isFailing ? undefined : await send()),
    lost(error) {
      count('failed', 1);
      report(error);
    },
    abandon() {
      const left = spans.length + inFlight;
      if (left > 0) count('dropped', left);
      [isOver, spans, inFlight] = [true, [], 0];
    },
  };
}

function otlpExporter({ url, headers, protocol }: SdkSinkOptions['traces']): SpanExporter {
  return protocol === 'http/json'
    ? new JsonExporter({ url, headers: { ...headers } })
    : new ProtobufExporter({ url, headers: { ...headers } });
}
