/** The OpenTelemetry GenAI conventions, with content on the spans. */
import { jsonText, parseJson, type JsonObject } from '../../../model/json.ts';
import type { Attributes, Sdk } from '../sdk.ts';
import { historyBefore, outcomeText, replyIn, tokensIn, type SimulatedMessage } from './messages.ts';

export const conventions: Sdk = {
  scope: 'demo.agents',
  carriesTools: true,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: `invoke_agent ${agent.name}`,
    attributes: {
      ...operation('invoke_agent', sessionId),
      'gen_ai.agent.name': agent.name,
      'gen_ai.input.messages': jsonText([plainMessage('user', input)]),
      ...(answer === undefined ? {} : { 'gen_ai.output.messages': jsonText([plainMessage('assistant', answer)]) }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    return {
      name: `chat ${run.agent.model}`,
      kind: 3,
      attributes: {
        ...operation('chat', run.sessionId),
        'gen_ai.request.model': run.agent.model,
        'gen_ai.system_instructions': jsonText([{ type: 'text', content: run.agent.system }]),
        'gen_ai.input.messages': jsonText(history.filter(({ role }) => role !== 'system').map(message)),
        'gen_ai.output.messages': jsonText([message(reply)]),
        'gen_ai.tool.definitions': jsonText(
          run.agent.tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            name,
            description: description ?? '',
            parameters: inputSchema ?? {},
          })),
        ),
        'gen_ai.usage.input_tokens': tokensIn(history),
        'gen_ai.usage.output_tokens': tokensIn([reply]),
      },
    };
  },
  tool: (run, call, id) => ({
    name: `execute_tool ${call.tool}`,
    attributes: {
      ...operation('execute_tool', run.sessionId),
      'gen_ai.tool.name': call.tool,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.call.arguments': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'gen_ai.tool.call.result': outcomeText(call.outcome) } : { 'error.type': 'Error' }),
    },
  }),
};

function operation(name: string, sessionId: string | undefined): Attributes {
  return { 'gen_ai.operation.name': name, ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }) };
}

function plainMessage(role: string, text: string): JsonObject {
  return { role, parts: [{ type: 'text', content: text }] };
}

function message(one: SimulatedMessage): JsonObject {
  if (one.role === 'tool') return { role: 'tool', parts: [{ type: 'tool_call_response', id: one.id, response: one.text }] };
  if (one.role !== 'asks') return plainMessage(one.role, one.text);
  return {
    role: 'assistant',
    parts: one.calls.map(({ id, tool, argumentsText }) => ({
      type: 'tool_call',
      id,
      name: tool,
      arguments: parseJson(argumentsText) ?? {},
    })),
  };
}
