/** `tracejury/span-processor`: scores runs in the process of the agent from spans of the OpenTelemetry SDK, without a service. */
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { processScoring, type SpanProcessorOptions, type SpanProcessorStats } from './scoring.ts';
import { machineTimers } from './span-sender.ts';

/**
 * A span processor of the SDK. It gathers ended spans, closes runs as the service does, scores them, and sends evaluation spans by the exporter.
 * It never throws into the agent and works between the agent's turns. Throws a TypeError from its constructor when an option is wrong.
 */
export class TracejurySpanProcessor implements SpanProcessor {
  readonly #scoring: ReturnType<typeof processScoring>;

  constructor(options: SpanProcessorOptions = {}) {
    const exporter = options.exporter ?? otlpExporter();
    this.#scoring = processScoring({ ...options, exporter }, { clock: { nowMs: () => Date.now() }, timers: machineTimers });
  }

  onStart(): void {
    // A span counts when it has ended.
  }

  onEnd(span: ReadableSpan): void {
    this.#scoring.ended(span);
  }

  /** Scores complete runs, and resolves when their scores are sent or the deadline is over. */
  async forceFlush(): Promise<void> {
    await this.#scoring.flush();
  }

  /** Scores all runs, sends the scores, and shuts the exporter down. May be called twice. */
  async shutdown(): Promise<void> {
    await this.#scoring.shutdown();
  }

  /** Counts since the start of the process. */
  stats(): SpanProcessorStats {
    return this.#scoring.stats();
  }
}

/** The exporter of the OTLP variables: HTTP with protobuf, or with JSON if they ask for it. */
function otlpExporter(): SpanExporter {
  const protocol = process.env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? process.env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
}

export type { SpanProcessorOptions, SpanProcessorStats } from './scoring.ts';
