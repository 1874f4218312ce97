/** Pydantic AI's own names beside the GenAI conventions; in its first two formats instead of them. */
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { listedMessages } from './parsing/message-events.ts';
import { lastText, readMessages } from './parsing/messages.ts';
import { parseContainer } from './parsing/parsing.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

export const pydanticAi: Collector = {
  id: 'pydantic_ai',
  summary: 'Pydantic AI, all formats (scope pydantic-ai).',
  recognisedBy: { scopes: ['pydantic-ai'] },
  wants: {
    keys: [
      'agent_name',
      'final_result',
      'all_messages_events',
      'pydantic_ai.all_messages',
      'events',
      'model_request_parameters',
      'tool_arguments',
      'tool_response',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'pydantic_ai.tool.deferral.name',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Leave InstrumentationSettings(include_content=True), its default.',
    tools: 'Definitions come by default, with the requests to models.',
  },
  carriedBy: {
    input: ['pydantic_ai.all_messages', 'all_messages_events', 'events'],
    final_response: ['final_result', 'events'],
    tool_calls: ['gen_ai.tool.name', 'events'],
    tool_arguments: ['tool_arguments', 'events'],
    tool_results: ['tool_response', 'events'],
    tool_definitions: ['model_request_parameters'],
  },
  read,
};

function read(span: Span): SpanFacts {
  if (span.attribute('tool_arguments') !== undefined || span.name === 'running tool') return toolFacts(span);
  const { waits } = deferral(span);
  if (waits === true) return { tool: { waits } };
  if (span.name === 'agent run' || span.attribute('agent_name') !== undefined) return agentFacts(span);
  return modelFacts(span);
}

function toolFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'gen_ai.tool.name');
  const id = textAttribute(span, 'gen_ai.tool.call.id');
  return {
    role: 'tool',
    tool: {
      ...(name === undefined ? {} : { name }),
      ...(id === undefined ? {} : { id }),
      ...readArguments(span.attribute('tool_arguments')),
      ...readOutcome(span.attribute('tool_response')),
      ...deferral(span),
    },
  };
}

/** Later formats state a deferral by an attribute in place of an exception. */
function deferral(span: Span): Pick<NonNullable<SpanFacts['tool']>, 'waits'> {
  return span.attribute('pydantic_ai.tool.deferral.name') === undefined ? {} : { waits: true };
}

function agentFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'agent_name');
  const output = textAttribute(span, 'final_result');
  const conversation =
    span.attribute('all_messages_events') === undefined
      ? readMessages(span.attribute('pydantic_ai.all_messages'), 'user')
      : listedMessages(span.attribute('all_messages_events')).input;
  const input = lastText(conversation, 'user');
  return {
    role: 'agent',
    ...(name === undefined ? {} : { agentName: name }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}

/** Requests of the first format hold a list of events, the answer among them. */
function modelFacts(span: Span): SpanFacts {
  const parameters = parseContainer(textAttribute(span, 'model_request_parameters') ?? '');
  const tools = isJsonObject(parameters) ? member(parameters, 'function_tools') : undefined;
  const { input, output } = listedMessages(span.attribute('events'));
  return {
    ...(isJsonArray(tools) ? { toolDefinitions: readDefinitions(tools) } : {}),
    ...(input.length === 0 ? {} : { inputMessages: input }),
    ...(output.length === 0 ? {} : { outputMessages: output }),
  };
}
