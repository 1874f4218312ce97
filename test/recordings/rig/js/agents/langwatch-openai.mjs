/** The OpenAI client in a loop written by hand, LangWatch's spans around it. */
import { getLangWatchTracer } from 'langwatch';
import { setupObservability } from 'langwatch/observability/node';
import OpenAI from 'openai';
import { model, prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { chatOf, loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  const { shutdown } = setupObservability({ serviceName: 'shop', langwatch: { apiKey: 'none', endpoint: process.env.RIG_RECEIVER } });
  const tracer = getLangWatchTracer('shop');
  const around = (call, run) =>
    tracer.withActiveSpan(call.name, async (span) => {
      span.setType('tool').setInput(call.arguments);
      const output = await run();
      span.setOutput(output);
      return output;
    });
  const agentOf = (agent, input, messages, desk) =>
    tracer.withActiveSpan(agent, async (span) => {
      span.setType('agent').setInput(input);
      if (session !== undefined) span.setAttribute('gen_ai.conversation.id', session);
      const client = new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 });
      const { ask, tell } = chatOf(client, { model, streamed });
      const asking = (sent, tools) =>
        tracer.withActiveSpan('chat', async (inner) => {
          inner.setType('llm').setRequestModel(model).setInput(sent);
          const answer = await ask(sent, tools);
          inner.setOutput(sent.at(-1));
          return answer;
        });
      messages.push({ role: 'user', content: input });
      const output = await loop({ agent, alone, messages, ask: asking, tell, around, desk });
      span.setOutput(output);
      return output;
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, [{ role: 'system', content: prompts.refund_desk }]);
  const history = [{ role: 'system', content: prompts.order_support }];
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => shutdown() };
}
