/** Strands Agents with its own spans. */
import { Agent, FunctionTool } from '@strands-agents/sdk';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { model, note, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { askDesk } from './loop.mjs';
import { otlp } from './otlp.mjs';

export async function start({ scenario, session, alone }) {
  // Of calls that one streamed chat answer asks for side by side, this SDK runs the last one only.
  const api = scenario === 'parallel' ? 'responses' : 'chat';
  const provider = otlp();
  const functionTool = ({ name, description, parameters, run }) =>
    new FunctionTool({ name, description, inputSchema: parameters, callback: async (args) => run(args) });
  const agentOf = (agent, more = []) =>
    new Agent({
      name: agent,
      id: agent,
      model: new OpenAIModel({ api, modelId: model, apiKey: 'none', clientConfig: { baseURL: modelAt(agent), maxRetries: 0 } }),
      systemPrompt: prompts[agent],
      tools: [...toolsOf(agent, { alone }).map(functionTool), ...more],
      printer: false,
      ...(session === undefined ? {} : { traceAttributes: { 'session.id': session } }),
    });
  const desk = {
    ...askDesk,
    run: async (args) => {
      const at = performance.timeOrigin + performance.now();
      const result = textOf(await agentOf('refund_desk').invoke(args.request));
      note({ kind: 'call', at, agent: 'order_support', name: askDesk.name, arguments: args, result });
      return result;
    },
  };
  const root = agentOf('order_support', alone ? [] : [functionTool(desk)]);
  return { turn: async (input) => textOf(await root.invoke(input)), stop: () => provider.shutdown() };
}

const textOf = (result) => result.lastMessage.content.map(({ text = '' }) => text).join('');
