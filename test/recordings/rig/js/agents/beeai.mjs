/** BeeAI's tool calling agent, OpenInference: alone, or with the other agent behind a tool. */
import { BeeAIInstrumentation } from '@arizeai/openinference-instrumentation-beeai';
import * as beeai from 'beeai-framework';
import { note, prompts, toolsOf, model } from '../kit.ts';
import { askDesk } from './loop.mjs';
import { modelAt } from './model-at.mjs';
import { otlp } from './otlp.mjs';
import { zodOf } from './zod.mjs';

export async function start({ alone }) {
  const provider = otlp();
  const instrumentation = new BeeAIInstrumentation({ tracerProvider: provider });
  instrumentation.manuallyInstrument(beeai);
  const { OpenAIChatModel } = await import('beeai-framework/adapters/openai/backend/chat');
  const { ToolCallingAgent } = await import('beeai-framework/agents/toolCalling/agent');
  const { UnconstrainedMemory } = await import('beeai-framework/memory/unconstrainedMemory');
  const { DynamicTool, JSONToolOutput, StringToolOutput } = await import('beeai-framework/tools/base');
  const dynamic = ({ name, description, parameters, run }) =>
    new DynamicTool({
      name,
      description,
      inputSchema: zodOf(parameters),
      handler: async (args) => {
        const result = await run(args);
        return typeof result === 'string' ? new StringToolOutput(result) : new JSONToolOutput(result);
      },
    });
  const agentOf = (name, more = []) =>
    new ToolCallingAgent({
      llm: new OpenAIChatModel(model, {}, { apiKey: 'none', baseURL: modelAt(name) }),
      memory: new UnconstrainedMemory(),
      meta: { name, description: 'Works for a shop.' },
      templates: {
        system: (template) =>
          template.fork((config) => {
            config.defaults.instructions = prompts[name];
          }),
      },
      tools: [...toolsOf(name, { alone }).map(dynamic), ...more],
    });
  const ask = async (agent, prompt) => (await agent.run({ prompt })).result.text;
  const desk = {
    ...askDesk,
    run: async (args) => {
      const at = performance.timeOrigin + performance.now();
      const result = await ask(agentOf('refund_desk'), args.request);
      note({ kind: 'call', at, agent: 'order_support', name: askDesk.name, arguments: args, result });
      return result;
    },
  };
  const root = agentOf('order_support', alone ? [] : [dynamic(desk)]);
  return { turn: (input) => ask(root, input), stop: () => provider.shutdown() };
}
