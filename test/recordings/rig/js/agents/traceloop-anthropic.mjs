/** Anthropic's client in a loop written by hand, Traceloop. */
import Anthropic from '@anthropic-ai/sdk';
import * as traceloop from '@traceloop/node-server-sdk';
import { prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { messagesOf } from './anthropic-loop.mjs';
import { loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  traceloop.initialize({
    appName: 'shop',
    baseUrl: process.env.RIG_RECEIVER,
    apiKey: 'none',
    disableBatch: false,
    instrumentModules: { anthropic: { Anthropic } },
    silenceInitializationMessage: true,
  });
  const around = (call, run) => traceloop.withTool({ name: call.name }, async (_args) => run(), call.arguments);
  const agentOf = (agent, input, messages, desk) =>
    traceloop.withAgent(
      { name: agent, ...(session === undefined ? {} : { associationProperties: { session_id: session } }) },
      async (said) => {
        const client = new Anthropic({ apiKey: 'none', baseURL: modelAt(agent, ''), maxRetries: 0 });
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
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => traceloop.forceFlush() };
}
