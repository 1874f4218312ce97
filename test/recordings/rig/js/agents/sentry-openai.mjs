/** The OpenAI client in a loop written by hand, Sentry's wrapper and spans around it; its spans leave over OpenTelemetry. */
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import * as Sentry from '@sentry/node';
import OpenAI from 'openai';
import { model, prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { exporter } from './otlp.mjs';
import { chatOf, loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  const processor = new BatchSpanProcessor(exporter());
  Sentry.init({
    dsn: 'http://public@127.0.0.1:9/1',
    tracesSampleRate: 1,
    sendDefaultPii: true,
    integrations: (all) => all.filter(({ name }) => !/Http|NodeFetch|OpenAI/.test(name)),
    openTelemetrySpanProcessors: [processor],
    transport: () => ({ send: async () => ({}), flush: async () => true }),
  });
  const around = (call, run) =>
    Sentry.startSpan(
      {
        op: 'gen_ai.execute_tool',
        name: `execute_tool ${call.name}`,
        attributes: { 'gen_ai.tool.name': call.name, 'gen_ai.tool.input': JSON.stringify(call.arguments) },
      },
      async (span) => {
        const output = await run();
        span.setAttribute('gen_ai.tool.output', JSON.stringify(output));
        return output;
      },
    );
  const agentOf = (agent, input, messages, desk) =>
    Sentry.startSpan(
      {
        op: 'gen_ai.invoke_agent',
        name: `invoke_agent ${agent}`,
        attributes: {
          'gen_ai.request.model': model,
          'gen_ai.agent.name': agent,
          ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
        },
      },
      async (span) => {
        const client = Sentry.instrumentOpenAiClient(new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 }), {
          recordInputs: true,
          recordOutputs: true,
        });
        messages.push({ role: 'user', content: input });
        const output = await loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), around, desk });
        span.setAttribute('gen_ai.response.text', output);
        return output;
      },
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, [{ role: 'system', content: prompts.refund_desk }]);
  const history = [{ role: 'system', content: prompts.order_support }];
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => processor.shutdown() };
}
