/** Haystack's own tracer: spans named after what runs, inputs and outputs as JSON texts under `haystack.*`. */
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { observedModel, observedRetrieval, observedRun, observedTool } from './parsing/observation.ts';
import { parseContainer, writtenValue } from './parsing/parsing.ts';

export const haystack: Collector = {
  id: 'haystack',
  summary: 'Haystack’s OpenTelemetry tracer (spans haystack.*).',
  recognisedBy: { namePrefixes: ['haystack.'] },
  wants: {
    keys: [
      'haystack.component.name',
      'haystack.component.type',
      'haystack.component.input',
      'haystack.component.output',
      'haystack.agent.input',
      'haystack.agent.output',
      'haystack.agent.tools',
      'haystack.agent.step.llm.input',
      'haystack.agent.step.llm.output',
      'haystack.tool.name',
      'haystack.tool.description',
      'haystack.agent.step.tool.input',
      'haystack.agent.step.tool.output',
      'haystack.pipeline.input_data',
      'haystack.pipeline.output_data',
    ],
    prefixes: [],
  },
  documentedAt: ['https://docs.haystack.deepset.ai/docs/tracing-opentelemetry', 'https://github.com/deepset-ai/haystack'],
  captureHints: {
    content: 'Set HAYSTACK_CONTENT_TRACING_ENABLED=true before Haystack is imported.',
    tools: 'An agent’s span carries its tools by default.',
  },
  carriedBy: {
    input: ['haystack.agent.input', 'haystack.agent.step.llm.input', 'haystack.component.input', 'haystack.pipeline.input_data'],
    final_response: [
      'haystack.agent.output',
      'haystack.agent.step.llm.output',
      'haystack.component.output',
      'haystack.pipeline.output_data',
    ],
    tool_calls: ['haystack.tool.name', 'haystack.agent.step.llm.output', 'haystack.component.output'],
    tool_arguments: ['haystack.agent.step.tool.input', 'haystack.agent.step.llm.output', 'haystack.component.output'],
    tool_results: ['haystack.agent.step.tool.output', 'haystack.agent.step.llm.input', 'haystack.component.input'],
    tool_definitions: ['haystack.agent.tools'],
    tokens: ['haystack.agent.step.llm.output', 'haystack.component.output'],
  },
  read,
};

function read(span: Span): SpanFacts {
  switch (span.name) {
    case 'haystack.pipeline.run':
      return {
        role: 'workflow',
        ...observedRun({
          name: span.name,
          input: span.attribute('haystack.pipeline.input_data'),
          output: repliesOf(span, 'haystack.pipeline.output_data'),
        }),
      };
    case 'haystack.agent.run':
      return agentFacts(span);
    case 'haystack.agent.step.llm':
      return modelFacts(span, 'haystack.agent.step.llm');
    case 'haystack.agent.step.tool':
      return toolFacts(span);
    case 'haystack.component.run':
      return componentFacts(span);
    default:
      return { role: 'step' };
  }
}

function agentFacts(span: Span): SpanFacts {
  const toolDefinitions = definitions(span);
  return {
    role: 'agent',
    ...observedRun({ name: span.name, input: span.attribute('haystack.agent.input'), output: span.attribute('haystack.agent.output') }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

/** `{type, data: {name, description, parameters}}`. */
function definitions(span: Span): readonly ToolDefinition[] {
  const tools = parseContainer(textAttribute(span, 'haystack.agent.tools') ?? '');
  return readDefinitions(isJsonArray(tools) ? tools.map((item) => (isJsonObject(item) ? (member(item, 'data') ?? item) : item)) : []);
}

/** The ending of a component's class name, which the library keeps to, gives its kind. An agent in a pipeline is named by its component. */
function componentFacts(span: Span): SpanFacts {
  const type = textAttribute(span, 'haystack.component.type') ?? '';
  const name = textAttribute(span, 'haystack.component.name');
  if (type === 'Agent') return { role: 'workflow', ...(name === undefined ? {} : { agentName: name }) };
  if (type.endsWith('Generator')) return modelFacts(span, 'haystack.component');
  if (type.endsWith('Retriever')) return observedRetrieval(span.attribute('haystack.component.output'));
  return { role: 'step' };
}

function modelFacts(span: Span, prefix: 'haystack.agent.step.llm' | 'haystack.component'): SpanFacts {
  const given = textAttribute(span, `${prefix}.input`);
  const asked = parseContainer(given ?? '');
  // A plain generator is given one text.
  const prompt = isJsonObject(asked) ? member(asked, 'prompt') : undefined;
  const answer = parseContainer(textAttribute(span, `${prefix}.output`) ?? '');
  const facts = observedModel({ name: span.name, input: typeof prompt === 'string' ? prompt : (asked ?? given), output: answer });
  return { ...facts, ...aboutAnswer(isJsonObject(answer) ? answer : {}) };
}

/** Model and tokens stand with each reply, or beside the replies of a plain generator. */
function aboutAnswer(answer: JsonObject): SpanFacts {
  const replies = member(answer, 'replies');
  const first = isJsonArray(replies) ? replies[0] : undefined;
  const beside = member(answer, 'meta');
  const meta = isJsonObject(first) ? member(first, 'meta') : isJsonArray(beside) ? beside[0] : undefined;
  const about: JsonObject = isJsonObject(meta) ? meta : {};
  const usage = member(about, 'usage');
  const [input, output] = ['prompt_tokens', 'completion_tokens'].map((key) => (isJsonObject(usage) ? member(usage, key) : undefined));
  const model = member(about, 'model');
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
  };
}

function toolFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'haystack.tool.name');
  return name === undefined ? { role: 'step' } : { role: 'tool', tool: tool(span, name) };
}

function tool(span: Span, name: string): ToolFacts {
  const output = writtenValue(textAttribute(span, 'haystack.agent.step.tool.output'));
  const description = textAttribute(span, 'haystack.tool.description');
  const error = isJsonObject(output) && Object.keys(output).length === 1 ? member(output, 'error') : undefined;
  return {
    ...observedTool({ name, input: span.attribute('haystack.agent.step.tool.input'), output }),
    ...(description === undefined ? {} : { description }),
    ...(typeof error === 'string' ? { failed: { message: error } } : {}),
  };
}

/** A pipeline's output is that of its last components, each under its name; one of them may be the answer of a model or an agent. */
function repliesOf(span: Span, key: string): JsonValue | undefined {
  const output = parseContainer(textAttribute(span, key) ?? '');
  const answers = isJsonObject(output)
    ? Object.values(output).flatMap((inner) => (isJsonObject(inner) ? [member(inner, 'replies') ?? member(inner, 'messages')] : []))
    : [];
  const last = answers.findLast((answer) => isJsonArray(answer) && answer.length > 0);
  const text = isJsonArray(last) ? last.at(-1) : undefined;
  return typeof text === 'string' ? text : (last ?? output);
}
