/** The exporters that agents use, sending to a real door. */
import { SpanStatusCode, trace, ROOT_CONTEXT } from '@opentelemetry/api';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { Metadata, credentials } from '@grpc/grpc-js';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { plainAttributes } from '../../otlp/plain.ts';
import { openGrpcDoor, type Door } from '../door.ts';

const codings = [CompressionAlgorithm.NONE, CompressionAlgorithm.GZIP] as const;

function settings(door: Door, compression: CompressionAlgorithm, token = 'k') {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return { url: `http://127.0.0.1:${door.port}`, metadata, compression, credentials: credentials.createInsecure() };
}

describe.each(codings)('otlp_grpc exporters with %s', (compression) => {
  test('otlp_grpc: takes what exporter-trace-otlp-grpc sends', async () => {
    const door = await openGrpcDoor({ tokens: [{ name: 'shop', value: 'k' }] });
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'shop' }),
      spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter(settings(door, compression)))],
    });
    agentRun(provider);
    await provider.forceFlush();
    await provider.shutdown();
    await door.receiver.stop();

    const spans = new Map(door.spans.map(([, span]) => [span.name, span]));
    const [agent, tool] = [spans.get('invoke_agent shop'), spans.get('execute_tool buy')];
    expect(door.spans.map(([tenant]) => tenant)).toEqual(['shop', 'shop']);
    expect(tool?.parentSpanId).toBe(agent?.spanId);
    expect(agent?.resource.attribute('service.name')).toBe('shop');
    expect(Object.fromEntries(plainAttributes(tool ?? expect.fail()))).toEqual({
      'gen_ai.tool.name': 'buy',
      tries: 2,
      price: 9.5,
      parts: ['a', 'b'],
      rush: true,
    });
    expect(tool).toMatchObject({ status: { code: 'error', message: 'sold out' } });
    expect(door.warnings).toEqual([]);
  });

  test('otlp_grpc: takes what exporter-logs-otlp-grpc sends', async () => {
    const door = await openGrpcDoor({ tokens: [{ name: 'shop', value: 'k' }] });
    const provider = new LoggerProvider({
      processors: [new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter(settings(door, compression)) })],
    });
    const spanContext = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
    provider
      .getLogger('agents')
      .emit({ eventName: 'gen_ai.choice', body: { index: 0 }, context: trace.setSpanContext(ROOT_CONTEXT, spanContext) });
    await provider.forceFlush();
    await provider.shutdown();
    await door.receiver.stop();
    expect(door.records).toMatchObject([
      ['shop', { traceId: spanContext.traceId, spanId: spanContext.spanId, eventName: 'gen_ai.choice' }],
    ]);
  });
});

test('otlp_grpc: an exporter with a wrong token gets one refusal, and its spans are not taken', async () => {
  const door = await openGrpcDoor({ tokens: [{ name: 'shop', value: 'k' }] });
  const exporter = new OTLPTraceExporter(settings(door, CompressionAlgorithm.NONE, 'other'));
  const result = await new Promise<{ readonly code: number; readonly error?: Error }>((resolve) => exporter.export(recorded(), resolve));
  await exporter.shutdown();
  await door.receiver.stop();
  expect(result).toMatchObject({ code: 1, error: { code: 16 } });
  expect(result.error?.message).toMatch(/no valid token/);
  expect(door.counts.get('tracejury.receiver.requests grpc traces UNAUTHENTICATED unauthenticated')).toBe(1);
  expect(door.spans).toEqual([]);
});

function recorded(): ReadableSpan[] {
  const kept = new InMemorySpanExporter();
  agentRun(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(kept)] }));
  return kept.getFinishedSpans();
}

function agentRun(provider: BasicTracerProvider): void {
  const tracer = provider.getTracer('agents', '1.2');
  const agent = tracer.startSpan('invoke_agent shop', { startTime: [1_700_000_000, 1] });
  const tool = tracer.startSpan(
    'execute_tool buy',
    { startTime: [1_700_000_000, 2], attributes: { 'gen_ai.tool.name': 'buy', tries: 2, price: 9.5, parts: ['a', 'b'], rush: true } },
    trace.setSpan(ROOT_CONTEXT, agent),
  );
  tool.setStatus({ code: SpanStatusCode.ERROR, message: 'sold out' });
  tool.end([1_700_000_001, 0]);
  agent.end([1_700_000_002, 0]);
}
