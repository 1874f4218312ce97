/** VoltAgent with its own spans: alone, or with the other agent below it. */
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createTool, VoltAgentObservability } from '@voltagent/core';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { model, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { zodOf } from './zod.mjs';
import { exporter } from './otlp.mjs';

export async function start({ session, streamed, alone }) {
  const observability = new VoltAgentObservability({ serviceName: 'shop', spanProcessors: [new BatchSpanProcessor(exporter())] });
  const agentOf = (name, more = {}) =>
    new Agent({
      name,
      id: name,
      instructions: prompts[name],
      purpose: name === 'refund_desk' ? 'Pays refunds.' : 'Answers customers.',
      model: createOpenAI({ apiKey: 'none', baseURL: modelAt(name) }).chat(model),
      observability,
      tools: toolsOf(name, { alone }).map(({ name: tool, description, parameters, run }) =>
        createTool({ name: tool, description, parameters: zodOf(parameters), execute: async (args) => run(args) }),
      ),
      ...more,
    });
  const root = agentOf('order_support', alone ? {} : { subAgents: [agentOf('refund_desk')] });
  const options = session === undefined ? {} : { userId: 'user-1', conversationId: session };
  const turn = async (input) => {
    if (streamed) return (await root.streamText(input, options)).text;
    return (await root.generateText(input, options)).text;
  };
  return { turn, stop: () => observability.shutdown() };
}
