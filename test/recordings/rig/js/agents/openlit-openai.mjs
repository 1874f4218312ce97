/** The OpenAI client in a loop written by hand, OpenLIT; a span of the user's own holds the loop together. */
import { createRequire } from 'node:module';
import { prompts, model } from '../kit.ts';
import { chatOf, loop } from './loop.mjs';
import { modelAt } from './model-at.mjs';
import { agentSpan } from './spans.mjs';

const require = createRequire(import.meta.url);

export async function start({ session, streamed, alone }) {
  const openlit = require('openlit').default;
  const OpenAI = require('openai');
  openlit.init({
    applicationName: 'shop',
    otlpEndpoint: process.env.RIG_RECEIVER,
    disableBatch: false,
    disableMetrics: true,
    instrumentations: { openai: OpenAI },
  });
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
    stop: () => new Promise((resolve) => setTimeout(resolve, 6000)),
  };
}
