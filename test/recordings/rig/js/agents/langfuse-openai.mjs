/** The OpenAI client in a loop written by hand, Langfuse's wrapper around the client and its observations around the rest. */
import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing';
import OpenAI from 'openai';
import { model, prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { chatOf, loop } from './loop.mjs';
import { otlp } from './otlp.mjs';

export async function start({ session, streamed, alone }) {
  const provider = otlp({ processors: [new LangfuseSpanProcessor()] });
  const history = [];
  const around = (call, run) =>
    startActiveObservation(
      call.name,
      async (observation) => {
        observation.update({ input: call.arguments });
        try {
          const output = await run();
          observation.update({ output });
          return output;
        } catch (error) {
          observation.update({ level: 'ERROR', statusMessage: error.message });
          throw error;
        }
      },
      { asType: 'tool' },
    );
  const agentOf = (agent, input, options) =>
    startActiveObservation(
      agent,
      async (observation) => {
        observation.update({ input });
        const client = observeOpenAI(new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 }));
        const messages = options.messages ?? [{ role: 'system', content: prompts[agent] }];
        messages.push({ role: 'user', content: input });
        const output = await loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), around, desk: options.desk });
        observation.update({ output });
        return output;
      },
      { asType: 'agent' },
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, {});
  history.push({ role: 'system', content: prompts.order_support });
  return {
    turn: (input) => {
      const run = () => agentOf('order_support', input, { messages: history, desk });
      return session === undefined ? run() : propagateAttributes({ sessionId: session }, run);
    },
    stop: () => provider.shutdown(),
  };
}
