/** Embabel: `embabel.event.type` names the kind of a span; tools and requests to models also follow the GenAI conventions. Every value is a text. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';

export const embabel: Collector = {
  id: 'embabel',
  summary: 'Embabel (embabel.event.type).',
  recognisedBy: { keys: ['embabel.event.type'] },
  wants: {
    keys: [
      'embabel.event.type',
      'embabel.agent.name',
      'embabel.tool.status',
      'embabel.tool.error.message',
      'embabel.tool.error.type',
      'input.value',
      'output.value',
    ],
    prefixes: [],
  },
  documentedAt: ['https://github.com/embabel/embabel-agent/tree/main/embabel-agent-observability'],
  captureHints: {
    content: 'Leave capture-message-content on, its default, and raise max-attribute-length: longer values are cut at 4000 characters.',
    tools: 'Definitions are on no span; name the tools under tools in the configuration.',
  },
  carriedBy: { input: ['input.value'], final_response: ['output.value'], tool_results: ['embabel.tool.status'] },
  read,
};

function read(span: Span): SpanFacts {
  switch (textAttribute(span, 'embabel.event.type')) {
    case 'agent_process': {
      const agentName = textAttribute(span, 'embabel.agent.name');
      const input = textAttribute(span, 'input.value');
      const output = textAttribute(span, 'output.value');
      return {
        role: 'agent',
        ...(agentName === undefined ? {} : { agentName }),
        ...(input === undefined ? {} : { input }),
        ...(output === undefined ? {} : { output }),
      };
    }
    case 'tool_call':
      return { role: 'tool', tool: { ...failure(span) } };
    default:
      return { role: 'step' };
  }
}

/** The message is cut where it is long; the span's own status has it whole. */
function failure(span: Span): Pick<NonNullable<SpanFacts['tool']>, 'failed'> {
  if (textAttribute(span, 'embabel.tool.status') !== 'error') return {};
  const type = textAttribute(span, 'embabel.tool.error.type');
  return { failed: { message: textAttribute(span, 'embabel.tool.error.message') ?? '', ...(type === undefined ? {} : { type }) } };
}
