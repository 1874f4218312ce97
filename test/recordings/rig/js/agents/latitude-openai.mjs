/** The OpenAI client in a loop written by hand, Latitude's telemetry around it; spans of the user's own hold the loop together. */
import { createRequire } from 'node:module';
import { capture, Latitude } from '@latitude-data/telemetry';
import { SpanStatusCode } from '@opentelemetry/api';
import { prompts, model } from '../kit.ts';
import { chatOf, loop } from './loop.mjs';
import { modelAt } from './model-at.mjs';

const require = createRequire(import.meta.url);

export async function start({ session, streamed, alone }) {
  const OpenAI = require('openai');
  const latitude = new Latitude({ apiKey: 'none', project: 'shop', instrumentations: { openai: OpenAI } });
  await latitude.ready;
  const tracer = latitude.getTracer('shop');
  const around = (call, run) =>
    tracer.startActiveSpan(call.name, async (span) => {
      span.setAttributes({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.id': call.id,
        'gen_ai.tool.call.arguments': JSON.stringify(call.arguments),
      });
      try {
        const output = await run();
        span.setAttribute('gen_ai.tool.call.result', JSON.stringify(output));
        return output;
      } catch (error) {
        span.recordException(error);
        span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
        throw error;
      } finally {
        span.end();
      }
    });
  const agentOf = (agent, input, messages, desk) =>
    tracer.startActiveSpan(agent, async (span) => {
      span.setAttributes({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent });
      const client = new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 });
      messages.push({ role: 'user', content: input });
      try {
        return await loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), around, desk });
      } finally {
        span.end();
      }
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, [{ role: 'system', content: prompts.refund_desk }]);
  const history = [{ role: 'system', content: prompts.order_support }];
  const turn = (input) =>
    capture('turn', () => agentOf('order_support', input, history, desk), session === undefined ? {} : { sessionId: session });
  return { turn, stop: () => latitude.shutdown() };
}
