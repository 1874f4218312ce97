/** OpenInference: `openinference.span.kind` on every span, messages and documents flattened into attribute keys. */
import type { RetrievedDocument, ToolDefinition } from '../src/model/agent-trace.ts';
import type { Mutable } from '../src/model/mutable.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Flattened, Message, RepeatedTexts, Repeats, SpanFacts, ToolFacts } from './collector.ts';
import { currentAgent } from './parsing/current-agent.ts';
import { graphAgent } from './parsing/graph-agent.ts';
import { readDefinitions, schemaOfProperties } from './parsing/definitions.ts';
import { flattened, unflattened } from './parsing/flattened.ts';
import { messagesIn, readMessages, systemText } from './parsing/messages.ts';
import { flattenedMessage } from './parsing/flattened-message.ts';
import { idIn, nothing, numberText, objectIn, objectOf, textIn } from './parsing/members.ts';
import { observedModel } from './parsing/observation.ts';
import { runInput, runOutput } from './parsing/run-values.ts';
import { parseContainer } from './parsing/parsing.ts';
import { noRepeats } from './parsing/repeats.ts';
import { runName } from './parsing/span-names.ts';
import { isAnswerTool, isEventName } from './parsing/tool-classes.ts';
import { addArguments, addOutcome, readArguments, repeatedArguments, repeatedResult } from './parsing/values.ts';

const inputs = flattened('llm.input_messages.');
const outputs = flattened('llm.output_messages.');
const callParts = flattened('message.tool_calls.');
const tools = flattened('llm.tools.');
const retrieved = flattened('retrieval.documents.');

export const openInference: Collector = {
  id: 'openinference',
  summary: 'OpenInference instrumentations (openinference.span.kind).',
  recognisedBy: { keys: ['openinference.span.kind'] },
  wants: {
    keys: [
      'openinference.span.kind',
      'agent.name',
      'agent_name',
      'gen_ai.agent.name',
      'graph.node.id',
      'metadata',
      'session.id',
      'input.value',
      'output.value',
      'crew_tasks',
      'tool.name',
      'tool.id',
      'tool_call.id',
      'tool.description',
      'tool.parameters',
      'llm.model_name',
      'llm.invocation_parameters',
      'llm.token_count.prompt',
      'llm.token_count.completion',
      'llm.token_count.prompt_details.cache_read',
      'llm.token_count.completion_details.reasoning',
    ],
    prefixes: ['llm.input_messages.', 'llm.output_messages.', 'llm.tools.', 'message.tool_calls.', 'retrieval.documents.'],
  },
  captureHints: {
    content: 'Content is on unless it is hidden: unset the OPENINFERENCE_HIDE_* variables and the same settings of TraceConfig.',
    tools:
      'Tools travel on model spans (llm.tools.*): instrument the model client too, and unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_LLM_INVOCATION_PARAMETERS.',
  },
  carriedBy: {
    input: ['input.value', 'llm.input_messages.*'],
    final_response: ['output.value', 'llm.output_messages.*'],
    tool_calls: ['openinference.span.kind', 'llm.output_messages.*', 'llm.input_messages.*'],
    tool_arguments: ['input.value', 'llm.output_messages.*', 'llm.input_messages.*'],
    tool_results: ['output.value', 'llm.input_messages.*'],
    tool_definitions: ['llm.tools.*', 'tool.parameters'],
    tokens: ['llm.token_count.prompt', 'llm.token_count.completion'],
  },
  read,
  isAgents,
};

function read(span: Span, repeats: Repeats = noRepeats): SpanFacts {
  const metadata = objectIn(span, 'metadata');
  const facts = byKind(span, metadata, repeats);
  const sessionId =
    idAttribute(span, 'session.id') ?? idIn(metadata, 'session_id') ?? idIn(metadata, 'sessionId') ?? idIn(metadata, 'thread_id');
  if (sessionId !== undefined) facts.sessionId = sessionId;
  return facts;
}

/** A chain without a parent represents the whole run. */
function isAgents(span: Span): boolean {
  const kind = kindOf(span);
  if (kind === 'AGENT') return span.parentSpanId === undefined || !isGraphNode(span, objectIn(span, 'metadata'));
  return kind === 'CHAIN' && span.parentSpanId === undefined;
}

function kindOf(span: Span): string | undefined {
  return textAttribute(span, 'openinference.span.kind')?.toUpperCase();
}

function byKind(span: Span, metadata: JsonObject, repeats: Repeats): Mutable<SpanFacts> {
  switch (kindOf(span)) {
    case 'AGENT':
      return span.parentSpanId !== undefined && isGraphNode(span, metadata)
        ? stepFacts(metadata)
        : { role: 'agent', ...agentFacts(span, metadata) };
    case 'TOOL':
      return toolFacts(span, repeats);
    case 'LLM':
      return modelFacts(span, repeats);
    case 'RETRIEVER':
      return { role: 'retriever', documents: documents(span) };
    case 'CHAIN':
      return chainFacts(span, metadata);
    default:
      return { role: 'step' };
  }
}

/** LangGraph's instrumentation takes any node for an agent whose name holds that word: `agent`, or the router at the start. */
function isGraphNode(span: Span, metadata: JsonObject): boolean {
  const node = textIn(metadata, 'langgraph_node');
  return node !== undefined && textIn(metadata, 'lc_agent_name') !== span.name && (node === span.name || node.startsWith('__'));
}

/** The metadata of a graph name the agent that a step works for. */
function stepFacts(metadata: JsonObject): SpanFacts {
  const agentName = graphAgent((name) => textIn(metadata, name));
  return { role: 'step', ...(agentName === undefined ? {} : { agentName }) };
}

/** A chain is a step of the framework, but one without a parent represents the whole run. */
function chainFacts(span: Span, metadata: JsonObject): SpanFacts {
  if (span.parentSpanId === undefined) return { role: 'workflow', ...agentFacts(span, metadata) };
  const { agentName } = currentAgent({ input: span.attribute('input.value'), output: span.attribute('output.value') });
  return agentName === undefined ? stepFacts(metadata) : { role: 'step', agentName };
}

/** Some frameworks name the span after the method that runs the agent: `travel_agent.run`. */
const METHOD = /\.[_a-z][_a-z0-9]*$/;

/** The name of a span may be that of a method. Its class names no agent. */
function guessedName(name: string): Pick<SpanFacts, 'agentName' | 'agentNameIsGuess'> {
  const agentName = runName(/^[A-Z]\w*\./.test(name) ? name : name.replace(METHOD, ''));
  return agentName === undefined ? {} : { agentName, agentNameIsGuess: true };
}

/** A framework's program, which may run any agent. */
const PROGRAM = /-framework-main$/;

function agentFacts(span: Span, metadata: JsonObject): SpanFacts {
  const told =
    textAttribute(span, 'agent.name') ??
    textAttribute(span, 'agent_name') ??
    textAttribute(span, 'gen_ai.agent.name') ??
    textAttribute(span, 'graph.node.id') ??
    textIn(metadata, 'lc_agent_name');
  const input = runInput(span.attribute('input.value'));
  const output = runOutput(span.attribute('output.value'));
  const task = taskDescription(span);
  return {
    ...(told !== undefined ? { agentName: told } : PROGRAM.test(span.name) ? {} : guessedName(span.name)),
    ...(task === undefined ? (input.value === undefined ? {} : { input: input.value }) : { input: task }),
    ...(output.value === undefined ? {} : { output: output.value }),
    ...(input.dump === undefined ? {} : { inputDump: input.dump }),
    ...(output.dump === undefined ? {} : { outputDump: output.dump }),
  };
}

/** CrewAI puts the task beside the run: in the crew's attribute, and in each agent's output. */
function taskDescription(span: Span): string | undefined {
  const tasks = parseContainer(textAttribute(span, 'crew_tasks') ?? '');
  const first = isJsonArray(tasks) ? tasks[0] : parseContainer(textAttribute(span, 'output.value') ?? '');
  if (!isJsonObject(first) || !Object.hasOwn(first, 'expected_output')) return undefined;
  return textIn(first, 'description');
}

/** A tool without a name is named by its span: `search_flights.__call__`. */
function methodOf(span: Span): string {
  return span.name.replace(/\.(?:__call__|acall)$/, '');
}

/** Hand-overs and final answers look like tools, but no tool runs. */
function toolFacts(span: Span, texts: RepeatedTexts): SpanFacts {
  const name = textAttribute(span, 'tool.name');
  if (span.name.startsWith('handoff to ')) return { role: 'step', handoffTo: span.name.slice('handoff to '.length) };
  if (name === undefined && textAttribute(span, 'tool.parameters') === undefined && span.attribute('input.value') === undefined)
    return { role: 'step' };
  if ((answersByTool(span) && isAnswerTool(name ?? span.name)) || (name === undefined && isEventName(span.name))) return { role: 'step' };
  if (name === undefined && isDspy(span) && methodOf(span) === 'finish') return { role: 'step' };
  return { role: 'tool', tool: tool(span, name ?? methodOf(span), texts) };
}

function tool(span: Span, name: string, texts: RepeatedTexts): ToolFacts {
  const output = span.attribute('output.value');
  const read = output === undefined ? undefined : repeatedResult(output, texts);
  const id = textAttribute(span, 'tool_call.id') ?? read?.callId;
  const parameters = objectIn(span, 'tool.parameters');
  const schema = schemaOf(parameters);
  const given = repeatedArguments(span.attribute('input.value'), texts);
  const description = plainDescription(textAttribute(span, 'tool.description'));
  const facts: Mutable<ToolFacts> = { name };
  if (id !== undefined) facts.id = id;
  addArguments(given.arguments === undefined && schema === undefined ? readArguments(span.attribute('tool.parameters')) : given, facts);
  if (read !== undefined) addOutcome(read, facts);
  if (description !== undefined) facts.description = description;
  if (schema !== undefined) facts.inputSchema = schema;
  return facts;
}

/** `tool.parameters` holds a schema, a bare map of properties, or the call's own arguments. */
function schemaOf(parameters: JsonObject): JsonObject | undefined {
  if (parameters === nothing) return undefined;
  return isJsonObject(member(parameters, 'properties')) ? parameters : schemaOfProperties(parameters);
}

/** CrewAI wraps the description into a longer text. */
function plainDescription(text: string | undefined): string | undefined {
  return text?.startsWith('Tool Name:') === true ? (/Tool Description:\s*([^]*)$/.exec(text)?.[1] ?? text) : text;
}

function modelFacts(span: Span, repeats: Repeats): Mutable<SpanFacts> {
  const told = repeats.items(span, inputs, toldMessages);
  const inputMessages = told.length === 0 ? rawMessages(span) : loses(span, told) ? requested(span, told) : told;
  const answers = answered(span, repeats);
  const outputMessages =
    answers.length > 0 || told.length > 0 || inputMessages.length === 0
      ? answers
      : readMessages(span.attribute('output.value'), 'assistant');
  const facts: Mutable<SpanFacts> = { role: 'model' };
  // Flattened answers lose calls, or their ids. The answer in `output.value` holds them.
  const isLost = outputMessages.length > 0 && (lacksIds(outputMessages) || outputMessages.every(isEmpty));
  const whole = isLost
    ? observedModel({ name: span.name, input: span.attribute('input.value'), output: span.attribute('output.value') })
    : {};
  const raw = tellsMore(whole.outputMessages, outputMessages) ? whole : {};
  const tellsTokens = addTokens(span, facts);
  // Frameworks also mark the preparation of a request as a model call; it has neither messages nor tokens.
  if (inputMessages.length === 0 && outputMessages.length === 0 && !tellsTokens) return functionFacts(span);
  if (inputMessages.length > 0) facts.inputMessages = inputMessages;
  if (raw.outputMessages !== undefined) facts.outputMessages = raw.outputMessages;
  else if (outputMessages.length > 0) facts.outputMessages = answersByTool(span) ? outputMessages.map(withoutFinalAnswer) : outputMessages;
  const systemPrompt = instructionsOf(span, inputMessages);
  if (systemPrompt !== undefined) facts.systemPrompt = systemPrompt;
  const model = textAttribute(span, 'llm.model_name');
  if (model !== undefined) facts.model = model;
  const toolDefinitions = definitions(span, repeats);
  if (toolDefinitions.length > 0) facts.toolDefinitions = toolDefinitions;
  else if (whole.toolDefinitions !== undefined) facts.toolDefinitions = whole.toolDefinitions;
  return facts;
}

/** The application's own function that asks a model: its argument and what it returned are the messages. */
function functionFacts(span: Span): Mutable<SpanFacts> {
  const observed = observedModel({ name: span.name, input: span.attribute('input.value'), output: span.attribute('output.value') });
  const isAnswered = observed.inputMessages !== undefined && observed.outputMessages?.every(isEmpty) === false;
  return isAnswered ? observed : { role: 'step' };
}

const tokenNames = [
  ['inputTokens', 'llm.token_count.prompt'],
  ['outputTokens', 'llm.token_count.completion'],
  ['cachedInputTokens', 'llm.token_count.prompt_details.cache_read'],
  ['reasoningTokens', 'llm.token_count.completion_details.reasoning'],
] as const;

/** Sets the numbers that the span has; false when it has none. */
function addTokens(span: Span, facts: Mutable<SpanFacts>): boolean {
  let tells = false;
  for (const [name, key] of tokenNames) {
    const value = span.attribute(key);
    if (typeof value !== 'number') continue;
    facts[name] = value;
    tells = true;
  }
  return tells;
}

/** The instructions outside the messages: Anthropic's API takes them beside the messages, and text parts of LangChain's are not flattened. */
function instructionsOf(span: Span, messages: readonly Message[]): string | undefined {
  const told = messages.find(({ role }) => role === 'system');
  if (told?.text !== undefined) return undefined;
  if (told !== undefined) return systemText(readMessages(member(objectIn(span, 'input.value'), 'messages')));
  return textIn(objectIn(span, 'llm.invocation_parameters'), 'system');
}

function lacksIds(messages: readonly Message[]): boolean {
  return messages.some(({ requested }) => requested.some(({ id }) => id === undefined));
}

function isEmpty({ text, requested, results }: Message): boolean {
  return (text ?? '') === '' && requested.length === 0 && results.length === 0;
}

/** The same calls with their ids, or something where there was nothing. */
function tellsMore(raw: readonly Message[] | undefined, flattened: readonly Message[]): boolean {
  if (raw === undefined || lacksIds(raw)) return false;
  const names = (messages: readonly Message[]): string => messages.flatMap(({ requested }) => requested.map(({ name }) => name)).join(' ');
  return flattened.every(isEmpty) ? !raw.every(isEmpty) : names(raw) === names(flattened);
}

/** Scopes whose flattened messages lose results, error flags or call ids. The request in `input.value` holds them. */
const losing = /anthropic|bedrock|haystack|mistral/;

function loses(span: Span, told: readonly Message[]): boolean {
  return losing.test(span.scope.name) && told.some((message) => message.role === 'tool' || message.results.length > 0);
}

/** The messages of the request itself, behind the instructions. */
function requested(span: Span, told: readonly Message[]): readonly Message[] {
  const raw = parseContainer(textAttribute(span, 'input.value') ?? '');
  const whole = isJsonArray(raw) ? rawMessages(span) : readMessages(member(objectOf(raw), 'messages'));
  return whole.length === 0 ? told : [...told.filter(({ role }) => role === 'system'), ...whole];
}

/** A request whose messages stand only in `input.value`, as a list of messages. */
function rawMessages(span: Span): readonly Message[] {
  const raw = parseContainer(textAttribute(span, 'input.value') ?? '');
  return isJsonArray(raw) && raw.length > 0 && raw.every((item) => isJsonObject(item) && typeof member(item, 'role') === 'string')
    ? readMessages(raw, 'user')
    : [];
}

/** An SDK that runs the tools by itself reports the calls and results only in its raw answer. */
function answered(span: Span, texts: RepeatedTexts): readonly Message[] {
  const messages = flattenedMessages(span, outputs, texts);
  const calls = flattenedMessages(span, callParts, texts);
  const value = textAttribute(span, 'output.value') ?? '';
  const raw = value.includes('automatic_function_calling_history') ? parseContainer(value) : undefined;
  const history = isJsonObject(raw) ? member(raw, 'automatic_function_calling_history') : undefined;
  if (isJsonArray(history))
    return [...readMessages(history).filter((message) => message.requested.length > 0 || message.results.length > 0), ...messages];
  return calls.length > 0 ? [...calls, ...messages] : messages;
}

function flattenedMessages(span: Span, list: Flattened, texts: RepeatedTexts): readonly Message[] {
  const items = unflattened(span, list);
  return items.length === 1 ? messagesOf(items[0], 'assistant', texts) : items.flatMap((item) => messagesOf(item, 'assistant', texts));
}

function toldMessages(item: JsonValue, texts: RepeatedTexts): readonly Message[] {
  return messagesOf(item, 'user', texts);
}

function messagesOf(item: JsonValue | undefined, role: Message['role'], texts: RepeatedTexts): readonly Message[] {
  if (!isJsonObject(item)) return [];
  const call = member(item, 'tool_call');
  return messagesIn([isJsonObject(call) ? { role: 'assistant', tool_calls: [call] } : flattenedMessage(item)], role, texts);
}

function isDspy(span: Span): boolean {
  return span.scope.name.includes('dspy');
}

/** Frameworks whose agents answer the user through a pseudo tool. */
function answersByTool(span: Span): boolean {
  return /smolagents|beeai/.test(span.scope.name);
}

/** The answer as what it is. */
function withoutFinalAnswer(message: Message): Message {
  const final = message.requested.find((call) => isAnswerTool(call.name));
  const answer = final?.arguments?.['answer'] ?? final?.arguments?.['response'];
  return final === undefined
    ? message
    : {
        ...message,
        ...(typeof answer === 'string' ? { text: answer } : {}),
        requested: message.requested.filter((call) => call !== final),
      };
}

function definitions(span: Span, repeats: Repeats): readonly ToolDefinition[] {
  const told = repeats.value(span, tools, () => unflattened(span, tools).flatMap(definition));
  return told.length > 0
    ? told
    : repeats.value(span, 'llm.invocation_parameters', () => readDefinitions(member(objectIn(span, 'llm.invocation_parameters'), 'tools')));
}

function definition(item: JsonValue): readonly ToolDefinition[] {
  const inner = objectOf(member(objectOf(item), 'tool'));
  const schema = readDefinitions(member(inner, 'json_schema'))[0];
  const name = textIn(inner, 'name') ?? schema?.name;
  const description = textIn(inner, 'description');
  return name === undefined ? [] : [{ ...(description === undefined ? {} : { description }), ...schema, name }];
}

function documents(span: Span): readonly RetrievedDocument[] {
  return unflattened(span, retrieved).map((item) => {
    const document = objectOf(member(objectOf(item), 'document'));
    const id = textIn(document, 'id') ?? numberText(member(document, 'id'));
    const content = textIn(document, 'content');
    const score = member(document, 'score');
    return {
      spanId: span.spanId,
      ...(id === undefined ? {} : { id }),
      ...(content === undefined ? {} : { content }),
      ...(typeof score === 'number' ? { score } : {}),
    };
  });
}
