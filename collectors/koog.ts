/** JetBrains Koog: the GenAI conventions, with an id where the agent's name would be, and in older versions messages in span events. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts } from './collector.ts';
import { readSystemPrompt } from './parsing/conventions.ts';
import { messageEvents } from './parsing/message-events.ts';

export const koog: Collector = {
  id: 'koog',
  summary: 'JetBrains Koog (koog.*).',
  recognisedBy: { keys: ['koog.event.id', 'koog.node.id', 'koog.node.name', 'koog.strategy.name', 'koog.subgraph.id'] },
  wants: {
    keys: [
      'gen_ai.operation.name',
      'gen_ai.agent.name',
      'gen_ai.agent.id',
      'gen_ai.output.messages',
      'gen_ai.input.messages',
      'system_instructions',
    ],
    prefixes: [],
  },
  documentedAt: ['https://docs.koog.ai/features/open-telemetry/', 'https://github.com/JetBrains/koog'],
  captureHints: {
    content: 'Call setVerbose(true) on the OpenTelemetry feature: without it every text is replaced by a placeholder.',
    tools: 'Names and descriptions of tools are sent, schemas are not; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['event gen_ai.user.message'],
    final_response: ['event gen_ai.assistant.message'],
    tool_calls: ['event gen_ai.choice'],
    tool_arguments: ['event gen_ai.choice'],
    tool_results: ['event gen_ai.tool.message'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const system = readSystemPrompt(span.attribute('system_instructions'));
  return { ...(system === undefined ? {} : { systemPrompt: system }), ...byOperation(span) };
}

function byOperation(span: Span): SpanFacts {
  switch (textAttribute(span, 'gen_ai.operation.name')) {
    case 'invoke_agent': {
      const name = textAttribute(span, 'gen_ai.agent.name') ?? textAttribute(span, 'gen_ai.agent.id');
      return name === undefined ? {} : { role: 'agent', agentName: name };
    }
    case 'chat':
      return messagesOf(span);
    case undefined:
      // Strategies, nodes, subgraphs and plans.
      return { role: 'step' };
    default:
      return {};
  }
}

/** The events repeat the history, including the model's answers: the messages after the last one that the model received are its new answer. */
function messagesOf(span: Span): SpanFacts {
  if (span.attribute('gen_ai.output.messages') !== undefined || span.attribute('gen_ai.input.messages') !== undefined) return {};
  const all = messageEvents(span).flatMap(({ messages }) => messages);
  const last = all.findLastIndex(({ role }) => role !== 'assistant');
  const [inputMessages, outputMessages]: readonly (readonly Message[])[] = [all.slice(0, last + 1), all.slice(last + 1)];
  return {
    ...(inputMessages === undefined || inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages === undefined || outputMessages.length === 0 ? {} : { outputMessages }),
  };
}
