/** Logfire's own instrumentations of model clients, the OpenAI Agents SDK and MCP: requests and responses as one JSON text each. */
import { isJsonObject, member } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts } from './collector.ts';
import { listedMessages } from './parsing/message-events.ts';
import { observedModel } from './parsing/observation.ts';
import { readArguments, readOutcome } from './parsing/values.ts';
import { objectIn } from './parsing/members.ts';

export const logfire: Collector = {
  id: 'logfire',
  summary: 'Logfire instrumentations of OpenAI, Anthropic, OpenAI Agents and MCP (scopes logfire.*).',
  recognisedBy: { scopes: ['logfire.openai', 'logfire.anthropic', 'logfire.openai_agents', 'logfire.mcp'] },
  wants: {
    keys: [
      'logfire.msg_template',
      'request_data',
      'response_data',
      'events',
      'gen_ai.input.messages',
      'gen_ai.output.messages',
      'gen_ai.usage.input_tokens',
      'name',
      'input',
      'output',
      'error',
      'to_agent',
      'group_id',
      'request',
      'response',
    ],
    prefixes: [],
  },
  documentedAt: ['https://pydantic.dev/docs/logfire/integrations/llms/openai/', 'https://github.com/pydantic/logfire'],
  captureHints: {
    content: 'Content is on by default; values that scrubbing replaced are unknown.',
    tools: 'Tools travel with the requests to models.',
  },
  carriedBy: {
    input: ['request_data', 'events'],
    final_response: ['response_data', 'events'],
    tool_calls: ['logfire.msg_template', 'response_data', 'request', 'events'],
    tool_arguments: ['input', 'response_data', 'request', 'events'],
    tool_results: ['output', 'request_data', 'response', 'events'],
    tool_definitions: ['request_data', 'response'],
  },
  read,
};

function read(span: Span): SpanFacts {
  switch (span.scope.name) {
    case 'logfire.mcp':
      return mcpFacts(span);
    case 'logfire.openai_agents':
      return agentsFacts(span);
    default:
      return modelFacts(span);
  }
}

/** A stream leaves two spans: one for the request, and when it ends one that has both. */
function modelFacts(span: Span): SpanFacts {
  const { input, output } = listedMessages(span.attribute('events'));
  const request = objectIn(span, 'request_data');
  const response = objectIn(span, 'response_data');
  const isAnswered = Object.keys(response).length > 0 || output.length > 0 || span.attribute('gen_ai.output.messages') !== undefined;
  const isCounted = span.attribute('gen_ai.usage.input_tokens') !== undefined || span.status.code === 'error';
  if (!isAnswered && (member(request, 'stream') === true || !isCounted)) return { role: 'step' };
  const streamed = member(response, 'combined_chunk_content');
  const { role: _role, ...content } = observedModel({
    name: span.name,
    input: request,
    output: typeof streamed === 'string' ? streamed : Object.keys(response).length === 0 ? undefined : response,
  });
  return { ...content, ...messagesOf(input, output) };
}

function messagesOf(input: readonly Message[], output: readonly Message[]): SpanFacts {
  return { ...(input.length === 0 ? {} : { inputMessages: input }), ...(output.length === 0 ? {} : { outputMessages: output }) };
}

/** The template of a span's message shows what it is. */
function agentsFacts(span: Span): SpanFacts {
  const template = textAttribute(span, 'logfire.msg_template') ?? '';
  const name = textAttribute(span, 'name') ?? span.name;
  if (template.startsWith('OpenAI Agents trace:')) {
    const sessionId = idAttribute(span, 'group_id');
    return { role: 'workflow', ...(sessionId === undefined ? {} : { sessionId }) };
  }
  if (template.startsWith('Agent run:')) return { role: 'agent', agentName: name };
  if (template.startsWith('Function:'))
    return {
      role: 'tool',
      tool: { name, ...readArguments(span.attribute('input')), ...readOutcome(span.attribute('output')), ...failure(span) },
    };
  if (template.startsWith('Handoff:')) {
    const target = textAttribute(span, 'to_agent');
    return { role: 'step', ...(target === undefined ? {} : { handoffTo: target }) };
  }
  if (template.startsWith('Responses API')) return { role: 'model', ...responseFacts(span) };
  if (template.startsWith('Chat completion')) return { role: 'model', ...requestWithAnswer(span) };
  return { role: 'step' };
}

/** The answer and the tools are in the response; the last of the events is the answer too. */
function responseFacts(span: Span): SpanFacts {
  const { input, output } = listedMessages(span.attribute('events'));
  const last = input.findLastIndex(({ role }) => role !== 'assistant');
  const response = objectIn(span, 'response');
  const answered = observedModel({
    name: span.name,
    input: { tools: member(response, 'tools') ?? null },
    output: Object.hasOwn(response, 'output') ? response : undefined,
  });
  const answer = answered.outputMessages ?? [...input.slice(last + 1), ...output];
  return {
    ...messagesOf(input.slice(0, last + 1), answer),
    ...(answered.toolDefinitions === undefined ? {} : { toolDefinitions: answered.toolDefinitions }),
  };
}

/** The answer is the last of the messages. */
function requestWithAnswer(span: Span): SpanFacts {
  const all = observedModel({ name: span.name, input: objectIn(span, 'request_data'), output: undefined }).inputMessages ?? [];
  const last = all.findLastIndex(({ role }) => role !== 'assistant');
  return messagesOf(all.slice(0, last + 1), all.slice(last + 1));
}

function failure(span: Span): Pick<NonNullable<SpanFacts['tool']>, 'failed'> {
  const error = objectIn(span, 'error');
  const message = member(error, 'message');
  return Object.keys(error).length === 0 ? {} : { failed: { message: typeof message === 'string' ? message : '' } };
}

/** A client's and a server's span of one call, both below the tool's own. */
function mcpFacts(span: Span): SpanFacts {
  const request = objectIn(span, 'request');
  const params = member(request, 'params');
  const name = isJsonObject(params) ? member(params, 'name') : undefined;
  const isCall = member(request, 'method') === 'tools/call' && isJsonObject(params) && typeof name === 'string';
  // A server whose caller did not pass its trace on belongs to no agent that we see.
  if (!isCall || (span.name.startsWith('MCP server') && span.parentSpanId === undefined)) return { role: 'step' };
  return {
    role: 'tool',
    tool: { name, insideCall: true, ...readArguments(member(params, 'arguments')), ...readOutcome(span.attribute('response')) },
  };
}
