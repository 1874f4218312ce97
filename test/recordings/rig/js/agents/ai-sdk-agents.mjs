/** Agents of the AI SDK: one alone, or one that calls the other in a tool. `sdk` holds the functions, wrapped or not. */
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, stepCountIs, tool } from 'ai';
import { model, note, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { askDesk } from './loop.mjs';

export function aiSdkAgents(sdk, { streamed, alone, optionsOf = () => ({}) }) {
  const toolSet = (agent) =>
    Object.fromEntries(
      toolsOf(agent, { alone }).map(({ name, description, parameters, run }) => [
        name,
        tool({ description, inputSchema: jsonSchema(parameters), execute: async (args) => run(args) }),
      ]),
    );
  const run = async (agent, messages, more = {}) => {
    const options = {
      model: createOpenAI({ apiKey: 'none', baseURL: modelAt(agent) }).chat(model),
      system: prompts[agent],
      messages,
      tools: { ...toolSet(agent), ...more },
      stopWhen: stepCountIs(8),
      maxRetries: 0,
      ...optionsOf(agent),
    };
    const result = streamed ? sdk.streamText(options) : await sdk.generateText(options);
    const text = await result.text;
    messages.push(...(await result.response).messages);
    return text;
  };
  const desk = {
    [askDesk.name]: tool({
      description: askDesk.description,
      inputSchema: jsonSchema(askDesk.parameters),
      execute: async (args) => {
        const at = performance.timeOrigin + performance.now();
        const result = await run('refund_desk', [{ role: 'user', content: args.request }]);
        note({ kind: 'call', at, agent: 'order_support', name: askDesk.name, arguments: args, result });
        return result;
      },
    }),
  };
  const history = [];
  return (input) => {
    history.push({ role: 'user', content: input });
    return run('order_support', history, alone ? {} : desk);
  };
}
