/** OpenInference: messages flattened into attribute keys. */
import { jsonText, type JsonObject } from '../../../model/json.ts';
import type { Attributes, Sdk } from '../sdk.ts';
import { historyBefore, outcomeText, replyIn, tokensIn, type SimulatedMessage } from './messages.ts';

export const flattened: Sdk = {
  scope: 'openinference.instrumentation.openai_agents',
  carriesTools: true,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: agent.name,
    attributes: {
      ...kind('AGENT', sessionId),
      'agent.name': agent.name,
      'input.value': input,
      ...(answer === undefined ? {} : { 'output.value': answer }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    const [sent, received] = [tokensIn(history), tokensIn([reply])];
    return {
      name: 'response',
      attributes: {
        ...kind('LLM', run.sessionId),
        'llm.model_name': run.agent.model,
        ...messages('llm.input_messages', history),
        ...messages('llm.output_messages', [reply]),
        ...Object.fromEntries(
          run.agent.tools.map(({ name, description, inputSchema }, at) => [
            `llm.tools.${at}.tool.json_schema`,
            jsonText({ type: 'function', function: { name, description: description ?? '', parameters: inputSchema ?? {} } }),
          ]),
        ),
        'llm.token_count.prompt': sent,
        'llm.token_count.completion': received,
        'llm.token_count.total': sent + received,
      },
    };
  },
  tool: (run, call, id) => ({
    name: call.tool,
    attributes: {
      ...kind('TOOL', run.sessionId),
      'tool.name': call.tool,
      'tool_call.id': id,
      'input.value': jsonText(call.arguments),
      'input.mime_type': 'application/json',
      ...(call.outcome.kind === 'returned' ? { 'output.value': outcomeText(call.outcome) } : {}),
    },
  }),
};

function kind(name: string, sessionId: string | undefined): Attributes {
  return { 'openinference.span.kind': name, ...(sessionId === undefined ? {} : { 'session.id': sessionId }) };
}

function messages(prefix: string, list: readonly SimulatedMessage[]): Attributes {
  return Object.fromEntries(
    list.flatMap((message, at) =>
      Object.entries(members(message)).map(([key, value]) => [`${prefix}.${at}.message.${key}`, String(value)]),
    ),
  );
}

function members(message: SimulatedMessage): JsonObject {
  if (message.role === 'tool') return { role: 'tool', content: message.text, tool_call_id: message.id };
  if (message.role !== 'asks') return { role: message.role, content: message.text };
  const calls = message.calls.map(({ id, tool, argumentsText }, at) => ({
    [`tool_calls.${at}.tool_call.id`]: id,
    [`tool_calls.${at}.tool_call.function.name`]: tool,
    [`tool_calls.${at}.tool_call.function.arguments`]: argumentsText,
  }));
  return Object.assign({ role: 'assistant' }, ...calls) as JsonObject;
}
