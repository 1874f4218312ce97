/** Anthropic's client in a loop written by hand, Laminar. */
import { Laminar, observe } from '@lmnr-ai/lmnr';
import * as module from '@anthropic-ai/sdk';
import { prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { messagesOf } from './anthropic-loop.mjs';
import { loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  const [, host, port] = /^(.*):(\d+)$/.exec(process.env.RIG_RECEIVER);
  Laminar.initialize({
    projectApiKey: 'none',
    baseUrl: host,
    httpPort: Number(port),
    forceHttp: true,
    instrumentModules: { anthropic: module },
  });
  const around = (call, run) => observe({ name: call.name, spanType: 'TOOL' }, async (_args) => run(), call.arguments);
  const agentOf = (agent, input, messages, desk) =>
    observe(
      { name: agent, ...(session === undefined ? {} : { sessionId: session }) },
      async (said) => {
        const client = new module.Anthropic({ apiKey: 'none', baseURL: modelAt(agent, ''), maxRetries: 0 });
        messages.push({ role: 'user', content: said });
        return loop({
          agent,
          alone,
          messages,
          ...messagesOf(client, { model: 'claude-sonnet-5', system: prompts[agent], streamed }),
          around,
          desk,
        });
      },
      input,
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, []);
  const history = [];
  return {
    turn: (input) => agentOf('order_support', input, history, desk),
    stop: async () => {
      await Laminar.flush();
      await Laminar.shutdown();
    },
  };
}
