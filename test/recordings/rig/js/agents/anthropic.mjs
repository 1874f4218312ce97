/** Anthropic's client in a loop written by hand, with the spans that the client makes itself. */
import Anthropic from '@anthropic-ai/sdk';
import { prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { messagesOf } from './anthropic-loop.mjs';
import { loop } from './loop.mjs';
import { otlp } from './otlp.mjs';
import { agentSpan } from './spans.mjs';

export async function start({ session, streamed, alone }) {
  const provider = otlp();
  const history = [];
  const agentOf = (agent, input, messages, desk) =>
    agentSpan(agent, { input, session }, () => {
      const client = new Anthropic({ apiKey: 'none', baseURL: modelAt(agent, ''), maxRetries: 0 });
      messages.push({ role: 'user', content: input });
      return loop({ agent, alone, messages, ...messagesOf(client, { model: 'claude-sonnet-5', system: prompts[agent], streamed }), desk });
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, []);
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => provider.shutdown() };
}
