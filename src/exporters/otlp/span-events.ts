/** Verdicts as span events, and what judges were asked for them, for every tracing backend that takes OTLP; several items in a request when there are several. */
import { JuryError } from '../../model/errors.ts';
import type { Exporter } from '../exporter.ts';
import { spansOf } from './item-spans.ts';
import { itemsAtOnce, otlpExporter, spanWriters } from './otlp-exporter.ts';
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
