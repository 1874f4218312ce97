/** Genkit for JavaScript and Go: keys with colons, `genkit:metadata:subtype` says what a span is; turns nest inside each other. */
import { isJsonObject, member, type JsonValue } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { observedModel, observedRun, observedTool, type Observation } from './reading/observation.ts';
import { parseContainer, parseText, unquotedText } from './reading/values.ts';

export const genkit: Collector = {
  id: 'genkit',
  summary: 'Genkit (genkit:name, genkit:metadata:subtype).',
  recognisedBy: { keys: ['genkit:name'] },
  wants: { keys: ['genkit:name', 'genkit:type', 'genkit:metadata:subtype', 'genkit:isRoot', 'genkit:input', 'genkit:output', 'genkit:state'], prefixes: [] },
  read,
};

function read(span: Span): SpanFacts {
  const name = textAttribute(span, 'genkit:name') ?? span.name;
  const observed: Observation = { name, input: unquotedText(textAttribute(span, 'genkit:input')), output: unquotedText(textAttribute(span, 'genkit:output')) };
  switch (textAttribute(span, 'genkit:metadata:subtype')) {
    case 'flow':
      return { role: 'agent', agentName: name, ...observedRun(observed) };
    case 'tool':
    case 'tool.v2':
      return { role: 'tool', tool: observedTool({ ...observed, output: toolOutput(span) }) };
    case 'model':
      return { ...observedModel(observed), ...modelFacts(span, name) };
    case 'retriever':
      return { role: 'retriever' };
    default:
      return { role: 'step' };
  }
}

/** Tools of the second form wrap what they return. */
function toolOutput(span: Span): JsonValue | undefined {
  const raw = textAttribute(span, 'genkit:output');
  if (raw === undefined) return undefined;
  const value = parseText(raw);
  const isWrapped = textAttribute(span, 'genkit:metadata:subtype') === 'tool.v2' && isJsonObject(value) && Object.hasOwn(value, 'output');
  return isWrapped ? (member(value, 'output') ?? null) : value;
}

/** `openai/gpt-4o-mini`: the provider, then the model. */
function modelFacts(span: Span, name: string): SpanFacts {
  const reply = parseContainer(textAttribute(span, 'genkit:output') ?? '');
  const usage = isJsonObject(reply) ? member(reply, 'usage') : undefined;
  const [input, output] = ['inputTokens', 'outputTokens'].map((key) => (isJsonObject(usage) ? member(usage, key) : undefined));
  return {
    model: name.slice(name.indexOf('/') + 1),
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
  };
}
