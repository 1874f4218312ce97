/** The processor in the real SDK. */
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { expect, onTestFinished, test } from 'vitest';
import { toolError } from '../../src/library/evaluators.ts';
import { TracejurySpanProcessor } from '../../src/span-processor/span-processor.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { keptSpans } from './sdk-spans.ts';

function work(provider: BasicTracerProvider): void {
  const tracer = provider.getTracer('agent');
  const run = tracer.startSpan('run', { attributes: { 'agent.name': 'order_support', 'input.value': 'Where is A-1?' } });
  const call = tracer.startSpan(
    'find_order',
    { attributes: { 'tool.name': 'find_order', 'output.value': 'Error: no such order' } },
    trace.setSpan(ROOT_CONTEXT, run),
  );
  call.end();
  run.end();
}

test('TracejurySpanProcessor: a provider that is flushed has sent the evaluation span', async () => {
  const { exporter, spans, state } = keptSpans();
  const processor = new TracejurySpanProcessor({ evaluators: [toolError()], exporter, settleMs: 5 });
  const provider = new BasicTracerProvider({ spanProcessors: [processor] });
  work(provider);
  await provider.forceFlush();
  expect(spans.map(({ name, attributes: own }) => [name, own['tracejury.verdict']])).toEqual([['evaluate order_support', 'fail']]);
  await provider.shutdown();
  expect([state.isShutDown, processor.stats().runs.scored]).toEqual([1, 1]);
});

test('TracejurySpanProcessor: by default the OTLP variables say where the evaluation span goes', async () => {
  const sink = await otlpSink();
  onTestFinished(() => sink.close());
  const before = process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = sink.url;
  onTestFinished(() => {
    if (before === undefined) delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    else process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = before;
  });
  const provider = new BasicTracerProvider({ spanProcessors: [new TracejurySpanProcessor({ evaluators: [toolError()] })] });
  work(provider);
  await provider.shutdown();
  const [first] = sink.received;
  if (first === undefined) throw new Error('nothing was sent');
  expect(first.url).toBe('/v1/traces');
  const { span } = readCarrier(first);
  expect(span.name).toBe('evaluate order_support');
  expect(attributes(span.events?.[0]?.attributes)).toMatchObject({
    'gen_ai.evaluation.name': 'tool_error',
    'gen_ai.evaluation.score.label': 'fail',
  });
});
