/** Sends verdicts as span events, with a trace of the judge calls, over OTLP. */
import { JuryError } from '../../model/errors.ts';
import type { Exporter } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { spansOf } from './item-spans.ts';
import { otlpExporter, spanWriters } from './otlp-exporter.ts';
import type { ExporterSettings } from '../settings.ts';

export function spanEventsExporter(settings: ExporterSettings): Exporter {
  const writers = { ...spanWriters, of: (item: ExportItem) => spansOf(item, settings) };
  return { id: 'span_events', ...otlpExporter(tracesUrl(settings), settings, writers) };
}

/** Follows the OTLP exporter variables: a base URL gets the path of the signal, the URL of a signal is used unchanged. */
export function tracesUrl({ endpoint, tracesEndpoint }: ExporterSettings): string {
  if (tracesEndpoint !== undefined) return tracesEndpoint;
  if (endpoint === undefined) throw new JuryError('CONFIG_INVALID', 'The exporter span_events has no endpoint.');
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

export function forwardExporter(settings: ExporterSettings): Exporter {
  return { ...spanEventsExporter({ ...settings, judgeCalls: false, detail: 'full' }), id: 'forward' };
}
