/** Ordinary agents: instrumented with the real SDK, each with the exporter that people use, at a modest rate. */
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as HttpExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';

export interface Agent {
  readonly name: string;
  /** Runs that it has finished. */
  runs(): number;
  /** Finishes nothing more, and sends what is left. */
  stop(): Promise<void>;
}

export const agentSpans = 6;

export function httpAgent(name: string, url: string): Agent {
  return agent(name, new HttpExporter({ url: `${url}/v1/traces` }));
}

export function grpcAgent(name: string, address: string): Agent {
  return agent(name, new GrpcExporter({ url: `http://${address}` }));
}

/** A run of an agent with five calls of a tool every tenth of a second; all settings are those that the SDK comes with. */
function agent(name: string, exporter: SpanExporter): Agent {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `${name}-service` }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('overload');
  let runs = 0;
  const timer = setInterval(() => {
    const root = tracer.startSpan(`invoke_agent ${name}`, {
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
    });
    const within = trace.setSpan(ROOT_CONTEXT, root);
    for (let call = 1; call < agentSpans; call++) {
      tracer
        .startSpan(
          'execute_tool look_up',
          {
            attributes: {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': 'look_up',
              'gen_ai.tool.call.id': `${runs}-${call}`,
              'gen_ai.tool.call.arguments': `{"at":${call}}`,
              'gen_ai.tool.call.result': 'found',
            },
          },
          within,
        )
        .end();
    }
    root.end();
    runs++;
  }, 100);
  return {
    name,
    runs: () => runs,
    async stop() {
      clearInterval(timer);
      await provider.forceFlush().catch(() => undefined);
      await provider.shutdown().catch(() => undefined);
    },
  };
}
