/**
 * BeeAI for JavaScript under OpenInference: one span for the run, and below it one for every event of the framework, all of them marked as agents,
 * tools and models. Only the events that end something represent it.
 */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Repeats, SpanFacts } from './collector.ts';
import { eventNameOf, toolOfEvent, type SpanEventName } from './parsing/event-spans.ts';
import { systemText } from './parsing/messages.ts';
import { readArguments } from './parsing/values.ts';
import { openInference } from './openinference.ts';

export const beeai: Collector = {
  id: 'beeai',
  summary: 'BeeAI for JavaScript under OpenInference (scope @arizeai/openinference-instrumentation-beeai).',
  recognisedBy: { scopes: ['@arizeai/openinference-instrumentation-beeai'] },
  wants: {
    keys: [...openInference.wants.keys, 'name', 'source', 'exception.message', 'exception.type'],
    prefixes: openInference.wants.prefixes,
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

function read(span: Span, repeats?: Repeats): SpanFacts {
  const kind = textAttribute(span, 'openinference.span.kind');
  if (span.name === 'beeai-framework-main') return kind === 'AGENT' ? { role: 'agent', ...namedAgent(span) } : {};
  const event = textAttribute(span, 'name');
  if (kind === 'TOOL' && (event === 'toolSuccess' || event === 'toolError')) return toolFacts(span, event);
  const name = eventNameOf(span);
  const told = name === undefined ? {} : eventFacts(span, kind, name, repeats);
  // A request to a model has spans for its start and its end; the end has the answer.
  return kind === 'LLM' && event === 'success' ? told : { role: 'step', ...told };
}

/** The class of agents without a custom one, which does not name the agent. */
const DEFAULT_CLASS = 'ToolCallingAgent';

function namedAgent(span: Span): Pick<SpanFacts, 'agentName'> {
  const source = textAttribute(span, 'source') ?? span.name;
  return source === DEFAULT_CLASS ? {} : { agentName: source };
}

/** Facts of the request or call that the event belongs to. */
function eventFacts(span: Span, kind: string | undefined, name: SpanEventName, repeats: Repeats | undefined): Pick<SpanFacts, 'event'> {
  if ((kind !== 'LLM' && kind !== 'TOOL') || name.phase === 'between') return {};
  const { tool, ...read } = openInference.read(span, repeats);
  const told: SpanFacts =
    kind === 'TOOL' ? { role: 'tool', tool: toolOfEvent(span, name, tool ?? {}) } : { ...read, ...ownInstructions(read), role: 'model' };
  return { event: { of: name.of, phase: name.phase, facts: told } };
}

/** The instructions stand inside a longer text of the framework's. */
const INSTRUCTIONS = /\bYour instructions are:\n([^]*?)\n\nWhen the user sends a message/;

function ownInstructions({ inputMessages }: SpanFacts): Pick<SpanFacts, 'systemPrompt'> {
  const systemPrompt = INSTRUCTIONS.exec(systemText(inputMessages ?? []) ?? '')?.[1];
  return systemPrompt === undefined ? {} : { systemPrompt };
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
