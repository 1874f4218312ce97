/** LangSmith in its OpenTelemetry mode: `langsmith.span.kind`, with input and output as one JSON text each in `gen_ai.prompt` and `gen_ai.completion`. */
import { isJsonObject, member } from '../src/model/json.ts';
import { idAttribute, textAttribute, type AttributeValue, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { graphAgent } from './parsing/graph-agent.ts';
import { observedModel, observedRetrieval, observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { isPlaceholder, parseContainer } from './parsing/parsing.ts';

const sessionKeys = ['langsmith.metadata.session_id', 'langsmith.metadata.thread_id', 'langsmith.metadata.conversation_id'] as const;

export const langsmith: Collector = {
  id: 'langsmith',
  summary: 'LangSmith SDKs in OpenTelemetry mode (langsmith.span.kind).',
  recognisedBy: { keys: ['langsmith.span.kind'] },
  wants: {
    keys: [
      'langsmith.span.kind',
      'langsmith.is_root',
      'langsmith.trace.name',
      'langsmith.metadata.lc_agent_name',
      'langsmith.metadata.app_name',
      'langsmith.metadata.ls_integration',
      'langsmith.metadata.langgraph_checkpoint_ns',
      ...sessionKeys,
      'gen_ai.prompt',
      'gen_ai.completion',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'gen_ai.usage.input_token_details',
      'gen_ai.usage.output_token_details',
    ],
    prefixes: [],
  },
  captureHints: { content: 'Inputs and outputs are on the spans by default.', tools: 'Tools travel with the requests to models.' },
  carriedBy: {
    input: ['gen_ai.prompt'],
    final_response: ['gen_ai.completion'],
    tool_calls: ['langsmith.span.kind', 'gen_ai.completion', 'gen_ai.prompt'],
    tool_arguments: ['gen_ai.prompt', 'gen_ai.completion'],
    tool_results: ['gen_ai.completion', 'gen_ai.prompt'],
    tool_definitions: ['gen_ai.prompt'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = sessionKeys.map((key) => idAttribute(span, key)).find((value) => value !== undefined && !isPlaceholder(value));
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byKind(span) };
}

function byKind(span: Span): SpanFacts {
  const observed: Observation = {
    name: textAttribute(span, 'gen_ai.tool.name') ?? span.name,
    input: span.attribute('gen_ai.prompt'),
    output: unwrapped(span.attribute('gen_ai.completion')),
  };
  switch (textAttribute(span, 'langsmith.span.kind')) {
    case 'tool': {
      const id = textAttribute(span, 'gen_ai.tool.call.id');
      return { role: 'tool', tool: { ...observedTool(observed), ...(id === undefined ? {} : { id }) } };
    }
    case 'llm':
      return { ...observedModel(observed), ...tokenDetails(span), ...enclosingAgent(span) };
    case 'retriever':
      return observedRetrieval(observed.output);
    case 'embedding':
    case 'prompt':
    case 'parser':
      return { role: 'step' };
    default:
      return chain(span, observed);
  }
}

/** Values that are not objects are written as `{"outputs": …}`. */
function unwrapped(raw: AttributeValue | undefined): AttributeValue | undefined {
  const object = typeof raw === 'string' && raw.startsWith('{"outputs":') ? parseContainer(raw) : undefined;
  const only = isJsonObject(object) && Object.keys(object).length === 1 ? member(object, 'outputs') : undefined;
  return only ?? raw;
}

/** A streamed request overwrites the span around it, which keeps its name. */
function enclosingAgent(span: Span): Pick<SpanFacts, 'agentName'> {
  const own = textAttribute(span, 'langsmith.trace.name');
  return span.attribute('langsmith.is_root') === true && own !== undefined && own !== span.name ? { agentName: span.name } : {};
}

/** The numbers of cached tokens and of tokens for thinking; the sums are the conventions'. */
function tokenDetails(span: Span): SpanFacts {
  const [cached, reasoning] = (
    [
      ['input', 'cache_read'],
      ['output', 'reasoning'],
    ] as const
  ).map(([side, name]) => {
    const details = parseContainer(textAttribute(span, `gen_ai.usage.${side}_token_details`) ?? '');
    return isJsonObject(details) ? member(details, name) : undefined;
  });
  return {
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}

/**
 * A chain that is named as its agent is the agent; the outermost one represents the run. Wrappers of an agent SDK give the application's name, which
 * its runner bears: the other chains there are agents.
 */
function chain(span: Span, observed: Observation): SpanFacts {
  const application = textAttribute(span, 'langsmith.metadata.app_name');
  const isAgentOf =
    application !== undefined && span.attribute('langsmith.metadata.ls_integration') !== undefined && application !== span.name;
  if (isAgentOf || textAttribute(span, 'langsmith.metadata.lc_agent_name') === span.name)
    return { role: 'agent', agentName: span.name, ...observedRun(observed) };
  if (span.parentSpanId === undefined || span.attribute('langsmith.is_root') === true)
    return { role: 'workflow', agentName: span.name, agentNameIsGuess: true, ...observedRun(observed) };
  const agentName = graphAgent((name) => textAttribute(span, `langsmith.metadata.${name}`));
  return { role: 'step', ...(agentName === undefined ? {} : { agentName }) };
}
