/** Laminar: `lmnr.span.type` with one input and one output on traced functions; requests to models use the names of the GenAI conventions. */
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { contentKeys, readContent, readTokens, tokenKeys } from './parsing/conventions.ts';
import { graphAgent } from './parsing/graph-agent.ts';
import { objectIn, textIn } from './parsing/members.ts';
import { describesAgent, observedModel, observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { writtenValue } from './parsing/parsing.ts';
import { kindAndName } from './parsing/span-names.ts';

/** Laminar writes the span data of the OpenAI Agents SDK under these keys. */
const GROUP_ID = 'lmnr.association.properties.metadata.openai.agents.group_id';
const HANDOFF_TO = 'openai.agents.handoff.to';

export const laminar: Collector = {
  id: 'laminar',
  summary: 'Laminar SDKs (lmnr.span.*).',
  recognisedBy: { keys: ['lmnr.span.type'] },
  wants: {
    keys: [
      'lmnr.span.type',
      'lmnr.span.input',
      'lmnr.span.output',
      'lmnr.association.properties.session_id',
      GROUP_ID,
      HANDOFF_TO,
      'gen_ai.tool.name',
      'langchain.metadata',
      'gen_ai.request.model',
      'gen_ai.response.model',
      ...contentKeys,
      ...tokenKeys,
    ],
    prefixes: [],
  },
  documentedAt: ['https://github.com/lmnr-ai/lmnr-python'],
  captureHints: {
    content: 'Inputs and outputs are on the spans by default: leave ignore_input and ignore_output of observe at False.',
    tools: 'Tools travel with the requests to models.',
  },
  carriedBy: {
    input: ['lmnr.span.input', 'gen_ai.input.messages'],
    final_response: ['lmnr.span.output', 'gen_ai.output.messages'],
    tool_calls: ['lmnr.span.type', 'gen_ai.output.messages'],
    tool_arguments: ['lmnr.span.input', 'gen_ai.output.messages'],
    tool_results: ['lmnr.span.output', 'gen_ai.input.messages'],
    tool_definitions: ['gen_ai.tool.definitions'],
    tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'lmnr.association.properties.session_id') ?? idAttribute(span, GROUP_ID);
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byType(span) };
}

function byType(span: Span): SpanFacts {
  const named = kindAndName(span.name);
  const observed: Observation = {
    name: textAttribute(span, 'gen_ai.tool.name') ?? named?.name ?? span.name,
    input: span.attribute('lmnr.span.input'),
    output: writtenValue(textAttribute(span, 'lmnr.span.output')),
  };
  switch (textAttribute(span, 'lmnr.span.type')) {
    case 'LLM':
    case 'CACHED':
      return modelFacts(span, observed);
    case 'TOOL': {
      const handoffTo = textAttribute(span, HANDOFF_TO);
      return handoffTo === undefined ? { role: 'tool', tool: observedTool(observed) } : { role: 'step', handoffTo };
    }
    case 'DEFAULT':
      if (describesAgent(span.name, observed.input)) return { role: 'agent', agentName: span.name };
      if (named?.kind === 'agent') return { role: 'agent', agentName: named.name, ...observedRun(observed) };
      return span.parentSpanId === undefined
        ? { role: 'workflow', agentName: span.name, agentNameIsGuess: true, ...observedRun(observed) }
        : { role: 'step', ...stepAgent(span) };
    default:
      return { role: 'step' };
  }
}

/** LangChain's metadata name the agent of a graph on each of its steps. */
function stepAgent(span: Span): Pick<SpanFacts, 'agentName'> {
  const metadata = objectIn(span, 'langchain.metadata');
  const agentName = graphAgent((name) => textIn(metadata, name));
  return agentName === undefined ? {} : { agentName };
}

function modelFacts(span: Span, observed: Observation): SpanFacts {
  const model = textAttribute(span, 'gen_ai.response.model') ?? textAttribute(span, 'gen_ai.request.model');
  return { ...observedModel(observed), ...readContent(span), ...readTokens(span), ...(model === undefined ? {} : { model }) };
}
