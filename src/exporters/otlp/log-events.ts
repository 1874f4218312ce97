/** Verdicts as log records, for every logs backend that takes OTLP; those of several runs in a request when there are several. */
import { JuryError } from '../../model/errors.ts';
import type { Exporter } from '../exporter.ts';
import { itemsAtOnce, otlpExporter, recordWriters } from './otlp-exporter.ts';
import { resultRecords } from './evaluation-log-record.ts';
import type { ExporterSettings } from '../settings.ts';

export function logEventsExporter(settings: ExporterSettings): Exporter {
  if (settings.logsEndpoint === undefined) throw new JuryError('CONFIG_INVALID', 'The exporter log_events has no endpoint.');
  const exporter = otlpExporter(settings.logsEndpoint, settings, recordWriters);
  return {
    id: 'log_events',
    itemsAtOnce,
    async send(item) {
      try {
        const records = resultRecords(item);
        return records.length === 0 ? { kind: 'sent' } : await exporter.send(records);
      } catch (error) {
        return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
      }
    },
    probe: exporter.probe,
    plan: async (items) => exporter.plan(items.map(resultRecords)),
    async stop() {
      exporter.stop();
    },
  };
}
