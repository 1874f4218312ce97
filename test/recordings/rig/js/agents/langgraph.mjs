/** LangGraph.js: one agent, a supervisor, a swarm, a subgraph. Not an agent by itself: the instrumentations stand in files of their own. */
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createSupervisor } from '@langchain/langgraph-supervisor';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { z } from 'zod';
import { model, note, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { zodOf } from './zod.mjs';

const llm = (agent) =>
  new ChatOpenAI({
    model,
    apiKey: 'none',
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: modelAt(agent) },
    streamUsage: true,
  });

const langchainTools = (agent, options) =>
  toolsOf(agent, options).map(({ name, description, parameters, run }) =>
    tool(async (args) => run(args), { name, description, schema: zodOf(parameters) }),
  );

const react = (agent, more = []) =>
  createReactAgent({ llm: llm(agent), name: agent, prompt: prompts[agent], tools: [...langchainTools(agent), ...more] });

const graphs = {
  alone: () =>
    createAgent({
      model: llm('order_support'),
      name: 'order_support',
      systemPrompt: prompts.order_support,
      tools: langchainTools('order_support', { alone: true }),
      checkpointer: new MemorySaver(),
    }),
  supervisor: () =>
    createSupervisor({
      agents: [react('refund_desk')],
      llm: llm('order_support'),
      tools: langchainTools('order_support'),
      prompt: prompts.order_support,
      supervisorName: 'order_support',
      outputMode: 'last_message',
    }).compile(),
  handoff: () =>
    createSwarm({
      agents: [
        react('order_support', [createHandoffTool({ agentName: 'refund_desk', description: 'Hands over to the desk for refunds.' })]),
        react('refund_desk'),
      ],
      defaultActiveAgent: 'order_support',
    }).compile(),
  'agent-as-tool': () => {
    const desk = react('refund_desk');
    const ask = tool(
      async ({ request }) => {
        const at = performance.timeOrigin + performance.now();
        const { messages } = await desk.invoke({ messages: [{ role: 'user', content: request }] });
        const result = messages.at(-1).content;
        note({ kind: 'call', at, agent: 'order_support', name: 'refund_desk', arguments: { request }, result });
        return result;
      },
      { name: 'refund_desk', description: 'Asks the desk for refunds.', schema: z.object({ request: z.string() }) },
    );
    return react('order_support', [ask]);
  },
};

/** An agent on the graph that the scenario asks for. */
export function langgraph({ scenario, session, streamed, config = {} }) {
  const graph = (graphs[scenario] ?? graphs.alone)();
  return async (input) => {
    const state = { messages: [{ role: 'user', content: input }] };
    const options = {
      ...config,
      configurable: { thread_id: session ?? 'thread-1' },
      ...(session === undefined ? {} : { metadata: { session_id: session } }),
    };
    if (!streamed) return (await graph.invoke(state, options)).messages.at(-1).content;
    let last;
    for await (const values of await graph.stream(state, { ...options, streamMode: 'values' })) last = values.messages.at(-1).content;
    return last;
  };
}
