/** Verdicts as span events, and what judges were asked for them, for every tracing backend that takes OTLP; several items in a request when there are several. */
import { wire } from '../../model/attributes.ts';
import { JuryError } from '../../model/errors.ts';
import { type Carrier, carrierOf } from './evaluation-span.ts';
import type { Exporter } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { judgeSpans, judgeTraceOf } from './judge-spans.ts';
import { itemsAtOnce, otlpExporter, spanWriters } from './otlp-exporter.ts';
import type { SentLink, SentSpan } from '../../otlp/write/outgoing-items.ts';
import type { ExporterSettings } from '../settings.ts';

export function spanEventsExporter(settings: ExporterSettings): Exporter {
  const exporter = otlpExporter(tracesUrl(settings), settings, spanWriters);
  return {
    id: 'span_events',
    itemsAtOnce,
    async send(item) {
      try {
        const spans = spansOf(item, settings.judgeCalls !== false);
        return spans.length === 0 ? { kind: 'sent' } : await exporter.send(spans);
      } catch (error) {
        return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
      }
    },
    probe: exporter.probe,
    plan: async (items) => exporter.plan(items.map((item) => spansOf(item, settings.judgeCalls !== false))),
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

/** The evaluation span, and the trace of what judges were asked, where that goes along: it links to the evaluation span, which names it. */
export function spansOf(item: ExportItem, tellsCalls: boolean): readonly SentSpan[] {
  const carrier = carrierOf(item);
  const asked = tellsCalls ? judgeTraceOf(item) : undefined;
  const carriers = carrier === undefined ? [] : [carrierSpan(carrier, item, asked)];
  return [
    ...carriers,
    ...(asked === undefined
      ? []
      : judgeSpans(
          item,
          carriers.map(({ traceId, spanId, traceState }) => ({ traceId, spanId, traceState })),
        )),
  ];
}

/** Child of the agent's span and linked to it, at its end: before it, the trace would look different; after it, longer. */
function carrierSpan(carrier: Carrier, { run }: ExportItem, asked: Pick<SentLink, 'traceId' | 'spanId'> | undefined): SentSpan {
  const { traceId, spanTraceId = traceId, spanId, traceState, endUnixNano } = run;
  return {
    resource: run.resourceAttributes,
    // Parent and child are of one trace, also where the run is known under another one.
    traceId: spanTraceId,
    spanId: carrier.spanId,
    parentSpanId: spanId,
    traceState,
    name: carrier.name,
    startUnixNano: endUnixNano,
    endUnixNano,
    attributes:
      asked === undefined
        ? carrier.attributes
        : { ...carrier.attributes, [wire.judgeTraceId]: asked.traceId, [wire.judgeSpanId]: asked.spanId },
    events: carrier.events.map((attributes) => ({ name: wire.evaluationEvent, timeUnixNano: endUnixNano, attributes })),
    // Who reads annotations of OpenInference goes by the one link: it is what they are about. Decision 40.
    links: [{ traceId: spanTraceId, spanId, traceState }],
  };
}
