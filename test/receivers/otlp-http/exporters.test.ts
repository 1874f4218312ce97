/** The exporters that agents use, sending to a real door. */
import { context, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { plainAttributes } from '../../otlp/plain.ts';
import { openDoor } from '../door.ts';

interface ExporterOptions {
  readonly url: string;
  readonly headers: { readonly authorization: string };
  readonly compression?: 'gzip' | 'none';
}

const exporters: readonly {
  readonly name: string;
  readonly make: (options: ExporterOptions) => SpanExporter;
  readonly compression: 'gzip' | 'none';
}[] = [
  { name: 'exporter-trace-otlp-proto', make: (options) => new ProtobufExporter(options as object), compression: 'none' },
  { name: 'exporter-trace-otlp-proto with gzip', make: (options) => new ProtobufExporter(options as object), compression: 'gzip' },
  { name: 'exporter-trace-otlp-http', make: (options) => new JsonExporter(options as object), compression: 'none' },
  { name: 'exporter-trace-otlp-http with gzip', make: (options) => new JsonExporter(options as object), compression: 'gzip' },
];

describe('otlp_http exporters', () => {
  for (const { name, make, compression } of exporters) {
    test(`otlp_http: takes what ${name} sends`, async () => {
      const door = await openDoor({ tokens: [{ name: 'shop', value: 'k' }] });
      const exporter = make({ url: `http://127.0.0.1:${door.port}/v1/traces`, headers: { authorization: 'Bearer k' }, compression });
      const provider = new BasicTracerProvider({
        resource: resourceFromAttributes({ 'service.name': 'shop' }),
        spanProcessors: [new SimpleSpanProcessor(exporter)],
      });
      agentRun(provider);
      await provider.forceFlush();
      await provider.shutdown();
      await door.receiver.stop();

      const spans = new Map(door.spans.map(([, span]) => [span.name, span]));
      const agent = spans.get('invoke_agent shop');
      const tool = spans.get('execute_tool buy');
      expect(door.spans.map(([tenant]) => tenant)).toEqual(['shop', 'shop']);
      expect(tool?.parentSpanId).toBe(agent?.spanId);
      expect(tool?.traceId).toBe(agent?.traceId);
      expect(agent?.resource.attribute('service.name')).toBe('shop');
      expect(agent?.scope).toMatchObject({ name: 'agents', version: '1.2' });
      expect(Object.fromEntries(plainAttributes(tool ?? expect.fail()))).toEqual({
        'gen_ai.tool.name': 'buy',
        tries: 2,
        price: 9.5,
        parts: ['a', 'b'],
        rush: true,
      });
      expect(tool).toMatchObject({ kind: 1, status: { code: 'error', message: 'sold out' }, events: [{ name: 'exception' }] });
      expect(tool?.endUnixNano).toBeGreaterThan(tool?.startUnixNano ?? 0n);
      expect(door.warnings).toEqual([]);
    });
  }
});

function agentRun(provider: BasicTracerProvider): void {
  const tracer = provider.getTracer('agents', '1.2');
  const agent = tracer.startSpan('invoke_agent shop', { startTime: [1_700_000_000, 1] });
  const inAgent: Context = trace.setSpan(context.active(), agent);
  const tool = tracer.startSpan(
    'execute_tool buy',
    { startTime: [1_700_000_000, 2], attributes: { 'gen_ai.tool.name': 'buy', tries: 2, price: 9.5, parts: ['a', 'b'], rush: true } },
    inAgent,
  );
  tool.recordException(new Error('sold out'));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: 'sold out' });
  tool.end([1_700_000_001, 0]);
  agent.end([1_700_000_002, 0]);
}
