/** Bedrock's Converse in a loop written by hand, OpenTelemetry's own instrumentation of the AWS SDK; a span of the user's own holds the loop together. */
import { createRequire } from 'node:module';
import { logs, trace } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { AwsInstrumentation } from '@opentelemetry/instrumentation-aws-sdk';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { prompts } from '../kit.ts';
import { converseOf } from './converse.mjs';
import { modelAt } from './model-at.mjs';
import { loop } from './loop.mjs';
import { otlp } from './otlp.mjs';

const require = createRequire(import.meta.url);

export async function start({ session, alone }) {
  const provider = otlp();
  const loggers = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })] });
  logs.setGlobalLoggerProvider(loggers);
  registerInstrumentations({
    instrumentations: [new AwsInstrumentation({ suppressInternalInstrumentation: true })],
    tracerProvider: provider,
    loggerProvider: loggers,
  });
  const bedrock = require('@aws-sdk/client-bedrock-runtime');
  const { NodeHttpHandler } = require('@smithy/node-http-handler');
  const tracer = trace.getTracer('shop');
  const spanned = (name, attributes, run) =>
    tracer.startActiveSpan(name, { attributes }, async (span) => {
      try {
        return await run(span);
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: 2, message: error.message });
        throw error;
      } finally {
        span.end();
      }
    });
  const around = (call, run) =>
    spanned(
      `execute_tool ${call.name}`,
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': call.name, 'gen_ai.tool.call.id': call.id },
      run,
    );
  const history = [];
  const agentOf = (agent, input, messages, desk) =>
    spanned(
      `invoke_agent ${agent}`,
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
        ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
      },
      () => {
        const client = new bedrock.BedrockRuntimeClient({
          region: 'us-east-1',
          endpoint: modelAt(agent, ''),
          maxAttempts: 1,
          requestHandler: new NodeHttpHandler(),
          credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
        });
        messages.push({ role: 'user', content: [{ text: input }] });
        return loop({ agent, alone, messages, ...converseOf(bedrock, client, prompts[agent]), around, desk });
      },
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, []);
  return {
    turn: (input) => agentOf('order_support', input, history, desk),
    stop: async () => (await provider.shutdown(), await loggers.shutdown()),
  };
}
