/** Deep Agents: alone, or with a subagent that the built-in tool `task` calls. Not an agent by itself. */
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { createDeepAgent } from 'deepagents';
import { model, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { zodOf } from './zod.mjs';

const llm = (agent) =>
  new ChatOpenAI({ model, apiKey: 'none', maxRetries: 0, useResponsesApi: false, configuration: { baseURL: modelAt(agent) } });

const langchainTools = (agent, alone) =>
  toolsOf(agent, { alone }).map(({ name, description, parameters, run }) =>
    tool(async (args) => run(args), { name, description, schema: zodOf(parameters) }),
  );

export function deepAgents({ session, alone, config = {} }) {
  const graph = createDeepAgent({
    name: 'order_support',
    model: llm('order_support'),
    systemPrompt: prompts.order_support,
    tools: langchainTools('order_support', alone),
    ...(alone
      ? {}
      : {
          subagents: [
            {
              name: 'refund_desk',
              description: 'Pays refunds.',
              systemPrompt: prompts.refund_desk,
              tools: langchainTools('refund_desk'),
              model: llm('refund_desk'),
            },
          ],
        }),
  });
  let messages = [];
  return async (input) => {
    const state = await graph.invoke(
      { messages: [...messages, { role: 'user', content: input }] },
      { ...config, ...(session === undefined ? {} : { metadata: { session_id: session } }) },
    );
    ({ messages } = state);
    return messages.at(-1).content;
  };
}
