/** Google's Agent Development Kit with its own spans: alone, with the other agent as a tool, or with a transfer to it. */
import { AgentTool, FunctionTool, Gemini, InMemoryRunner, LlmAgent } from '@google/adk';
import { GoogleGenAI } from '@google/genai';
import { prompts, toolsOf } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { otlp } from './otlp.mjs';
import { zodOf } from './zod.mjs';

class GeminiAt extends Gemini {
  constructor(baseUrl) {
    super({ model: 'gemini-2.5-flash', apiKey: 'none' });
    this.client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
  }
  get apiClient() {
    return this.client;
  }
}

export async function start({ scenario, session = 'thread-1', alone }) {
  const provider = otlp();
  const agentOf = (name, more = {}) =>
    new LlmAgent({
      name,
      instruction: prompts[name],
      description: name === 'refund_desk' ? 'Pays refunds.' : 'Answers customers.',
      model: new GeminiAt(modelAt(name, '')),
      ...more,
      tools: [
        ...toolsOf(name, { alone }).map(
          ({ name: tool, description, parameters, run }) =>
            new FunctionTool({ name: tool, description, parameters: zodOf(parameters), execute: async (args) => run(args) }),
        ),
        ...(more.tools ?? []),
      ],
    });
  const desk = alone ? undefined : agentOf('refund_desk');
  const root = agentOf('order_support', {
    ...(scenario === 'handoff' ? { subAgents: [desk] } : {}),
    ...(scenario === 'agent-as-tool' ? { tools: [new AgentTool({ agent: desk })] } : {}),
  });
  const runner = new InMemoryRunner({ agent: root, appName: 'shop' });
  await runner.sessionService.createSession({ appName: 'shop', userId: 'user-1', sessionId: session });
  const turn = async (input) => {
    let text = '';
    for await (const event of runner.runAsync({
      userId: 'user-1',
      sessionId: session,
      newMessage: { role: 'user', parts: [{ text: input }] },
    }))
      text = event.content?.parts?.map((part) => part.text ?? '').join('') || text;
    return text;
  };
  return { turn, stop: () => provider.shutdown() };
}
