/** OpenLIT beside the GenAI conventions: the workflow's input, and LangChain messages in Python's own notation. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { contentKeys, readContent } from './parsing/conventions.ts';
import { isAgentNode } from './parsing/graph-agent.ts';
import { runInput } from './parsing/run-values.ts';
import { outcomeOf, readResult } from './parsing/values.ts';

export const openlit: Collector = {
  id: 'openlit',
  summary: 'OpenLIT instrumentations (scope openlit.*).',
  recognisedBy: { scopePrefixes: ['openlit.'] },
  wants: {
    keys: [
      ...contentKeys,
      'gen_ai.tool.call.id',
      'gen_ai.operation.name',
      'gen_ai.workflow.input',
      'gen_ai.tool.call.result',
      'gen_ai.agent.name',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Leave capture_message_content on, its default.',
    tools: 'Definitions come with LangChain; for OpenAI they are not on the spans, so name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['gen_ai.workflow.input'],
    tool_calls: ['gen_ai.output.messages'],
    tool_arguments: ['gen_ai.output.messages'],
    tool_results: ['gen_ai.tool.call.result'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const operation = textAttribute(span, 'gen_ai.operation.name');
  if (operation === 'execute_tool') {
    const written = textAttribute(span, 'gen_ai.tool.call.result') ?? '';
    if (!written.startsWith('content=')) return {};
    const { callId, ...read } = readResult(written);
    if (read.result === undefined || read.result === written) return {};
    return { role: 'tool', tool: { ...(callId === undefined ? {} : { id: callId }), ...outcomeOf(read) } };
  }
  if (operation === 'chat') return answerFacts(span);
  if (operation !== 'invoke_agent' && operation !== 'invoke_workflow') return {};
  const input = runInput(span.attribute('gen_ai.workflow.input')).value;
  // The nodes of a graph look like agents; the whole graph is one.
  const isNode = operation === 'invoke_agent' && isAgentNode(textAttribute(span, 'gen_ai.agent.name'));
  return { ...(isNode ? { role: 'step' as const } : {}), ...(input === undefined ? {} : { input }) };
}

/** With the Responses API the messages hold the id of the answer's item in place of the call's, which is in a separate attribute. */
function answerFacts(span: Span): SpanFacts {
  const id = textAttribute(span, 'gen_ai.tool.call.id');
  const messages = id === undefined ? [] : (readContent(span).outputMessages ?? []);
  const [call, ...others] = messages.flatMap(({ requested }) => requested);
  if (id === undefined || call === undefined || others.length > 0) return {};
  return {
    outputMessages: messages.map((message) => (message.requested.length === 0 ? message : { ...message, requested: [{ ...call, id }] })),
  };
}
