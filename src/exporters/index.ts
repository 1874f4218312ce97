/** The exporters by the value of `to` in a configuration entry. */
import { braintrust } from './scores/braintrust.ts';
import { datadog } from './scores/datadog.ts';
import type { Exporter } from './exporter.ts';
import { spanEventsExporter, forwardExporter } from './otlp/span-events.ts';
import { laminar } from './scores/laminar.ts';
import { langfuse } from './scores/langfuse.ts';
import { langsmith } from './scores/langsmith.ts';
import { logEventsExporter } from './otlp/log-events.ts';
import { metricsExporter } from './metrics/metrics.ts';
import { mlflow } from './scores/mlflow.ts';
import type { ScoreApiBackend } from './scores/score-api-backend.ts';
import { scoreApiExporter } from './scores/score-api-exporter.ts';
import { opik } from './scores/opik.ts';
import { phoenix } from './scores/phoenix.ts';
import type { ExporterDeps, ExporterSettings } from './settings.ts';
import { webhookExporter } from './webhook/webhook.ts';

type MakeExporter = (settings: ExporterSettings, parts: ExporterDeps) => Exporter;

/** Backends with a score API. */
export const scoreApis = [
  phoenix,
  langfuse,
  mlflow,
  langsmith,
  opik,
  datadog,
  braintrust,
  laminar,
] as const satisfies readonly ScoreApiBackend[];
export type ScoreApiId = (typeof scoreApis)[number]['id'];

const scoreApiExporters: Partial<Record<ScoreApiId, MakeExporter>> = Object.fromEntries(
  scoreApis.map((backend) => [backend.id, scoreApiExporter(backend)]),
);

export const exporters = {
  span_events: spanEventsExporter,
  log_events: logEventsExporter,
  metrics: metricsExporter,
  webhook: webhookExporter,
  forward: forwardExporter,
  ...(scoreApiExporters as Readonly<Record<ScoreApiId, MakeExporter>>),
} as const satisfies { readonly [id: string]: MakeExporter };
