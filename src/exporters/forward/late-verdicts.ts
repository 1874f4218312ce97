/** Sends verdicts whose spans are already forwarded, in an evaluation span to the same destination. */
import type { Exporter } from '../exporter.ts';
import type { ExporterSettings } from '../settings.ts';
import { spanEventsExporter } from '../otlp/span-events.ts';

export function forwardExporter(settings: ExporterSettings): Exporter {
  return { ...spanEventsExporter({ ...settings, judgeCalls: false }), id: 'forward' };
}
