/** The Langfuse SDKs, versions 3 to 5: `langfuse.observation.*` on every span. */
import { isJsonObject, type JsonObject, objectAt } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { graphAgent } from './parsing/graph-agent.ts';
import { observedModel, observedRetrieval, observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { parseContainer, parseText, unquotedText } from './parsing/parsing.ts';
import { countIn, usageSum } from './parsing/usage.ts';

export const langfuse: Collector = {
  id: 'langfuse',
  summary: 'Langfuse SDKs (langfuse.observation.*).',
  recognisedBy: { keys: ['langfuse.observation.type'] },
  wants: {
    keys: [
      'langfuse.observation.type',
      'langfuse.observation.input',
      'langfuse.observation.output',
      'langfuse.observation.level',
      'langfuse.observation.status_message',
      'langfuse.observation.model.name',
      'langfuse.observation.usage_details',
      'langfuse.observation.metadata.tool_call_id',
      'langfuse.observation.metadata.langgraph_node',
      'langfuse.observation.metadata.langgraph_checkpoint_ns',
      'langfuse.observation.metadata.lc_agent_name',
      'langfuse.internal.is_app_root',
      'langfuse.internal.as_root',
      'langfuse.trace.input',
      'langfuse.trace.output',
      'session.id',
      'langfuse.session.id',
      'langfuse.trace.metadata.thread_id',
      'langfuse.observation.metadata.thread_id',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Inputs and outputs are on the spans by default.',
    tools: 'Tools are read from the input of a generation: pass {messages, tools}.',
  },
  carriedBy: {
    input: ['langfuse.observation.input'],
    final_response: ['langfuse.observation.output'],
    tool_calls: ['langfuse.observation.type', 'langfuse.observation.output', 'langfuse.observation.input'],
    tool_arguments: ['langfuse.observation.input', 'langfuse.observation.output'],
    tool_results: ['langfuse.observation.output', 'langfuse.observation.input'],
    tool_definitions: ['langfuse.observation.input'],
    tokens: ['langfuse.observation.usage_details'],
  },
  read,
};

function read(span: Span): SpanFacts {
  // A graph of LangGraph knows its session as a thread.
  const sessionId =
    idAttribute(span, 'session.id') ??
    idAttribute(span, 'langfuse.session.id') ??
    unquotedText(idAttribute(span, 'langfuse.trace.metadata.thread_id') ?? idAttribute(span, 'langfuse.observation.metadata.thread_id'));
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byType(span), ...failure(span) };
}

function failure(span: Span): Pick<SpanFacts, 'failed'> {
  return textAttribute(span, 'langfuse.observation.level') === 'ERROR'
    ? { failed: { message: textAttribute(span, 'langfuse.observation.status_message') ?? '' } }
    : {};
}

function byType(span: Span): SpanFacts {
  const observed: Observation = {
    name: span.name,
    input: span.attribute('langfuse.observation.input'),
    output: span.attribute('langfuse.observation.output'),
  };
  switch (textAttribute(span, 'langfuse.observation.type')) {
    case 'agent':
      // A node of a graph is a step of its agent, even one that is called agent.
      return textAttribute(span, 'langfuse.observation.metadata.langgraph_node') === undefined || isRoot(span)
        ? { role: 'agent', agentName: span.name, ...run(span, observed) }
        : stepFacts(span);
    case 'tool':
      return { role: 'tool', tool: tool(span, observed) };
    case 'generation':
      return { ...observedModel(observed), ...modelFacts(span) };
    case 'retriever':
      return observedRetrieval(observed.output);
    case 'embedding':
    case 'evaluator':
    case 'guardrail':
    case 'event':
      return { role: 'step' };
    default:
      return isRoot(span) ? { role: 'workflow', agentName: span.name, agentNameIsGuess: true, ...run(span, observed) } : stepFacts(span);
  }
}

/** The metadata of a graph name the agent that a step works for. */
function stepFacts(span: Span): SpanFacts {
  const agentName = graphAgent((name) => unquotedText(textAttribute(span, `langfuse.observation.metadata.${name}`)));
  return { role: 'step', ...(agentName === undefined ? {} : { agentName }) };
}

/** The SDK's outermost span may lie below a span of something else, such as a web server. */
function isRoot(span: Span): boolean {
  return (
    span.parentSpanId === undefined ||
    span.attribute('langfuse.internal.is_app_root') === true ||
    span.attribute('langfuse.internal.as_root') === true
  );
}

/** The values that the developer sets as the trace's input and output are better than the arguments and the result of the outermost function. */
function run(span: Span, observed: Observation): SpanFacts {
  const [input, output] = isRoot(span) ? [span.attribute('langfuse.trace.input'), span.attribute('langfuse.trace.output')] : [];
  return observedRun({ ...observed, input: input ?? observed.input, output: output ?? observed.output });
}

function tool(span: Span, observed: Observation): ToolFacts {
  const quoted = textAttribute(span, 'langfuse.observation.metadata.tool_call_id');
  const id = quoted === undefined ? undefined : parseText(quoted);
  const read = observedTool(observed);
  // The span has the name that the application or the integration gives it.
  return { ...read, nameIsGuess: true, ...(typeof id === 'string' ? { id } : {}), ...failure(span) };
}

function modelFacts(span: Span): SpanFacts {
  const model = textAttribute(span, 'langfuse.observation.model.name');
  const parsed = parseContainer(textAttribute(span, 'langfuse.observation.usage_details') ?? '');
  const usage: JsonObject = isJsonObject(parsed) ? parsed : {};
  const inputTokens = usageSum(usage, 'input') ?? countIn(usage, 'prompt_tokens') ?? countIn(usage, 'input_tokens');
  const outputTokens = usageSum(usage, 'output') ?? countIn(usage, 'completion_tokens') ?? countIn(usage, 'output_tokens');
  const cached =
    countIn(usage, 'input_cache_read') ??
    countIn(usage, 'input_cached_tokens') ??
    countIn(objectAt(usage, 'prompt_tokens_details'), 'cached_tokens');
  const reasoning =
    countIn(usage, 'output_reasoning') ??
    countIn(usage, 'output_reasoning_tokens') ??
    countIn(objectAt(usage, 'completion_tokens_details'), 'reasoning_tokens');
  return {
    ...(model === undefined ? {} : { model }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}
