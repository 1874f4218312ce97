/** The Langfuse SDKs, versions 3 to 5: `langfuse.observation.*` on every span. */
import { isJsonObject, member, type JsonObject } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { observedModel, observedRun, observedTool, type Observation } from './reading/observation.ts';
import { parseContainer, parseText } from './reading/values.ts';

export const langfuse: Collector = {
  id: 'langfuse',
  summary: 'Langfuse SDKs (langfuse.observation.*).',
  recognisedBy: { keys: ['langfuse.observation.type'] },
  wants: {
    keys: [
      'langfuse.observation.type', 'langfuse.observation.input', 'langfuse.observation.output', 'langfuse.observation.level', 'langfuse.observation.status_message', 'langfuse.observation.model.name',
      'langfuse.observation.usage_details', 'langfuse.observation.metadata.tool_call_id', 'langfuse.observation.metadata.langgraph_node', 'session.id',
    ],
    prefixes: [],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = textAttribute(span, 'session.id');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byType(span) };
}

function byType(span: Span): SpanFacts {
  const observed: Observation = { name: span.name, input: span.attribute('langfuse.observation.input'), output: span.attribute('langfuse.observation.output') };
  switch (textAttribute(span, 'langfuse.observation.type')) {
    case 'agent':
      // A node of a graph is a step of its agent, even one that is called agent.
      return textAttribute(span, 'langfuse.observation.metadata.langgraph_node') === undefined || span.parentSpanId === undefined ? { role: 'agent', agentName: span.name, ...observedRun(observed) } : { role: 'step' };
    case 'tool':
      return { role: 'tool', tool: tool(span, observed) };
    case 'generation':
      return { ...observedModel(observed), ...modelFacts(span) };
    case 'retriever':
      return { role: 'retriever' };
    default:
      return span.parentSpanId === undefined ? { role: 'workflow', agentName: span.name, agentNameIsGuess: true, ...observedRun(observed) } : { role: 'step' };
  }
}

function tool(span: Span, observed: Observation): ToolFacts {
  const quoted = textAttribute(span, 'langfuse.observation.metadata.tool_call_id');
  const id = quoted === undefined ? undefined : parseText(quoted);
  const read = observedTool(observed);
  const failed = textAttribute(span, 'langfuse.observation.level') === 'ERROR';
  return { ...read, ...(typeof id === 'string' ? { id } : {}), ...(failed ? { failed: { message: textAttribute(span, 'langfuse.observation.status_message') ?? '' } } : {}) };
}

/** The LangChain handler takes cached and reasoning tokens out of the totals; the wrapper around OpenAI's client keeps the API's names. */
function modelFacts(span: Span): SpanFacts {
  const model = textAttribute(span, 'langfuse.observation.model.name');
  const parsed = parseContainer(textAttribute(span, 'langfuse.observation.usage_details') ?? '');
  const usage: JsonObject = isJsonObject(parsed) ? parsed : {};
  const number = (key: string): number | undefined => {
    const value = member(usage, key);
    return typeof value === 'number' ? value : undefined;
  };
  const [input, output] = [number('input'), number('output')];
  const cached = number('input_cache_read') ?? 0;
  const reasoning = number('output_reasoning') ?? 0;
  const inputTokens = input === undefined ? (number('prompt_tokens') ?? number('input_tokens')) : input + cached;
  const outputTokens = output === undefined ? (number('completion_tokens') ?? number('output_tokens')) : output + reasoning;
  return { ...(model === undefined ? {} : { model }), ...(inputTokens === undefined ? {} : { inputTokens }), ...(outputTokens === undefined ? {} : { outputTokens }) };
}
