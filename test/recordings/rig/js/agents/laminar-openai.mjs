/** The OpenAI client in a loop written by hand, Laminar. */
import { Laminar, observe } from '@lmnr-ai/lmnr';
import OpenAI from 'openai';
import { model, prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { chatOf, loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  const [, host, port] = /^(.*):(\d+)$/.exec(process.env.RIG_RECEIVER);
  Laminar.initialize({ projectApiKey: 'none', baseUrl: host, httpPort: Number(port), forceHttp: true, instrumentModules: { OpenAI } });
  const around = (call, run) => observe({ name: call.name, spanType: 'TOOL' }, async (_args) => run(), call.arguments);
  const agentOf = (agent, input, messages, desk) =>
    observe(
      { name: agent, ...(session === undefined ? {} : { sessionId: session }) },
      async (said) => {
        const client = new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 });
        messages.push({ role: 'user', content: said });
        return loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), around, desk });
      },
      input,
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, [{ role: 'system', content: prompts.refund_desk }]);
  const history = [{ role: 'system', content: prompts.order_support }];
  return {
    turn: (input) => agentOf('order_support', input, history, desk),
    stop: async () => {
      await Laminar.flush();
      await Laminar.shutdown();
    },
  };
}
