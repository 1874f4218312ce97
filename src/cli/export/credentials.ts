/** Whether the backends of a configuration take its credentials: one request each, which changes nothing. */
import type { Config, ExporterConfig } from '../../config/config.ts';
import { maskedUrl } from '../../config/secrets.ts';
import type { ExportOutcome } from '../../exporters/exporter.ts';
import { failureReason } from '../../exporters/delivery/export-outcome.ts';
import { probeMetrics } from '../../exporters/metrics/metrics-push.ts';
import { configuredExporter } from '../../service/create-exporter.ts';
import { clock, sleep } from '../../service/node-runtime.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

export interface Tried {
  readonly isRight: boolean;
  /** One line. */
  readonly text: string;
}

/** Asks one backend after the other, so that the answers stand in the order of the entries. */
export async function tryCredentials({ exporters }: Config): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const entry of exporters) tried.push(toldOf(entry, await outcomeOf(entry)));
  return tried;
}

/** Undefined: there is nothing to try. */
async function outcomeOf(entry: ExporterConfig): Promise<ExportOutcome | undefined> {
  if (entry.to === 'metrics') return entry.push === undefined ? undefined : await probeMetrics(entry.push);
  const exporter = configuredExporter(entry, { telemetry: noTelemetry, clock, sleep });
  try {
    return await exporter.probe?.();
  } finally {
    await exporter.stop();
  }
}

function toldOf(entry: ExporterConfig, outcome: ExportOutcome | undefined): Tried {
  if (outcome === undefined) return { isRight: true, text: `${entry.name}: nothing to try` };
  const address = addressOf(entry);
  const where = address === undefined ? entry.name : `${entry.name}: ${maskedUrl(address)}`;
  return outcome.kind === 'sent'
    ? { isRight: true, text: `${where} takes the credentials` }
    : { isRight: false, text: `${where} ${answerText(outcome.error)}` };
}

function addressOf(entry: ExporterConfig): string | undefined {
  if (entry.to === 'metrics') return entry.push?.url;
  return 'tracesEndpoint' in entry
    ? entry.tracesEndpoint
    : 'logsEndpoint' in entry
      ? entry.logsEndpoint
      : 'endpoint' in entry
        ? entry.endpoint
        : undefined;
}

function answerText(error: string): string {
  const { todo } = failureReason({ error });
  return `${error.startsWith('status ') ? 'answers' : 'does not answer:'} ${error}${todo === '' ? '' : `. ${todo}`}`;
}
