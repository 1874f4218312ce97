/**
 * The OpenTelemetry GenAI conventions, versions 1.37 and later on spans; message content also from log records, where instrumentations of
 * versions 1.28 to 1.36 put it (one record per message) and those of later versions may put it (one record per model call).
 */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { textAttribute, type Attributed, type LogRecord, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts, ToolFacts } from './collector.ts';
import { readDefinitions } from './reading/definitions.ts';
import { lastText, readMessages } from './reading/messages.ts';
import { readPythonCalls } from './reading/python-calls.ts';
import { jsonOf, parseText, textOfParts } from './reading/parsing.ts';
import { readArguments, readOutcome } from './reading/values.ts';

const contentKeys = ['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions', 'gen_ai.tool.definitions'] as const;
const messageEvents = ['gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message', 'gen_ai.choice'] as const;
const detailsEvent = 'gen_ai.client.inference.operation.details';

export const genAi: Collector = {
  id: 'gen_ai',
  summary: 'OpenTelemetry GenAI conventions (gen_ai.*), content on spans or in log records.',
  recognisedBy: { keyPrefixes: ['gen_ai.'] },
  wants: {
    keys: [
      ...contentKeys, 'gen_ai.operation.name', 'gen_ai.agent.name', 'gen_ai.workflow.name', 'gen_ai.conversation.id', 'session.id', 'gen_ai.tool.name', 'gen_ai.tool.call.id',
      'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result', 'gen_ai.tool.description', 'gen_ai.request.model', 'gen_ai.response.model',
      'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens', 'gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.reasoning.output_tokens',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, and OTEL_LOGS_EXPORTER=otlp for instrumentations that send messages as log records.',
    tools: 'Where the instrumentation knows the tools, they come with message content, for some only with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental; else set gen_ai.tool.definitions (JSON) on the agent’s span.',
  },
  carriedBy: {
    input: ['gen_ai.input.messages', 'record gen_ai.user.message', 'record gen_ai.client.inference.operation.details'],
    final_response: ['gen_ai.output.messages', 'record gen_ai.choice', 'record gen_ai.client.inference.operation.details'],
    tool_calls: ['gen_ai.operation.name', 'gen_ai.output.messages', 'gen_ai.input.messages', 'record gen_ai.choice', 'record gen_ai.assistant.message', 'record gen_ai.client.inference.operation.details'],
    tool_arguments: ['gen_ai.tool.call.arguments', 'gen_ai.output.messages', 'gen_ai.input.messages', 'record gen_ai.choice', 'record gen_ai.assistant.message', 'record gen_ai.client.inference.operation.details'],
    tool_results: ['gen_ai.tool.call.result', 'gen_ai.input.messages', 'record gen_ai.tool.message', 'record gen_ai.client.inference.operation.details'],
    tool_definitions: ['gen_ai.tool.definitions', 'record gen_ai.client.inference.operation.details'],
    tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  },
  read,
  logs: { events: [...messageEvents, detailsEvent], wants: { keys: [...contentKeys, 'event.name'], prefixes: [] }, read: readRecords },
};

/** Instrumentations that may send the content of their model spans as log records. */
const scopesWithRecords: ReadonlySet<string> = new Set(['opentelemetry.instrumentation.openai_v2', 'opentelemetry.util.genai.handler', '@opentelemetry/instrumentation-openai']);

function read(span: Span): SpanFacts {
  const sessionId = textAttribute(span, 'gen_ai.conversation.id') ?? textAttribute(span, 'session.id');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byOperation(span) };
}

function byOperation(span: Span): SpanFacts {
  switch (textAttribute(span, 'gen_ai.operation.name')) {
    case 'invoke_agent':
      return agentFacts(span);
    case 'invoke_workflow':
      return { ...agentFacts(span), role: 'workflow' };
    case 'execute_tool':
      return { role: 'tool', tool: tool(span) };
    case 'chat':
    case 'text_completion':
    case 'generate_content':
      return modelFacts(span);
    case undefined:
      return {};
    default:
      return { role: 'step' };
  }
}

/** Some instrumentations write an agent span without a name around the one that has it. */
function agentFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'gen_ai.agent.name');
  const workflow = textAttribute(span, 'gen_ai.workflow.name');
  const content = contentOf(span);
  const input = lastText(content.inputMessages ?? [], 'user');
  return {
    role: name === undefined ? 'workflow' : 'agent',
    ...(name === undefined ? (workflow === undefined ? {} : { agentName: workflow, agentNameIsGuess: true }) : { agentName: name }),
    ...content,
    ...(input === undefined ? {} : { input }),
  };
}

function modelFacts(span: Span): SpanFacts {
  const content = contentOf(span);
  const model = textAttribute(span, 'gen_ai.response.model') ?? textAttribute(span, 'gen_ai.request.model');
  const told = content.inputMessages !== undefined || content.outputMessages !== undefined;
  return {
    role: 'model',
    ...content,
    ...(model === undefined ? {} : { model }),
    ...tokens(span),
    ...(!told && scopesWithRecords.has(span.scope.name) ? { contentInLogs: true } : {}),
  };
}

function tokens(span: Span): SpanFacts {
  const found: { [key in 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'reasoningTokens']?: number } = {};
  const take = (key: string, name: keyof typeof found): void => {
    const value = span.attribute(key);
    if (typeof value === 'number') found[name] = value;
  };
  take('gen_ai.usage.input_tokens', 'inputTokens');
  take('gen_ai.usage.output_tokens', 'outputTokens');
  take('gen_ai.usage.cache_read.input_tokens', 'cachedInputTokens');
  take('gen_ai.usage.reasoning.output_tokens', 'reasoningTokens');
  return found;
}

function tool(span: Span): ToolFacts {
  const id = textAttribute(span, 'gen_ai.tool.call.id');
  const description = textAttribute(span, 'gen_ai.tool.description');
  return {
    name: textAttribute(span, 'gen_ai.tool.name') ?? span.name.replace(/^execute_tool /, ''),
    ...(id === undefined ? {} : { id }),
    ...readArguments(span.attribute('gen_ai.tool.call.arguments')),
    ...readOutcome(span.attribute('gen_ai.tool.call.result')),
    ...(description === undefined ? {} : { description }),
  };
}

/** What spans and the newer log records carry under the same names. */
function contentOf(from: Attributed): SpanFacts {
  const input = from.attribute('gen_ai.input.messages');
  const output = from.attribute('gen_ai.output.messages');
  const system = systemPrompt(from);
  const toolDefinitions = readDefinitions(from.attribute('gen_ai.tool.definitions'));
  return {
    ...(input === undefined ? {} : { inputMessages: readMessages(input, 'user') }),
    ...(output === undefined ? {} : { outputMessages: readMessages(output, 'assistant').map(withPythonCalls) }),
    ...(system === undefined ? {} : { systemPrompt: system }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

/** Parts `{type, content}`, or plain text. */
function systemPrompt(from: Attributed): string | undefined {
  const raw = from.attribute('gen_ai.system_instructions');
  if (raw === undefined || raw === null || raw === '') return undefined;
  const value = typeof raw === 'string' ? parseText(raw) : jsonOf(raw);
  if (!Array.isArray(value)) return typeof value === 'string' ? value : undefined;
  const parts = value.map((part: JsonValue) => (isJsonObject(part) && Object.hasOwn(part, 'content') ? { type: 'text', text: member(part, 'content') ?? '' } : part));
  const text = textOfParts(parts)?.result;
  return typeof text === 'string' ? text : undefined;
}

/** The OpenAI Agents instrumentation writes calls as the text form of Python objects. */
function withPythonCalls(message: Message): Message {
  const calls = message.text === undefined ? undefined : readPythonCalls(message.text);
  if (calls === undefined) return message;
  const { text: _calls, ...rest } = message;
  return { ...rest, asked: [...message.asked, ...calls] };
}

function readRecords(records: readonly LogRecord[]): SpanFacts {
  const inputs: Message[] = [];
  const outputs: Message[] = [];
  let content: SpanFacts = {};
  for (const record of records) {
    if (record.eventName === detailsEvent) {
      // One call may send its input and its output in records of their own.
      content = { ...contentOf(record), ...content };
      continue;
    }
    const body = record.body();
    const value = body === undefined ? undefined : typeof body === 'string' ? parseText(body) : jsonOf(body);
    const message: JsonObject = isJsonObject(value) ? value : {};
    if (record.eventName === 'gen_ai.choice') outputs.push(...readMessages([{ role: 'assistant', ...(isJsonObject(member(message, 'message')) ? (member(message, 'message') as JsonObject) : message) }], 'assistant'));
    else inputs.push(...readMessages([{ ...message, role: record.eventName.slice('gen_ai.'.length, -'.message'.length) }], 'user'));
  }
  return { ...(inputs.length === 0 ? {} : { inputMessages: inputs }), ...(outputs.length === 0 ? {} : { outputMessages: outputs }), ...content };
}
