/** Plain spans: `tool.name`, `input.value` and `output.value` on the tool's span, `agent.name` on the agent's. */
import { isJsonObject, jsonText, member } from '../src/model/json.ts';
import { idAttribute, textAttribute, type AttributeValue, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { saysKind } from './parsing/key-evidence.ts';
import { jsonOf, isPlaceholder } from './parsing/parsing.ts';
import { outcomeOf, readArguments, readResult } from './parsing/values.ts';

export const toolAttributes: Collector = {
  id: 'tool_attributes',
  summary: 'Hand-made spans with tool.name, input.value and output.value.',
  isConvention: true,
  recognisedBy: {
    keys: ['tool.name', 'agent.name', 'input.value', 'output.value'],
    notKeys: ['openinference.span.kind'],
    unless: saysKind,
  },
  wants: {
    keys: ['tool.name', 'tool.id', 'tool.synthesized', 'tool.description', 'agent.name', 'session.id', 'input.value', 'output.value'],
    prefixes: [],
  },
  captureHints: {
    content: 'Set input.value and output.value on the span of the run and on the span of each tool call.',
    tools:
      'These attributes have no place for schemas: set gen_ai.operation.name=invoke_agent, gen_ai.agent.name and gen_ai.tool.definitions (JSON) on the agent’s span beside them.',
  },
  carriedBy: {
    input: ['input.value'],
    final_response: ['output.value'],
    tool_calls: ['tool.name'],
    tool_arguments: ['input.value'],
    tool_results: ['output.value'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'session.id');
  const common = sessionId === undefined ? {} : { sessionId };
  const name = textAttribute(span, 'tool.name');
  if (name !== undefined && name !== '')
    return span.attribute('tool.synthesized') === true ? { ...common, role: 'step' } : { ...common, role: 'tool', tool: tool(span, name) };
  const agentName = textAttribute(span, 'agent.name');
  const [input, output] = ['input.value', 'output.value']
    .map((key) => span.attribute(key))
    .map((value) => (isPlaceholder(value) ? undefined : value));
  return {
    ...common,
    ...(agentName === undefined ? {} : { role: 'agent' as const, agentName }),
    ...(input === undefined || input === null ? {} : { input: typeof input === 'string' ? input : jsonText(jsonOf(input)) }),
    ...(output === undefined || output === null ? {} : { output: jsonOf(output) }),
  };
}

function tool(span: Span, name: string): ToolFacts {
  const toolId = textAttribute(span, 'tool.id');
  const description = textAttribute(span, 'tool.description');
  const output = span.attribute('output.value');
  return {
    name,
    ...readArguments(span.attribute('input.value')),
    ...(toolId === undefined ? {} : { toolId }),
    ...(description === undefined ? {} : { description }),
    ...(output === undefined ? {} : outcome(output)),
  };
}

/** UiPath's form of outputs: the `content` member of an object is the output, even beside other members. */
function outcome(output: AttributeValue): Pick<ToolFacts, 'result' | 'resultPart' | 'failed'> {
  const read = readResult(output);
  const content = isJsonObject(read.result) ? member(read.result, 'content') : undefined;
  return outcomeOf(content === undefined ? read : { ...readResult(content), ...(read.failed === true ? { failed: true } : {}) });
}
