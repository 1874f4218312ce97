/** The Vercel AI SDK, version 5. */
import { jsonText, parseJson, type JsonObject } from '../../../model/json.ts';
import type { Attributes, Sdk } from '../sdk.ts';
import type { SimulatedRun } from '../simulated.ts';
import { historyBefore, outcomeText, replyIn, tokensIn, type SimulatedMessage } from './messages.ts';

export const aiSdk: Sdk = {
  scope: 'ai',
  carriesTools: true,
  agent: (run) => ({
    name: 'ai.generateText',
    attributes: {
      ...operation('ai.generateText', run),
      'ai.prompt': jsonText({ system: run.agent.system, prompt: run.input }),
      ...(run.answer === undefined ? {} : { 'ai.response.text': run.answer }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    return {
      name: 'ai.generateText.doGenerate',
      attributes: {
        ...operation('ai.generateText.doGenerate', run),
        'ai.model.id': run.agent.model,
        'ai.prompt.messages': jsonText(history.map(message)),
        'ai.prompt.tools': run.agent.tools.map(({ name, description, inputSchema }) =>
          jsonText({ type: 'function', name, description: description ?? '', inputSchema: inputSchema ?? {} }),
        ),
        ...(reply.role === 'asks'
          ? {
              'ai.response.toolCalls': jsonText(
                reply.calls.map(({ id, tool, argumentsText }) => ({ toolCallId: id, toolName: tool, input: argumentsText })),
              ),
            }
          : reply.role === 'tool'
            ? {}
            : { 'ai.response.text': reply.text }),
        'ai.usage.inputTokens': tokensIn(history),
        'ai.usage.outputTokens': tokensIn([reply]),
      },
    };
  },
  tool: (run, call, id) => ({
    name: 'ai.toolCall',
    attributes: {
      ...operation('ai.toolCall', run),
      'ai.toolCall.name': call.tool,
      'ai.toolCall.id': id,
      'ai.toolCall.args': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'ai.toolCall.result': outcomeText(call.outcome) } : {}),
    },
  }),
};

function operation(id: string, { agent, sessionId }: SimulatedRun): Attributes {
  return {
    'operation.name': `${id} ${agent.name}`,
    'ai.operationId': id,
    'ai.telemetry.functionId': agent.name,
    ...(sessionId === undefined ? {} : { 'ai.telemetry.metadata.sessionId': sessionId }),
  };
}

function message(one: SimulatedMessage): JsonObject {
  if (one.role === 'tool')
    return {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: one.id, toolName: one.tool, output: { type: 'text', value: one.text } }],
    };
  if (one.role === 'asks')
    return {
      role: 'assistant',
      content: one.calls.map(({ id, tool, argumentsText }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: tool,
        input: parseJson(argumentsText) ?? {},
      })),
    };
  return { role: one.role, content: one.role === 'user' ? [{ type: 'text', text: one.text }] : one.text };
}
