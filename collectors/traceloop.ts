/** OpenLLMetry (Traceloop): `traceloop.span.kind`, entities with inputs and outputs; older versions flatten messages into `gen_ai.prompt.N.*`. */
import { isJsonArray, isJsonObject, member, type JsonValue, type JsonObject } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span, type AttributeValue } from '../src/model/span.ts';
import type { Collector, Message, Repeats, SpanFacts, ToolFacts } from './collector.ts';
import { readTokens, tokenKeys } from './parsing/conventions.ts';
import { currentAgent } from './parsing/current-agent.ts';
import { graphAgent } from './parsing/graph-agent.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { flattened, unflattened } from './parsing/flattened.ts';
import { messagesIn, readMessages } from './parsing/messages.ts';
import { observedRun, observedTool, type Observation } from './parsing/observation.ts';
import { jsonOf, parseText, writtenValue } from './parsing/parsing.ts';
import { noRepeats } from './parsing/repeats.ts';
import { readResult } from './parsing/values.ts';

const prompts = flattened('gen_ai.prompt.');
const completions = flattened('gen_ai.completion.');
const functions = flattened('llm.request.functions.');

const sessionKeys = ['session_id', 'thread_id', 'conversation_id', 'chat_id'].map((key) => `traceloop.association.properties.${key}`);

export const traceloop: Collector = {
  id: 'traceloop',
  isConvention: true,
  summary: 'OpenLLMetry instrumentations and SDKs (traceloop.span.kind; llm.request.type in older versions).',
  recognisedBy: {
    keys: ['traceloop.span.kind', 'llm.request.type', 'traceloop.workflow.name'],
  },
  wants: {
    keys: [
      'traceloop.span.kind',
      'traceloop.entity.name',
      'traceloop.entity.input',
      'traceloop.entity.output',
      ...sessionKeys,
      'traceloop.association.properties.lc_agent_name',
      'gen_ai.agent.name',
      'gen_ai.tool.name',
      'tool.name',
      'tool.arguments',
      'tool.description',
      'gen_ai.operation.name',
      'llm.request.type',
      'gen_ai.request.model',
      'gen_ai.response.model',
      'traceloop.association.properties.langgraph_checkpoint_ns',
      ...tokenKeys,
    ],
    prefixes: ['gen_ai.prompt.', 'gen_ai.completion.', 'llm.request.functions.'],
  },
  captureHints: { content: 'Leave TRACELOOP_TRACE_CONTENT at true, its default.', tools: 'Tools travel with the requests to models.' },
  carriedBy: {
    input: ['traceloop.entity.input', 'gen_ai.prompt.*'],
    final_response: ['traceloop.entity.output', 'gen_ai.completion.*'],
    tool_calls: ['traceloop.span.kind', 'gen_ai.completion.*', 'gen_ai.prompt.*'],
    tool_arguments: ['traceloop.entity.input', 'gen_ai.completion.*', 'gen_ai.prompt.*'],
    tool_results: ['traceloop.entity.output', 'gen_ai.prompt.*'],
    tool_definitions: ['llm.request.functions.*'],
    tokens: ['gen_ai.usage.prompt_tokens', 'gen_ai.usage.completion_tokens'],
  },
  read,
};

function read(span: Span, repeats: Repeats = noRepeats): SpanFacts {
  const sessionId = sessionKeys.map((key) => idAttribute(span, key)).find((value) => value !== undefined);
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byKind(span, repeats) };
}

function byKind(span: Span, repeats: Repeats): SpanFacts {
  const name = textAttribute(span, 'traceloop.entity.name') ?? span.name.replace(/\.(workflow|team|agent|tool|task)$/, '');
  const observed: Observation = {
    name,
    input: span.attribute('traceloop.entity.input'),
    output: writtenValue(textAttribute(span, 'traceloop.entity.output')),
  };
  const requestType = textAttribute(span, 'llm.request.type');
  // Newer versions also speak the GenAI conventions; what these say a span is, it is.
  const operation = textAttribute(span, 'gen_ai.operation.name');
  const isResultReported = operation !== undefined;
  switch (textAttribute(span, 'traceloop.span.kind')) {
    case 'workflow':
      return {
        ...(isResultReported ? {} : { role: 'workflow' as const, agentName: name, agentNameIsGuess: true }),
        ...observedRun(observed),
        // When each span is a separate trace, only the span of the whole graph is the run.
        ...(operation === 'workflow' ? { role: 'step' as const, ...graphRun(observed.input, observed.output) } : {}),
      };
    case 'agent':
      return {
        ...(isResultReported ? {} : { role: 'agent' as const }),
        agentName: textAttribute(span, 'gen_ai.agent.name') ?? name,
        ...observedRun(observed),
        ...modelOf(span),
        ...readTokens(span),
      };
    case 'tool':
      return {
        role: 'tool',
        tool: { ...observedTool(observed), ...described(span), name: textAttribute(span, 'gen_ai.tool.name') ?? name },
      };
    case 'task': {
      const tool = textAttribute(span, 'tool.name');
      // A step of a workflow that runs one tool.
      if (tool !== undefined) {
        const given = span.attribute('tool.arguments');
        return { role: 'tool', tool: observedTool({ ...observed, name: tool, ...(given === undefined ? {} : { input: given }) }) };
      }
      // A graph that runs inside a tool is a task that is named as its agent.
      if (name === textAttribute(span, 'traceloop.association.properties.lc_agent_name'))
        return { role: 'agent', agentName: name, ...observedRun(observed) };
      if (operation === 'execute_tool') return { tool: namedByResult(observed) };
      return { ...(isResultReported ? {} : { role: 'step' as const }), ...stepAgent(span) };
    }
    default:
      return requestType === 'chat' || requestType === 'completion' ? modelFacts(span, repeats) : {};
  }
}

function described(span: Span): Pick<ToolFacts, 'description'> {
  const description = textAttribute(span, 'tool.description');
  return description === undefined ? {} : { description };
}

function modelOf(span: Span): Pick<SpanFacts, 'model'> {
  const model = textAttribute(span, 'gen_ai.response.model') ?? textAttribute(span, 'gen_ai.request.model');
  return model === undefined ? {} : { model };
}

/** The metadata of a graph name the agent that a step works for. */
function stepAgent(span: Span): Pick<SpanFacts, 'agentName'> {
  const agentName = graphAgent((name) => textAttribute(span, `traceloop.association.properties.${name}`));
  return agentName === undefined ? currentAgent({ input: undefined, output: span.attribute('traceloop.entity.output') }) : { agentName };
}

/**
 * LangChain of JavaScript gives the tool’s span the name of its class, and its arguments as `{"args":["<JSON>"]}`; the result has the tool’s name.
 */
function namedByResult(observed: Observation): ToolFacts {
  const given = observed.input === undefined ? null : jsonOf(observed.input);
  const { name: _class, ...tool } = observedTool({
    ...observed,
    input: onlyArgument(typeof given === 'string' ? parseText(given) : given) ?? observed.input,
  });
  const name = observed.output === undefined ? undefined : readResult(observed.output).toolName;
  return { ...tool, ...(name === undefined ? {} : { name }) };
}

function onlyArgument(given: JsonValue): string | undefined {
  const args = isJsonObject(given) ? member(given, 'args') : undefined;
  const [only, ...others] = isJsonArray(args) ? args : [];
  return typeof only === 'string' && others.length === 0 ? only : undefined;
}

function modelFacts(span: Span, repeats: Repeats): SpanFacts {
  const inputMessages = repeats.items(span, prompts, messageReader('user'));
  const about = { ...modelOf(span), ...readTokens(span) };
  // Some versions write the name of a member in place of an answer that is an object: then no attribute has the request either.
  const isToldAlone = inputMessages.length === 0 && Object.keys(about).length === 0;
  const outputMessages = isToldAlone ? [] : unflattened(span, completions).flatMap(messageReader('assistant'));
  const toolDefinitions = repeats.value(span, functions, () => readDefinitions(unflattened(span, functions)));
  return {
    role: 'model',
    ...about,
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

function messageReader(role: Message['role']): (item: JsonValue) => readonly Message[] {
  return (item) => {
    if (!isJsonObject(item)) return [];
    // A plain completion's prompt is under the name of the role.
    const content = member(item, 'content') ?? member(item, 'user');
    return messagesIn([{ role, ...item, ...(typeof content === 'string' ? { content: parseText(content) } : {}) }], role);
  };
}

/** The span of a LangChain graph holds its whole conversation. Empty for the steps inside a graph, which return their own messages only. */
export function graphRun(input: AttributeValue | undefined, output: AttributeValue | undefined): SpanFacts {
  const [given, all] = [messagesOf(input), messagesOf(output)];
  const inputMessages = readMessages(given, 'user');
  const messages = readMessages(all, 'assistant');
  const outputMessages = messages.slice(inputMessages.length);
  const goesOn = inputMessages.every(({ role, text }, at) => messages[at]?.role === role && messages[at].text === text);
  if (inputMessages.length === 0 || !goesOn || !outputMessages.some(({ role }) => role === 'assistant')) return {};
  // The agent that answers first got the request; others take over.
  const agentName = all
    .slice(inputMessages.length)
    .map(agentOf)
    .find((name) => name !== undefined);
  return { ...(agentName === undefined ? { role: 'workflow' } : { role: 'agent', agentName }), inputMessages, outputMessages };
}

function messagesOf(raw: AttributeValue | undefined): readonly JsonValue[] {
  const value = raw === undefined ? undefined : jsonOf(raw);
  const parsed = typeof value === 'string' ? parseText(value) : value;
  const messages = isJsonObject(parsed) ? member(parsed, 'messages') : undefined;
  return isJsonArray(messages) ? messages : [];
}

/** The agent that an assistant’s message names as its author. */
function agentOf(message: JsonValue): string | undefined {
  const id = isJsonObject(message) ? member(message, 'id') : undefined;
  const said: JsonObject | undefined = isJsonArray(id) && id.at(-1) === 'AIMessage' ? inside(message as JsonObject) : undefined;
  const name = said === undefined ? undefined : member(said, 'name');
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function inside(message: JsonObject): JsonObject | undefined {
  const kwargs = member(message, 'kwargs');
  return isJsonObject(kwargs) ? kwargs : undefined;
}
