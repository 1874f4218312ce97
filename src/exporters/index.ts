/** The exporters by the name that a configuration entry gives under `to`. */
import { braintrust } from './braintrust.ts';
import { datadog } from './datadog.ts';
import type { Exporter } from './exporter.ts';
import { forwardExporter } from './forward.ts';
import { laminar } from './laminar.ts';
import { langfuse } from './langfuse.ts';
import { langsmith } from './langsmith.ts';
import { logEventsExporter } from './log-events.ts';
import { metricsExporter } from './metrics.ts';
import { mlflow } from './mlflow.ts';
import type { NativeBackend } from './native-backend.ts';
import { nativeExporter } from './native-exporter.ts';
import { opik } from './opik.ts';
import { phoenix } from './phoenix.ts';
import type { ExporterParts, ExporterSettings } from './settings.ts';
import { spanEventsExporter } from './span-events.ts';
import { webhookExporter } from './webhook.ts';

type MakeExporter = (settings: ExporterSettings, parts: ExporterParts) => Exporter;

/** Backends with scores of their own. */
export const natives = [phoenix, langfuse, mlflow, langsmith, opik, datadog, braintrust, laminar] as const satisfies readonly NativeBackend[];
export type NativeId = (typeof natives)[number]['id'];

const ofNatives: Partial<Record<NativeId, MakeExporter>> = Object.fromEntries(natives.map((backend) => [backend.id, nativeExporter(backend)]));

export const exporters = { span_events: spanEventsExporter, log_events: logEventsExporter, metrics: metricsExporter, webhook: webhookExporter, forward: forwardExporter, ...(ofNatives as Readonly<Record<NativeId, MakeExporter>>) } as const satisfies { readonly [id: string]: MakeExporter };
