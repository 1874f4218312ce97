/** MLflow tracing: `mlflow.spanType`, inputs and outputs as JSON texts; every value, the type too, is quoted as JSON. */
import { isJsonObject, member } from '../src/model/json.ts';
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { idIn, objectIn } from './parsing/members.ts';
import { observedModel, observedRetrieval, observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { parseContainer, unquotedText, writtenValue } from './parsing/parsing.ts';
import { currentAgent } from './parsing/current-agent.ts';
import { runName } from './parsing/span-names.ts';
import { isAnswerTool, isToolName } from './parsing/tool-classes.ts';

export const mlflow: Collector = {
  id: 'mlflow',
  summary: 'MLflow tracing (mlflow.spanType).',
  recognisedBy: { keys: ['mlflow.spanType'] },
  wants: {
    keys: [
      'mlflow.spanType',
      'mlflow.spanInputs',
      'mlflow.spanOutputs',
      'mlflow.llm.model',
      'mlflow.chat.tools',
      'mlflow.chat.tokenUsage',
      'mlflow.llm.provider',
      'name',
      'gen_ai.agent.name',
      'gen_ai.tool.name',
      'mlflow.openai.agent_run_root',
      'instructions',
      'usage',
      'metadata',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Inputs and outputs are on the spans by default.',
    tools: 'Tools are read from mlflow.chat.tools on model spans.',
  },
  carriedBy: {
    input: ['mlflow.spanInputs'],
    final_response: ['mlflow.spanOutputs'],
    tool_calls: ['mlflow.spanType', 'mlflow.spanOutputs', 'mlflow.spanInputs'],
    tool_arguments: ['mlflow.spanInputs', 'mlflow.spanOutputs'],
    tool_results: ['mlflow.spanOutputs', 'mlflow.spanInputs'],
    tool_definitions: ['mlflow.chat.tools'],
    tokens: ['mlflow.chat.tokenUsage'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const metadata = objectIn(span, 'metadata');
  const sessionId = idIn(metadata, 'session_id') ?? idIn(metadata, 'thread_id');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byType(span) };
}

function byType(span: Span): SpanFacts {
  const observed: Observation = {
    name: span.name,
    input: span.attribute('mlflow.spanInputs'),
    output: writtenValue(textAttribute(span, 'mlflow.spanOutputs')),
  };
  switch (unquotedText(textAttribute(span, 'mlflow.spanType'))) {
    case 'AGENT':
      // The runner of an agent framework does not count as an agent: the agents are inside it.
      if (span.attribute('mlflow.openai.agent_run_root') !== undefined) return { role: 'workflow', ...observedRun(observed) };
      if (isSilentRoot(span)) return { role: 'workflow', ...guessedName(span) };
      return { role: 'agent', ...named(span), ...observedRun(observed), ...usageOf(span) };
    case 'TOOL':
      return toolFacts(observed, ownName(span) ?? span.name);
    case 'CHAT_MODEL':
    case 'LLM':
      return { ...observedModel(observed), ...modelFacts(span) };
    case 'RETRIEVER':
      return observedRetrieval(observed.output);
    case 'EMBEDDING':
    case 'PARSER':
    case 'RERANKER':
    case 'MEMORY':
    case 'GUARDRAIL':
    case 'EVALUATOR':
      return { role: 'step' };
    // MLflow passes on the span of another SDK, and has no type for it.
    case 'null':
      return {};
    default:
      return span.parentSpanId === undefined
        ? { role: 'workflow', ...guessedName(span), ...observedRun(observed) }
        : { role: 'step', ...currentAgent(observed) };
  }
}

function toolFacts(observed: Observation, name: string): SpanFacts {
  if (isAnswerTool(name)) return { role: 'step' };
  const tool = observedTool({ ...observed, name });
  return { role: 'tool', tool: isToolName(name) ? tool : { ...tool, nameIsGuess: true } };
}

/** The name of the agent or tool: spans of other SDKs, which MLflow passes on, have the conventions' names. */
function ownName(span: Span): string | undefined {
  const names = ['gen_ai.agent.name', 'gen_ai.tool.name', 'name'].map((key) => unquotedText(textAttribute(span, key)));
  return names.find((name) => name !== undefined && name !== 'null');
}

/** An agent without a name has that of its span, unless this is the method that runs it. */
function named(span: Span): Pick<SpanFacts, 'agentName' | 'agentNameIsGuess'> {
  const agentName = ownName(span) ?? runName(span.name);
  return agentName === undefined ? {} : { agentName };
}

function guessedName(span: Span): Pick<SpanFacts, 'agentName' | 'agentNameIsGuess'> {
  const agentName = runName(span.name);
  return agentName === undefined ? {} : { agentName, agentNameIsGuess: true };
}

/** A span around several runs of agents is written as an agent without a question and an answer. */
function isSilentRoot(span: Span): boolean {
  return span.parentSpanId === undefined && ['mlflow.spanInputs', 'mlflow.spanOutputs'].every((key) => textAttribute(span, key) === '""');
}

function modelFacts(span: Span): SpanFacts {
  const model = modelOf(span);
  // The parameters of a request through the Responses API, an attribute each.
  const systemPrompt = unquotedText(textAttribute(span, 'instructions'));
  const toolDefinitions = readDefinitions(span.attribute('mlflow.chat.tools'));
  return {
    ...(model === undefined ? {} : { model }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    ...(systemPrompt === undefined || systemPrompt === 'null' ? {} : { systemPrompt }),
    ...usageOf(span),
  };
}

/** LiteLLM's names begin with the provider, which the span has too. */
function modelOf(span: Span): string | undefined {
  const model = unquotedText(textAttribute(span, 'mlflow.llm.model'));
  const prefix = `${unquotedText(textAttribute(span, 'mlflow.llm.provider')) ?? ''}/`;
  return prefix !== '/' && model?.startsWith(prefix) === true ? model.slice(prefix.length) : model;
}

function usageOf(span: Span): Pick<SpanFacts, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'> {
  const usage = parseContainer(textAttribute(span, 'mlflow.chat.tokenUsage') ?? textAttribute(span, 'usage') ?? '');
  const [input, output, cached] = ['input_tokens', 'output_tokens', 'cache_read_input_tokens'].map((key) =>
    isJsonObject(usage) ? member(usage, key) : undefined,
  );
  return {
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
  };
}
