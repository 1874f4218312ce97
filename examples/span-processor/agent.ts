// An agent that scores its own runs. Run it with: node agent.ts
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { BasicTracerProvider, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
import { toolError } from 'tracejury/evaluators';
import { TracejurySpanProcessor } from 'tracejury/span-processor';

// Left out, the exporter is OTLP over HTTP, as the OTEL_EXPORTER_OTLP_… variables say.
const scoring = new TracejurySpanProcessor({ evaluators: [toolError()], exporter: new ConsoleSpanExporter() });
const provider = new BasicTracerProvider({ spanProcessors: [scoring] });
const tracer = provider.getTracer('order-support');

const run = tracer.startSpan('run', { attributes: { 'agent.name': 'order_support', 'input.value': 'Where is A-1?' } });
const call = tracer.startSpan('find_order', { attributes: { 'tool.name': 'find_order' } }, trace.setSpan(ROOT_CONTEXT, run));
call.setAttribute('output.value', 'Error: no such order');
call.end();
run.end();

await provider.shutdown();
process.stdout.write(`${JSON.stringify(scoring.stats())}\n`);
