/** OpenLIT beside the GenAI conventions: the workflow's input, and LangChain messages in Python's own notation. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { pythonLiteralCharsMax, readQuoted } from './parsing/python-literal.ts';
import { runInput } from './parsing/run-values.ts';
import { readOutcome } from './parsing/values.ts';

export const openlit: Collector = {
  id: 'openlit',
  summary: 'OpenLIT instrumentations (scope openlit.*).',
  recognisedBy: { scopePrefixes: ['openlit.'] },
  wants: { keys: ['gen_ai.operation.name', 'gen_ai.workflow.input', 'gen_ai.tool.call.result', 'gen_ai.agent.name'], prefixes: [] },
  captureHints: {
    content: 'Leave capture_message_content on, its default.',
    tools: 'Definitions come with LangChain; for OpenAI they are not on the spans, so name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['gen_ai.workflow.input'],
    tool_results: ['gen_ai.tool.call.result'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const operation = textAttribute(span, 'gen_ai.operation.name');
  if (operation === 'execute_tool') {
    const tool = resultOf(textAttribute(span, 'gen_ai.tool.call.result') ?? '');
    return tool === undefined ? {} : { role: 'tool', tool };
  }
  if (operation !== 'invoke_agent' && operation !== 'invoke_workflow') return {};
  const input = runInput(span.attribute('gen_ai.workflow.input')).value;
  // The nodes of a graph look like agents; the whole graph is one.
  const isNode = operation === 'invoke_agent' && ['agent', 'tools', 'model'].includes(textAttribute(span, 'gen_ai.agent.name') ?? '');
  return { ...(isNode ? { role: 'step' as const } : {}), ...(input === undefined ? {} : { input }) };
}

/** `content='…' name='…' tool_call_id='…' status='error'`: the text form of a tool message. */
const MEMBER = /\b(content|tool_call_id|status)=(?=['"])/g;

function resultOf(text: string): ToolFacts | undefined {
  if (!text.startsWith('content=') || text.length > pythonLiteralCharsMax) return undefined;
  const members = new Map<string, string>();
  let end = 0;
  for (const { 0: beginning, 1: key, index } of text.matchAll(MEMBER)) {
    // What looks like a member inside a quoted text is none.
    if (index < end || key === undefined) continue;
    const quoted = readQuoted(text, index + beginning.length);
    if (quoted === undefined) break;
    if (!members.has(key)) members.set(key, quoted.value);
    end = quoted.end;
  }
  const content = members.get('content');
  const id = members.get('tool_call_id');
  if (content === undefined) return undefined;
  return {
    ...(id === undefined ? {} : { id }),
    ...readOutcome(content),
    ...(members.get('status') === 'error' ? { failed: { message: content } } : {}),
  };
}
