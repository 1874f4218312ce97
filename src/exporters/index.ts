/** The exporters by the name that a configuration entry gives under `to`. */
import type { Exporter } from './exporter.ts';
import { metricsExporter } from './metrics.ts';
import type { ExporterParts, ExporterSettings } from './settings.ts';
import { spanEventsExporter } from './span-events.ts';

export const exporters = {
  span_events: spanEventsExporter,
  metrics: metricsExporter,
} as const satisfies { readonly [id: string]: (settings: ExporterSettings, parts: ExporterParts) => Exporter };
