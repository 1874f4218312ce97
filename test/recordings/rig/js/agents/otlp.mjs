/** A tracer provider that posts OTLP protobuf to the receiver. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

export const exporter = (options) => new OTLPTraceExporter(options);

export function otlp({ attributes = {}, simple = false, processors = [] } = {}) {
  const own = processors.length > 0 ? processors : [simple ? new SimpleSpanProcessor(exporter()) : new BatchSpanProcessor(exporter())];
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', ...attributes }),
    spanProcessors: own,
  });
  provider.register();
  return provider;
}
