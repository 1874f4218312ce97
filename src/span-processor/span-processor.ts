/** `tracejury/span-processor`: scores the runs of agents in their own process, by the spans that the OpenTelemetry SDK makes there. No service is needed. */
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { processScoring, type SpanProcessorOptions, type SpanProcessorStats } from './scoring.ts';
import { machineTimers } from './sending.ts';

/**
 * A span processor of the SDK. It gathers ended spans, closes runs as the service does, scores them, and sends the evaluation span by the exporter.
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

  /** Scores what is complete, and resolves when its scores are sent or the deadline is over. */
  async forceFlush(): Promise<void> {
    await this.#scoring.flush();
  }

  /** Scores everything, complete or not, sends it, and shuts the exporter down. May be called twice. */
  async shutdown(): Promise<void> {
    await this.#scoring.shutdown();
  }

  /** Counts since the start of the process. */
  stats(): SpanProcessorStats {
    return this.#scoring.stats();
  }
}

/** As the OTLP variables say. The protocol is HTTP, with JSON only where they ask for it. */
function otlpExporter(): SpanExporter {
  const protocol = process.env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? process.env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
}

export type { SpanProcessorOptions, SpanProcessorStats } from './scoring.ts';
