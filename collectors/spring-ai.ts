/** Spring AI over Micrometer's bridge: `spring.ai.kind`; every attribute is a text, and messages are on no span. */
import { parseJson } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

export const springAi: Collector = {
  id: 'spring_ai',
  summary: 'Spring AI (spring.ai.kind).',
  recognisedBy: { keys: ['spring.ai.kind', 'spring.ai.model.request.tool.names'] },
  wants: {
    keys: [
      'spring.ai.kind',
      'spring.ai.chat.client.conversation.id',
      'spring.ai.chat.client.tool.names',
      'spring.ai.model.request.tool.names',
      'spring.ai.tool.definition.name',
      'spring.ai.tool.definition.description',
      'spring.ai.tool.definition.schema',
      'spring.ai.tool.call.id',
      'spring.ai.tool.call.arguments',
      'spring.ai.tool.call.result',
      'db.operation.name',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Set spring.ai.tools.observations.include-content=true; inputs and answers are on no span.',
    tools: 'All tools are sent by name, schemas only of tools that were called; name the tools under tools in the configuration.',
  },
  carriedBy: {
    tool_calls: ['spring.ai.kind'],
    tool_arguments: ['spring.ai.tool.call.arguments'],
    tool_results: ['spring.ai.tool.call.result'],
    tool_definitions: ['spring.ai.tool.definition.schema', 'spring.ai.model.request.tool.names', 'spring.ai.chat.client.tool.names'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'spring.ai.chat.client.conversation.id');
  const toolDefinitions = readDefinitions(
    span.attribute('spring.ai.chat.client.tool.names') ?? span.attribute('spring.ai.model.request.tool.names'),
  );
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    ...byKind(span),
  };
}

function byKind(span: Span): SpanFacts {
  switch (textAttribute(span, 'spring.ai.kind')) {
    case 'chat_client':
      return { role: 'workflow' };
    case 'tool_call':
      return toolFacts(span);
    case 'vector_store':
      return { role: textAttribute(span, 'db.operation.name') === 'query' ? 'retriever' : 'step' };
    case undefined:
      return {};
    default:
      return { role: 'step' };
  }
}

function toolFacts(span: Span): SpanFacts {
  const id = textAttribute(span, 'spring.ai.tool.call.id');
  const description = textAttribute(span, 'spring.ai.tool.definition.description');
  const schema = parseJson(textAttribute(span, 'spring.ai.tool.definition.schema') ?? '');
  return {
    role: 'tool',
    tool: {
      name: textAttribute(span, 'spring.ai.tool.definition.name') ?? span.name.replace(/^tool_call /, ''),
      ...(id === undefined ? {} : { id }),
      ...readArguments(span.attribute('spring.ai.tool.call.arguments')),
      ...readOutcome(span.attribute('spring.ai.tool.call.result')),
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { inputSchema: schema }),
    },
  };
}
