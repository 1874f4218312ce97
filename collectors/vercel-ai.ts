/** The Vercel AI SDK, versions 4 to 6 and the legacy telemetry of 7: `ai.*` attributes, `ai.operationId` names the kind of a span. */
import { isWaitingReason } from '../src/model/control-flow.ts';
import { isJsonObject, member, type JsonValue } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts, ToolFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { lastText, readMessages, systemText } from './parsing/messages.ts';
import { parseContainer } from './parsing/parsing.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

/** The SDK has no key for a session: developers use these names in the metadata. */
const sessionKeys = ['sessionId', 'session_id', 'threadId', 'thread_id', 'conversationId', 'conversation_id', 'chatId', 'session.id'].map(
  (key) => `ai.telemetry.metadata.${key}`,
);

export const vercelAi: Collector = {
  id: 'vercel_ai',
  summary: 'Vercel AI SDK with experimental_telemetry (ai.*).',
  recognisedBy: { keys: ['ai.operationId'] },
  wants: {
    keys: [
      'ai.operationId',
      'ai.telemetry.functionId',
      ...sessionKeys,
      'ai.prompt',
      'ai.prompt.messages',
      'ai.prompt.tools',
      'ai.response.text',
      'ai.response.finishReason',
      'ai.response.object',
      'ai.response.toolCalls',
      'ai.response.reasoning',
      'ai.toolCall.name',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'ai.toolCall.id',
      'ai.toolCall.args',
      'ai.toolCall.result',
      'ai.response.model',
      'ai.model.id',
      'ai.usage.promptTokens',
      'ai.usage.completionTokens',
      'ai.usage.inputTokens',
      'ai.usage.outputTokens',
      'ai.usage.cachedInputTokens',
      'ai.usage.reasoningTokens',
      'ai.usage.inputTokenDetails.cacheReadTokens',
      'ai.usage.outputTokenDetails.reasoningTokens',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Leave recordInputs and recordOutputs of experimental_telemetry at true, their default.',
    tools: 'Tools travel with the prompts: leave recordInputs of experimental_telemetry at true.',
  },
  carriedBy: {
    input: ['ai.prompt', 'ai.prompt.messages'],
    final_response: ['ai.response.text'],
    tool_calls: ['ai.toolCall.name', 'ai.response.toolCalls', 'ai.prompt.messages'],
    tool_arguments: ['ai.toolCall.args', 'ai.response.toolCalls', 'ai.prompt.messages'],
    tool_results: ['ai.toolCall.result', 'ai.prompt.messages'],
    tool_definitions: ['ai.prompt.tools'],
    tokens: ['ai.usage.inputTokens', 'ai.usage.outputTokens', 'ai.usage.promptTokens', 'ai.usage.completionTokens'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = sessionKeys.map((key) => idAttribute(span, key)).find((value) => value !== undefined);
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byOperation(span, textAttribute(span, 'ai.operationId') ?? '') };
}

function byOperation(span: Span, operation: string): SpanFacts {
  if (operation === 'ai.toolCall') return { role: 'tool', tool: tool(span) };
  if (operation.endsWith('.doGenerate') || operation.endsWith('.doStream')) return modelFacts(span);
  if (/^ai\.(generate|stream)(Text|Object)$/.test(operation)) return agentFacts(span);
  return { role: 'step' };
}

function agentFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'ai.telemetry.functionId');
  const prompt = parseContainer(textAttribute(span, 'ai.prompt') ?? '');
  const asked = isJsonObject(prompt) ? prompt : {};
  const messages = readMessages(member(asked, 'messages'), 'user');
  const input = textIn(asked, 'prompt') ?? lastText(messages, 'user');
  const system = textIn(asked, 'system') ?? systemText(messages);
  const output = textAttribute(span, 'ai.response.text') ?? textAttribute(span, 'ai.response.object');
  return {
    role: 'agent',
    ...(name === undefined ? { agentName: span.name, agentNameIsGuess: true } : { agentName: name }),
    ...(input === undefined ? {} : { input }),
    ...(system === undefined ? {} : { systemPrompt: system }),
    ...(output === undefined ? {} : { output }),
    ...end(span),
  };
}

/** A stream that breaks off ends with this reason, and the span keeps its status. */
function end(span: Span): Pick<SpanFacts, 'failed' | 'waits'> {
  const reason = textAttribute(span, 'ai.response.finishReason');
  return { ...(reason === 'error' ? { failed: { message: '' } } : {}), ...(isWaitingReason(reason) ? { waits: true } : {}) };
}

function modelFacts(span: Span): SpanFacts {
  const model = textAttribute(span, 'ai.response.model') ?? textAttribute(span, 'ai.model.id');
  const inputMessages = readMessages(span.attribute('ai.prompt.messages'), 'user');
  const toolDefinitions = readDefinitions(span.attribute('ai.prompt.tools'));
  const reply = outputMessage(span);
  return {
    role: 'model',
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(reply === undefined ? {} : { outputMessages: [reply] }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    ...(model === undefined ? {} : { model }),
    ...end(span),
    ...number(span, 'inputTokens', ['ai.usage.inputTokens', 'ai.usage.promptTokens']),
    ...number(span, 'outputTokens', ['ai.usage.outputTokens', 'ai.usage.completionTokens']),
    ...number(span, 'cachedInputTokens', ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens']),
    ...number(span, 'reasoningTokens', ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens']),
  };
}

function outputMessage(span: Span): Message | undefined {
  const text = textAttribute(span, 'ai.response.text') ?? textAttribute(span, 'ai.response.object');
  const calls = parseContainer(textAttribute(span, 'ai.response.toolCalls') ?? '');
  const reasoning = textAttribute(span, 'ai.response.reasoning');
  if (text === undefined && calls === undefined) return undefined;
  const requested = readMessages([{ role: 'assistant', content: '', tool_calls: (calls ?? []) as JsonValue }], 'assistant').flatMap(
    (message) => message.requested,
  );
  return {
    role: 'assistant',
    ...(text === undefined ? {} : { text }),
    ...(reasoning === undefined ? {} : { reasoning }),
    requested,
    results: [],
  };
}

function tool(span: Span): ToolFacts {
  // Sentry moves both to the names of the conventions.
  const id = textAttribute(span, 'ai.toolCall.id') ?? textAttribute(span, 'gen_ai.tool.call.id');
  return {
    name: textAttribute(span, 'ai.toolCall.name') ?? textAttribute(span, 'gen_ai.tool.name') ?? span.name,
    ...(id === undefined ? {} : { id }),
    ...readArguments(span.attribute('ai.toolCall.args')),
    ...readOutcome(span.attribute('ai.toolCall.result')),
  };
}

function number<K extends string>(span: Span, name: K, keys: readonly string[]): { readonly [key in K]?: number } {
  const value = keys.map((key) => span.attribute(key)).find((one) => typeof one === 'number');
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in K]?: number };
}

function textIn(object: { readonly [key: string]: JsonValue }, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}
