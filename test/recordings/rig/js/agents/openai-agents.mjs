/** Agents of the OpenAI Agents SDK. Not an agent by itself: the instrumentations stand in files of their own. */
import { model, prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';

export function openaiAgents(
  { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, tool },
  OpenAI,
  { scenario, session, streamed, alone, responses = false },
) {
  const modelOf = (agent) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 });
    return responses ? new OpenAIResponsesModel(client, model) : new OpenAIChatCompletionsModel(client, model);
  };
  const agentOf = (agent, more) =>
    new Agent({
      name: agent,
      instructions: prompts[agent],
      model: modelOf(agent),
      ...more,
      tools: [
        ...toolsOf(agent, { alone }).map(({ name, description, parameters, run: execute }) =>
          tool({ name, description, parameters, execute: async (args) => execute(args) }),
        ),
        ...(more?.tools ?? []),
      ],
    });
  const desk = alone ? undefined : agentOf('refund_desk', { handoffDescription: 'Pays refunds.' });
  const root = agentOf('order_support', {
    ...(scenario === 'handoff' ? { handoffs: [desk] } : {}),
    ...(scenario === 'agent-as-tool'
      ? { tools: [desk.asTool({ toolName: 'refund_desk', toolDescription: 'Asks the desk for refunds.' })] }
      : {}),
  });
  let history = [];
  return async (input) => {
    history.push({ role: 'user', content: input });
    const result = await run(root, history, { stream: streamed, ...(session === undefined ? {} : { context: { session } }) });
    if (streamed) await result.completed;
    history = result.history;
    return result.finalOutput;
  };
}
