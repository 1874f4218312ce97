/** The exporter of an entry of the configuration. */
import type { ExporterConfig } from '../config/config.ts';
import type { Exporter } from '../exporters/exporter.ts';
import { exporters } from '../exporters/index.ts';
import type { ExporterDeps, ExporterSettings } from '../exporters/settings.ts';

export function configuredExporter(config: ExporterConfig, parts: ExporterDeps): Exporter {
  const make: (settings: ExporterSettings, parts: ExporterDeps) => Exporter = exporters[config.to];
  return make(config.to === 'metrics' ? {} : config, parts);
}
