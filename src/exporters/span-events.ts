/**
 * Verdicts as span events, for every tracing backend that takes OTLP. Spans are made with the OpenTelemetry SDK and handed to its OTLP
 * serializers, several items in a request when there are several: no batch processor, which would drop when full.
 */
import { type HrTime, type Link, ROOT_CONTEXT, type SpanContext, trace, TraceFlags, type TraceState } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { wire } from '../model/attributes.ts';
import { JuryError } from '../model/errors.ts';
import type { SpanId, TraceId } from '../model/ids.ts';
import { type Carrier, carrierEventsMax, carrierOf } from './carrier.ts';
import type { ExportedRun, Exporter } from './exporter.ts';
import { otlpExporter, spansAtOnce } from './otlp-exporter.ts';
import { otlpValues } from './otlp-values.ts';
import type { ExporterSettings } from './settings.ts';

/** A carrier has a fixed set of attributes and seven for each result. */
const attributesMax = 50 + carrierEventsMax * 7;

export function spanEventsExporter(settings: ExporterSettings): Exporter {
  const exporter = otlpExporter(tracesUrl(settings), settings);
  return {
    id: 'span_events',
    itemsAtOnce: spansAtOnce,
    async send(item) {
      try {
        const carrier = carrierOf(item);
        return carrier === undefined ? { kind: 'sent' } : await exporter.send(spanOf(carrier, item.run));
      } catch (error) {
        return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
      }
    },
    async stop() {
      exporter.stop();
    },
  };
}

/** As the OTLP exporter variables define it: a base URL gets the path of the signal, a signal's own URL is taken as it is. */
export function tracesUrl({ endpoint, tracesEndpoint }: ExporterSettings): string {
  if (tracesEndpoint !== undefined) return tracesEndpoint;
  if (endpoint === undefined) throw new JuryError('CONFIG_INVALID', 'The exporter span_events has no endpoint.');
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

/** One provider a span: the resource is the agent's, and a provider costs next to nothing. Nothing is kept of it. */
function spanOf(carrier: Carrier, run: ExportedRun): ReadableSpan {
  const ended: ReadableSpan[] = [];
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes(otlpValues(run.resourceAttributes)),
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateSpanId: () => carrier.spanId, generateTraceId: () => run.traceId },
    spanProcessors: [{ onStart() {}, onEnd: (span) => void ended.push(span), forceFlush: async () => {}, shutdown: async () => {} }],
    spanLimits: { attributeCountLimit: attributesMax, eventCountLimit: carrierEventsMax, attributeValueLengthLimit: Infinity },
  });
  // At the agent span's end: before it, the trace would look different; after it, longer.
  const time = hrTime(run.endUnixNano);
  const agentSpan = contextOf(run, run.spanId, run.spanTraceId);
  const links: Link[] = [{ context: agentSpan }];
  if (carrier.replaces !== undefined) links.push({ context: contextOf(run, carrier.replaces, run.spanTraceId) });
  const span = provider
    .getTracer('tracejury')
    .startSpan(carrier.name, { startTime: time, attributes: otlpValues(carrier.attributes), links }, trace.setSpanContext(ROOT_CONTEXT, agentSpan));
  for (const event of carrier.events) span.addEvent(wire.evaluationEvent, otlpValues(event), time);
  span.end(time);
  const [readable] = ended;
  if (readable === undefined) throw new Error('the SDK did not end the span');
  return readable;
}

function contextOf(run: ExportedRun, spanId: SpanId, traceId: TraceId = run.traceId): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true, ...(run.traceState === '' ? {} : { traceState: verbatim(run.traceState) }) };
}

/** The SDK's own reading of a tracestate drops what is too long; this one passes it on as it came. */
function verbatim(text: string): TraceState {
  const state: TraceState = { get: () => undefined, set: () => state, unset: () => state, serialize: () => text };
  return state;
}

function hrTime(unixNano: bigint): HrTime {
  return [Number(unixNano / 1_000_000_000n), Number(unixNano % 1_000_000_000n)];
}
