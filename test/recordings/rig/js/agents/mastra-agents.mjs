/** Agents of Mastra. `config` is what the observability is made of. Not an agent by itself. */
import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { model, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { zodOf } from './zod.mjs';

export async function mastraAgents({ session, streamed, alone }, config) {
  const agentOf = (name, more = {}) =>
    new Agent({
      id: name,
      name,
      instructions: prompts[name],
      description: name === 'refund_desk' ? 'Pays refunds.' : 'Answers customers.',
      model: createOpenAI({ apiKey: 'none', baseURL: modelAt(name) }).chat(model),
      tools: Object.fromEntries(
        toolsOf(name, { alone }).map(({ name: id, description, parameters, run }) => [
          id,
          createTool({ id, description, inputSchema: zodOf(parameters), execute: async (args) => run(args) }),
        ]),
      ),
      ...more,
    });
  const desk = alone ? undefined : agentOf('refund_desk');
  const root = agentOf('order_support', alone ? {} : { agents: { refund_desk: desk } });
  const observability = new Observability({ configs: { otel: { serviceName: 'shop', ...config } } });
  const mastra = new Mastra({ agents: { order_support: root, ...(alone ? {} : { refund_desk: desk }) }, observability, logger: false });
  const agent = mastra.getAgent('order_support');
  const history = [];
  const turn = async (input) => {
    history.push({ role: 'user', content: input });
    const options = session === undefined ? {} : { tracingOptions: { metadata: { sessionId: session } } };
    if (streamed) return (await agent.stream(history, options)).text;
    const { text } = await agent.generate(history, options);
    history.push({ role: 'assistant', content: text });
    return text;
  };
  return { turn, stop: () => mastra.shutdown?.() ?? observability.shutdown() };
}
