/** The OpenAI client in a loop written by hand, Elastic's instrumentation with content in log records; a span of the user's own holds the loop together. */
import { createRequire } from 'node:module';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { logs } from '@opentelemetry/api-logs';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { OpenAIInstrumentation } from '@elastic/opentelemetry-instrumentation-openai';
import { prompts, model } from '../kit.ts';
import { chatOf, loop } from './loop.mjs';
import { modelAt } from './model-at.mjs';
import { otlp } from './otlp.mjs';
import { agentSpan } from './spans.mjs';

const require = createRequire(import.meta.url);

export async function start({ session, streamed, alone }) {
  const provider = otlp();
  const records = new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    processors: [new BatchLogRecordProcessor(new OTLPLogExporter())],
  });
  logs.setGlobalLoggerProvider(records);
  registerInstrumentations({
    instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })],
    tracerProvider: provider,
    loggerProvider: records,
  });
  const OpenAI = require('openai');
  const agentOf = (agent, input, messages, desk) =>
    agentSpan(agent, { input, session }, () => {
      const client = new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 });
      messages.push({ role: 'user', content: input });
      return loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), desk });
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, [{ role: 'system', content: prompts.refund_desk }]);
  const history = [{ role: 'system', content: prompts.order_support }];
  return {
    turn: (input) => agentOf('order_support', input, history, desk),
    stop: async () => {
      await provider.shutdown();
      await records.shutdown();
    },
  };
}
