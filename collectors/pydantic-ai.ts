/** Pydantic AI's own names beside the GenAI conventions; in its first two formats instead of them. */
import { isJsonArray, isJsonObject, member, type JsonValue } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { flattened, unflattened } from './parsing/flattened.ts';
import { listedMessages } from './parsing/message-events.ts';
import { lastText, readMessages } from './parsing/messages.ts';
import { parseContainer } from './parsing/parsing.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

/** Netra writes a span for each node of an agent's graph, with the parts of its message flattened. */
const NODE = 'pydantic_ai.node.type';
const asked = flattened('pydantic_ai.request.parts.');
const answered = flattened('pydantic_ai.response.parts.');

export const pydanticAi: Collector = {
  id: 'pydantic_ai',
  summary: 'Pydantic AI, all formats (scope pydantic-ai).',
  recognisedBy: { scopes: ['pydantic-ai'], keys: [NODE] },
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
      NODE,
      'pydantic_ai.response.model_name',
    ],
    prefixes: ['pydantic_ai.request.parts.', 'pydantic_ai.response.parts.'],
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
  const node = textAttribute(span, NODE);
  if (node !== undefined) return nodeFacts(span, node);
  if (span.attribute('tool_arguments') !== undefined || span.name === 'running tool') return toolFacts(span);
  const { waits } = deferral(span);
  if (waits === true) return { tool: { waits } };
  if (span.name === 'agent run' || span.attribute('agent_name') !== undefined) return agentFacts(span);
  return modelFacts(span);
}

/** The node of a request has what was asked, and the next one the calls of the answer. */
function nodeFacts(span: Span, node: string): SpanFacts {
  if (node === 'ModelRequestNode') return { role: 'model', inputMessages: messages(unflattened(span, asked)) };
  if (node !== 'CallToolsNode') return { role: 'step' };
  const outputMessages = messages(unflattened(span, answered));
  const model = textAttribute(span, 'pydantic_ai.response.model_name');
  return {
    role: 'step',
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
    ...(model === undefined ? {} : { model }),
  };
}

function messages(parts: readonly JsonValue[]): readonly Message[] {
  return parts.flatMap((part) => {
    if (!isJsonObject(part)) return [];
    const { type, content = null, tool_name = null, tool_call_id = null, args = null } = part;
    switch (type) {
      case 'SystemPromptPart':
      case 'UserPromptPart':
        return readMessages([{ role: type === 'UserPromptPart' ? 'user' : 'system', content }]);
      case 'ToolReturnPart':
      case 'RetryPromptPart':
        return readMessages([{ role: 'tool', name: tool_name, tool_call_id, content }]);
      case 'ToolCallPart':
        return readMessages([
          {
            role: 'assistant',
            content: '',
            tool_calls: [{ id: tool_call_id, type: 'function', function: { name: tool_name, arguments: args } }],
          },
        ]);
      default:
        return [];
    }
  });
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
