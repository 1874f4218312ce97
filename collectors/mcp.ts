/**
 * Spans of MCP clients and servers, by the conventions (`mcp.method.name`). A call of a tool shows up to three times: on the agent's tool span, on
 * the client's, on the server's. The last two show how the first was carried out.
 */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

export const mcp: Collector = {
  id: 'mcp',
  summary: 'MCP clients and servers (mcp.method.name).',
  recognisedBy: { keys: ['mcp.method.name'] },
  wants: {
    keys: ['mcp.method.name', 'gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'],
    prefixes: [],
  },
  captureHints: {
    content:
      'Arguments and results are opt-in attributes of the client’s or the server’s instrumentation (gen_ai.tool.call.arguments and .result). The span of the agent’s own tool call is the better place.',
    tools: 'The answer to tools/list is on no span; name the tools under tools in the configuration.',
  },
  carriedBy: { tool_calls: ['mcp.method.name'], tool_arguments: ['gen_ai.tool.call.arguments'], tool_results: ['gen_ai.tool.call.result'] },
  read,
};

/** OpenTelemetry's kind of the spans of servers. */
const server = 2;

function read(span: Span): SpanFacts {
  const name = textAttribute(span, 'gen_ai.tool.name') ?? /(?:^| )tools\/call (.+)$/.exec(span.name)?.[1];
  if (textAttribute(span, 'mcp.method.name') !== 'tools/call' || name === undefined) return { role: 'step' };
  // A server whose caller did not pass its trace on: nothing shows that an agent called, or which one.
  if (span.kind === server && span.parentSpanId === undefined) return { role: 'step' };
  const id = textAttribute(span, 'gen_ai.tool.call.id');
  return {
    role: 'tool',
    tool: {
      name,
      insideCall: true,
      ...(id === undefined ? {} : { id }),
      ...readArguments(span.attribute('gen_ai.tool.call.arguments')),
      ...readOutcome(span.attribute('gen_ai.tool.call.result')),
    },
  };
}
