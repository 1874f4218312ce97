/**
 * Reads the agent run of a Vitest test from the spans of this process. Copy this file beside your tests. It needs no service:
 * the library reads and scores the spans where they are made.
 */
import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { fromSpans, type AgentTrace } from 'tracejury/agent-trace';
import { matchers } from 'tracejury/vitest';
import { expect } from 'vitest';

expect.extend(matchers);

const exporter = new InMemorySpanExporter();

/** Give it to the TracerProvider of your agent: `spanProcessors: [recording]`. */
export const recording: SpanProcessor = new SimpleSpanProcessor(exporter);

/** Runs the agent inside a new span and returns its run, the outermost one where agents call agents. */
export async function recordedRun(agent: () => Promise<unknown>): Promise<AgentTrace> {
  const span = trace.getTracer('vitest').startSpan('test');
  const { traceId } = span.spanContext();
  try {
    await context.with(trace.setSpan(context.active(), span), agent);
  } finally {
    span.end();
  }
  await recording.forceFlush();
  const [run] = fromSpans(exporter.getFinishedSpans().filter((one) => one.spanContext().traceId === traceId));
  if (run === undefined) throw new Error(`no agent run in trace ${traceId}: is \`recording\` a span processor of the TracerProvider, and is a context manager set?`);
  return run;
}
