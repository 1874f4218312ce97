/**
 * AutoGen's runtime: agents in a team talk over a message bus, and every message is a span in a separate trace, linked to the span that wrote it. The
 * group chat's manager is sent all messages of the agents; the agents' spans themselves follow the GenAI conventions.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts } from './collector.ts';
import { lastText, readMessages } from './parsing/messages.ts';
import { parseContainer } from './parsing/parsing.ts';

export const autogen: Collector = {
  id: 'autogen',
  summary: 'AutoGen’s runtime (messages between the agents of a team; the agents’ own spans are read as gen_ai).',
  recognisedBy: { scopes: ['autogen SingleThreadedAgentRuntime'] },
  wants: { keys: ['messaging.operation', 'recipient_agent_class', 'message'], prefixes: [] },
  captureHints: {
    content:
      'Only teams report the messages of their agents, in the messages of the runtime; for single agents add openinference-instrumentation-autogen-agentchat.',
    tools: 'Names and descriptions of tools that were called are sent, schemas are not; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['message'],
    final_response: ['message'],
    tool_calls: ['message'],
    tool_arguments: ['message'],
    tool_results: ['message'],
    tokens: ['message'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const links = { role: 'step', followsLinks: true } as const;
  if (
    textAttribute(span, 'messaging.operation') !== 'process' ||
    textAttribute(span, 'recipient_agent_class')?.endsWith('GroupChatManager') !== true
  )
    return links;
  const sent = parseContainer(textAttribute(span, 'message') ?? '');
  if (!isJsonObject(sent)) return links;
  const begun = member(sent, 'messages');
  if (isJsonArray(begun)) return { ...links, ...taskOf(begun.filter(isJsonObject)) };
  const message = member(sent, 'message');
  return isJsonObject(message) ? { ...links, ...saidBy(message) } : links;
}

/** The task of the team. */
function taskOf(messages: readonly JsonObject[]): SpanFacts {
  const input = lastText(
    readMessages(
      messages.map((message) => ({ role: 'user', content: member(message, 'content') ?? null })),
      'user',
    ),
    'user',
  );
  return input === undefined ? {} : { input };
}

/** A message with token counts is the answer to one request to a model. */
function saidBy(message: JsonObject): SpanFacts {
  const usage = member(message, 'models_usage');
  const content = member(message, 'content') ?? null;
  const [input, output] = ['prompt_tokens', 'completion_tokens'].map((key) => (isJsonObject(usage) ? member(usage, key) : undefined));
  const model = isJsonObject(usage)
    ? {
        role: 'model' as const,
        ...(typeof input === 'number' ? { inputTokens: input } : {}),
        ...(typeof output === 'number' ? { outputTokens: output } : {}),
      }
    : {};
  switch (member(message, 'type')) {
    case 'ToolCallRequestEvent':
      return {
        ...model,
        outputMessages: [{ role: 'assistant', requested: partsOf(content, 'tool_call').flatMap((one) => one.requested), results: [] }],
      };
    case 'ToolCallExecutionEvent':
      return {
        ...model,
        inputMessages: [{ role: 'tool', requested: [], results: partsOf(content, 'tool_result').flatMap((one) => one.results) }],
      };
    case 'TextMessage':
    case 'ToolCallSummaryMessage':
      return member(message, 'source') === 'user'
        ? {}
        : { ...model, outputMessages: readMessages([{ role: 'assistant', content }], 'assistant') };
    default:
      return {};
  }
}

/** Its calls and results say which they are by the message that they are in. */
function partsOf(content: JsonValue, type: 'tool_call' | 'tool_result'): readonly Message[] {
  const parts = isJsonArray(content) ? content.filter(isJsonObject) : [];
  return readMessages(parts.map((part) => ({ role: type === 'tool_call' ? 'assistant' : 'tool', content: [{ ...part, type }] })));
}
