/** An agent as a separate process, with the exporters of the OpenTelemetry SDK: `agent.ts proto|json|grpc|none EXIT_CODE [URL]`. */
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';

const [kind = 'proto', exitCode = '0', url] = process.argv.slice(2);
const packages: { readonly [kind: string]: string } = {
  proto: '@opentelemetry/exporter-trace-otlp-proto',
  json: '@opentelemetry/exporter-trace-otlp-http',
  grpc: '@opentelemetry/exporter-trace-otlp-grpc',
};
const name = packages[kind];
if (name !== undefined) {
  const { OTLPTraceExporter } = (await import(name)) as {
    readonly OTLPTraceExporter: new (options?: { readonly url: string }) => SpanExporter;
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(url === undefined ? new OTLPTraceExporter() : new OTLPTraceExporter({ url }))],
  });
  const tracer = provider.getTracer('recorded');
  const span = tracer.startSpan('invoke_agent order-agent', {
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'order-agent' },
  });
  span.end();
  await provider.shutdown();
}
process.exitCode = Number(exitCode);
