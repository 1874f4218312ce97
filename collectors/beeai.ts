/**
 * BeeAI for JavaScript under OpenInference: one span for the run, and below it one for every event of the framework, all of them marked as
 * agents, tools and models. Only the events that end something stand for it.
 */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { readArguments } from './parsing/values.ts';

export const beeai: Collector = {
  id: 'beeai',
  summary: 'BeeAI for JavaScript under OpenInference (scope @arizeai/openinference-instrumentation-beeai).',
  recognisedBy: { scopes: ['@arizeai/openinference-instrumentation-beeai'] },
  wants: {
    keys: ['openinference.span.kind', 'name', 'source', 'tool.name', 'tool.parameters', 'exception.message', 'exception.type'],
    prefixes: [],
  },
  documentedAt: ['https://github.com/Arize-ai/openinference/tree/main/js/packages/openinference-instrumentation-beeai'],
  captureHints: {
    content:
      'Content is on by default. Names of tools come with agents of the kind ReAct only; calls of other agents are on no span by name.',
    tools: 'Definitions are on no span; name the tools under tools in the configuration.',
  },
  carriedBy: { tool_calls: ['tool.name'], tool_arguments: ['tool.parameters'], tool_results: ['exception.message'] },
  read,
};

function read(span: Span): SpanFacts {
  const kind = textAttribute(span, 'openinference.span.kind');
  if (span.name === 'beeai-framework-main')
    return kind === 'AGENT' ? { role: 'agent', agentName: textAttribute(span, 'source') ?? span.name } : {};
  const event = textAttribute(span, 'name');
  if (kind === 'TOOL' && (event === 'toolSuccess' || event === 'toolError')) return toolFacts(span, event);
  // The request to a model is told by its start and by its end; the end has the answer.
  if (kind === 'LLM' && event === 'success') return {};
  return { role: 'step' };
}

function toolFacts(span: Span, event: string): SpanFacts {
  const name = textAttribute(span, 'tool.name');
  if (name === undefined) return { role: 'step' };
  const message = textAttribute(span, 'exception.message');
  const type = textAttribute(span, 'exception.type');
  const failed =
    event === 'toolError' || message !== undefined ? { failed: { message: message ?? '', ...(type === undefined ? {} : { type }) } } : {};
  return { role: 'tool', tool: { name, ...readArguments(span.attribute('tool.parameters')), ...failed } };
}
