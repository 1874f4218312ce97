/** The AI SDK with Sentry's integration; its spans leave over OpenTelemetry. */
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import * as Sentry from '@sentry/node';
import { exporter } from './otlp.mjs';

export async function start(options) {
  const processor = new BatchSpanProcessor(exporter());
  Sentry.init({
    dsn: 'http://public@127.0.0.1:9/1',
    tracesSampleRate: 1,
    sendDefaultPii: true,
    integrations: (all) => [
      ...all.filter(({ name }) => !/Http|NodeFetch|OpenAI|VercelAI/.test(name)),
      Sentry.vercelAIIntegration({ force: true, recordInputs: true, recordOutputs: true }),
    ],
    openTelemetrySpanProcessors: [processor],
    transport: () => ({ send: async () => ({}), flush: async () => true }),
  });
  const ai = await import('ai');
  const { aiSdkAgents } = await import('./ai-sdk-agents.mjs');
  const turn = aiSdkAgents(ai, {
    ...options,
    optionsOf: (functionId) => ({ experimental_telemetry: { isEnabled: true, functionId, recordInputs: true, recordOutputs: true } }),
  });
  return { turn: (input) => Sentry.startSpan({ name: 'answer-customer' }, () => turn(input)), stop: () => processor.shutdown() };
}
