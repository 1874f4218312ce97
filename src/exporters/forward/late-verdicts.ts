/** The scores that can no longer go on the spans of their run: those spans have gone on, and a span of ours follows them to the same place. */
import type { Exporter } from '../exporter.ts';
import type { ExporterSettings } from '../settings.ts';
import { spanEventsExporter } from '../otlp/span-events.ts';

export function forwardExporter(settings: ExporterSettings): Exporter {
  return { ...spanEventsExporter({ ...settings, judgeCalls: false }), id: 'forward' };
}
