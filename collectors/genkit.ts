/** Genkit for JavaScript and Go: keys with colons, `genkit:metadata:subtype` names the kind of a span; turns nest inside each other. */
import { isJsonObject, member } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { observedModel, observedRetrieval, observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { parseContainer, writtenValue } from './parsing/parsing.ts';

export const genkit: Collector = {
  id: 'genkit',
  summary: 'Genkit (genkit:name, genkit:metadata:subtype).',
  recognisedBy: { keys: ['genkit:name'] },
  wants: {
    keys: ['genkit:name', 'genkit:metadata:subtype', 'genkit:input', 'genkit:output', 'genkit:state', 'genkit:sessionId'],
    prefixes: [],
  },
  captureHints: {
    content: 'Inputs and outputs are on the spans by default.',
    tools: 'Tools travel with the requests, in the input of model spans.',
  },
  carriedBy: {
    input: ['genkit:input'],
    final_response: ['genkit:output'],
    tool_calls: ['genkit:metadata:subtype', 'genkit:output', 'genkit:input'],
    tool_arguments: ['genkit:input', 'genkit:output'],
    tool_results: ['genkit:output', 'genkit:input'],
    tool_definitions: ['genkit:input'],
    tokens: ['genkit:output'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'genkit:sessionId');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...bySubtype(span), ...failure(span) };
}

function bySubtype(span: Span): SpanFacts {
  const name = textAttribute(span, 'genkit:name') ?? span.name;
  const observed: Observation = {
    name,
    input: writtenValue(textAttribute(span, 'genkit:input')),
    output: writtenValue(textAttribute(span, 'genkit:output')),
  };
  switch (textAttribute(span, 'genkit:metadata:subtype')) {
    case 'flow':
    case 'agent':
      return { role: 'agent', agentName: name, ...observedRun(observed) };
    case 'tool':
      return { role: 'tool', tool: tool(span, observed) };
    case 'tool.v2':
      return { role: 'tool', tool: tool(span, { ...observed, output: unwrapped(observed.output) }) };
    case 'model':
      return { ...observedModel(observed), ...modelFacts(span, name) };
    case 'retriever':
      return observedRetrieval(observed.output);
    default:
      return { role: 'step' };
  }
}

function tool(span: Span, observed: Observation): ToolFacts {
  return { ...observedTool(observed), ...failure(span) };
}

function failure(span: Span): Pick<SpanFacts, 'failed'> {
  return textAttribute(span, 'genkit:state') === 'error' ? { failed: { message: '' } } : {};
}

/** Tools of the second form wrap what they return. */
function unwrapped(output: Observation['output']): Observation['output'] {
  return isJsonObject(output) && Object.hasOwn(output, 'output') ? (member(output, 'output') ?? null) : output;
}

/** `openai/gpt-4o-mini`: the provider, then the model. */
function modelFacts(span: Span, name: string): SpanFacts {
  const reply = parseContainer(textAttribute(span, 'genkit:output') ?? '');
  const usage = isJsonObject(reply) ? member(reply, 'usage') : undefined;
  const [input, output, cached, reasoning] = ['inputTokens', 'outputTokens', 'cachedContentTokens', 'thoughtsTokens'].map((key) =>
    isJsonObject(usage) ? member(usage, key) : undefined,
  );
  return {
    model: name.slice(name.indexOf('/') + 1),
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}
