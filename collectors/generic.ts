/**
 * Any instrumentation, read by evidence: the kind of a span, names, messages, arguments, results, tokens and ids under whatever prefix, in JSON,
 * Python notation or text. It fills what the collectors of SDKs and of general conventions leave open. It never guesses: where neither a kind nor a
 * name says what a span is, it has no role.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../src/model/json.ts';
import type { Mutable } from '../src/model/mutable.ts';
import { textAttribute, type Attributed, type AttributeValue, type Span } from '../src/model/span.ts';
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import type { Collector, Message, Repeats, SpanFacts, SpanRole, ToolFacts } from './collector.ts';
import { eventNameOf, toolOfEvent } from './parsing/event-spans.ts';
import { onlyContent, unwrapped } from './parsing/framed-value.ts';
import { evidenceOf } from './parsing/evidence-class.ts';
import { agentNodes, graphAgent } from './parsing/graph-agent.ts';
import { readSystemPrompt } from './parsing/conventions.ts';
import { definitionsOf, isBare } from './parsing/definition-evidence.ts';
import { readDefinitions, unitedDefinitions } from './parsing/definitions.ts';
import { unflattened } from './parsing/flattened.ts';
import { keyEvidenceOf, type KeyEvidence, type ScalarField } from './parsing/key-evidence.ts';
import { withoutFramework } from './parsing/instructions.ts';
import { kindIn } from './parsing/kind-words.ts';
import { listedMessages, eventMessages } from './parsing/message-events.ts';
import { requestInRepr } from './parsing/message-reprs.ts';
import { messagesIn, readMessages } from './parsing/messages.ts';
import { describesAgent, observedModel, observedRetrieval, observedRun } from './parsing/observation.ts';
import { isPlaceholder, parseContainer, unquotedText } from './parsing/parsing.ts';
import { isAnswerTool, isToolName } from './parsing/tool-classes.ts';
import { isNoSchema, schemaOf } from './parsing/schema-evidence.ts';
import { spanName, TEMPLATE, toolInName } from './parsing/span-names.ts';
import { answerFacts, tokensOf } from './parsing/token-evidence.ts';
import { addArguments, addOutcome, readArguments, readResult, type ReadResult } from './parsing/values.ts';
import { flattenedMessage } from './openinference.ts';

export const generic: Collector = {
  id: 'generic',
  summary: 'Any other instrumentation, read by evidence: kinds, names, messages, arguments and results under any prefix.',
  recognisedBy: { evidence: hasEvidence },
  wants: { keys: [], prefixes: [''] },
  captureHints: {
    content: 'Switch on the content of messages, arguments and results in the instrumentation.',
    tools:
      'Where the instrumentation knows the tools, it writes them with the requests to models; else name them under tools in the configuration.',
  },
  // Examples: the ends of such keys count, under any prefix.
  carriedBy: {
    input: ['input.value', 'gen_ai.prompt.*', 'gen_ai.input.messages.*'],
    final_response: ['output.value', 'gen_ai.completion.*'],
    tool_calls: ['gen_ai.span.kind', 'gen_ai.tool.name', 'tool.name'],
    tool_arguments: ['tool.parameters', 'tool_args', 'input.value'],
    tool_results: ['tool.result', 'output.value', 'result.content.*'],
    tool_definitions: ['gen_ai.request.tools.*', 'gen_ai.request.parameters'],
    tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  },
  read,
  evidenceOf,
  isAgents,
};

/** The reader by evidence reads a span that has a key for one of these fields. */
const telling: readonly ScalarField[] = [
  'kind',
  'nearKind',
  'operation',
  'toolName',
  'callId',
  'agentName',
  'inputMessages',
  'outputMessages',
  'handoffTo',
];

function hasEvidence(span: Span): boolean {
  const { keys, lists } = keyEvidenceOf(span);
  return (
    telling.some((field) => keys[field] !== undefined) ||
    lists.inputMessages !== undefined ||
    lists.outputMessages !== undefined ||
    offersTools({ keys, lists }) ||
    (keys.model !== undefined && (keys.inputTokens ?? keys.outputTokens ?? keys.usage) !== undefined)
  );
}

/** Instructions and tools together are what an agent is made of. */
function offersTools({ keys, lists }: KeyEvidence): boolean {
  return (keys.systemPrompt ?? keys.agentDump) !== undefined && (keys.definitions ?? lists.definitions ?? keys.agentDump) !== undefined;
}

function isAgents(span: Span): boolean | undefined {
  const role = roleOf(span, keyEvidenceOf(span));
  return role === undefined ? undefined : role === 'agent' || role === 'workflow';
}

/** Only what is not known yet is read: the conventions tell most spans whole. */
function read(span: Span, _repeats?: Repeats, known: SpanFacts = {}): SpanFacts {
  const evidence = keyEvidenceOf(span);
  const isOpen = known.role === undefined || (known.roleIsGuess === true && !isNamedCall(known));
  const own = isOpen ? roleOf(span, evidence) : undefined;
  const role = own ?? known.role;
  const facts: Mutable<SpanFacts> = factsOf(span, evidence, role, known);
  if (known.sessionId === undefined) {
    const sessionId = firstText(span, evidence, 'sessionId') ?? metadataText(span, evidence, ['session_id', 'sessionId', 'thread_id']);
    if (sessionId !== undefined) facts.sessionId = sessionId;
  }
  const handoffTo = known.handoffTo === undefined && role !== 'tool' ? firstText(span, evidence, 'handoffTo') : undefined;
  if (handoffTo !== undefined) facts.handoffTo = handoffTo;
  const event = known.event === undefined && own !== undefined ? eventOf(span, evidence) : undefined;
  if (event !== undefined) facts.event = event;
  return facts;
}

/** The span has the name of a class, and its result names the tool. */
function isNamedCall({ role, tool }: SpanFacts): boolean {
  return role === 'tool' && tool?.name !== undefined && isToolName(tool.name);
}

function isNode(span: Span, evidence: KeyEvidence): boolean {
  return span.parentSpanId !== undefined && graphText(span, evidence, 'langgraph_node') !== undefined;
}

function isNamedAsNode(span: Span, evidence: KeyEvidence): boolean {
  return span.parentSpanId !== undefined && agentNodes.has(firstText(span, evidence, 'agentName') ?? '');
}

/** Facts of the request or call, where the span stands for a single event of it. */
function eventOf(span: Span, evidence: KeyEvidence): SpanFacts['event'] {
  const name = evidence.keys.toolName === undefined ? eventNameOf(span) : undefined;
  const role = name === undefined || name.phase === 'between' ? undefined : saidRole(span, evidence);
  if (name === undefined || (role !== 'model' && role !== 'tool')) return undefined;
  const { tool, ...facts } = factsOf(span, evidence, role, {});
  const told = role === 'tool' ? { role, tool: toolOfEvent(span, name, tool ?? {}) } : facts;
  return { of: name.of, phase: name.phase, facts: told };
}

/**
 * Some frameworks send a span for every event, with the kind of what it happened to: `tool.dynamic.findOrder.start-1`. The one that tells the
 * success of a request to a model stands for it; of a tool or an agent the name is not told.
 */

function roleOf(span: Span, evidence: KeyEvidence): SpanRole | undefined {
  const role = saidRole(span, evidence);
  const event = role === undefined ? undefined : eventNameOf(span);
  return event === undefined || (role === 'model' && event.phase === 'end') || evidence.keys.toolName !== undefined ? role : 'step';
}

function saidRole(span: Span, { keys, lists }: KeyEvidence): SpanRole | undefined {
  const words = (field: ScalarField): readonly (string | undefined)[] =>
    (keys[field] ?? []).map((key) => unquotedText(textAttribute(span, key)));
  const own = words('kind').filter((word) => word !== undefined && !protocolKinds.has(word.toLowerCase()));
  for (const word of [...own, ...(own.length === 0 ? words('nearKind') : []), ...words('operation')]) {
    const role = kindIn(word);
    // A node of a graph is a step of its agent, even one that is called agent.
    if (role === 'agent' && (keys.agentName === undefined ? isNode(span, { keys, lists }) : isNamedAsNode(span, { keys, lists })))
      return 'step';
    // An agent that is called as a tool.
    if (role === 'agent' && keys.toolName !== undefined && firstText(span, { keys, lists }, 'toolName') === spanName(span)) return 'tool';
    // A chain inside something is a stage of it; the outermost one stands for the run.
    if (role !== undefined) return role === 'chain' ? (span.parentSpanId === undefined ? 'workflow' : 'step') : role;
  }
  const hasText = (field: ScalarField): boolean => (keys[field] ?? []).some((key) => (textAttribute(span, key) ?? '') !== '');
  const asksModel = keys.model !== undefined && (keys.inputTokens ?? keys.outputTokens ?? keys.usage) !== undefined;
  if (!asksModel && (hasText('toolName') || hasText('callId'))) return 'tool';
  const hasMessages =
    (keys.inputMessages ?? keys.outputMessages ?? lists.inputMessages ?? lists.outputMessages) !== undefined ||
    (keys.input !== undefined && keys.output !== undefined) ||
    (asksModel && inEvents(span, ['inputMessages', 'outputMessages', 'input', 'output']) !== undefined);
  // An agent's own span may sum up what its requests used.
  const isRequest = !hasText('agentName') || span.kind === clientKind || REQUEST.test(span.name);
  if (asksModel) return hasMessages && isRequest ? 'model' : undefined;
  // A span that says what it is, in a word that nobody knows, is something else.
  const isSilent = own.length === 0 && (keys.nearKind ?? keys.operation ?? keys.model) === undefined;
  if (isSilent && isDescribed(span, { keys, lists })) return 'agent';
  const agentName = firstText(span, { keys, lists }, 'agentName');
  // The conventions name a span after its operation and the agent.
  if (agentName !== undefined && span.name === `invoke_agent ${agentName}`) return 'agent';
  const isAgents = offersTools({ keys, lists }) || (keys.input !== undefined && agentName === span.name);
  return isSilent && isAgents && !SETUP.test(span.name) ? 'agent' : undefined;
}

/** The input is what the agent is made of. */
function isDescribed(span: Span, { keys }: KeyEvidence): boolean {
  return (keys.input ?? []).some((key) => describesAgent(span.name, span.attribute(key)));
}

/** What is done once before agents work. */
const SETUP = /create|build|init|compile|register/i;

/** What OpenTelemetry calls any span: nothing about agents. */
const protocolKinds: ReadonlySet<string> = new Set(['internal', 'client', 'server', 'producer', 'consumer', 'unspecified']);

const clientKind = 3;
const REQUEST = /\b(?:llm|chat|completions?|model)\b|_llm\b|\bllm_|generate_content/i;

function factsOf(span: Span, evidence: KeyEvidence, role: SpanRole | undefined, known: SpanFacts): SpanFacts {
  switch (role) {
    case 'agent':
    case 'workflow':
      return agentFacts(span, evidence, role, known);
    case 'tool': {
      const tool = toolFacts(span, evidence, known.tool ?? {});
      const target = known.tool === undefined ? (firstText(span, evidence, 'handoffTo') ?? HANDOFF.exec(tool.name ?? '')?.[1]) : undefined;
      if (target !== undefined) return { role: 'step', handoffTo: target };
      if (known.tool !== undefined || !(kindIn(tool.name) !== undefined || isNoCall(tool.name ?? ''))) return { role, tool };
      return { role: 'step', ...(tool.description === undefined ? {} : { toolDefinitions: [definitionIn(tool)] }) };
    }
    case 'model':
      return modelFacts(span, evidence, known);
    case 'retriever':
      return known.documents === undefined ? observedRetrieval(first(span, evidence, ['output', 'toolResult'])) : { role };
    default: {
      const isNamed = known.agentName !== undefined && known.agentNameIsGuess !== true;
      const agentName = isNamed ? undefined : agentNameOf(span, evidence);
      const outputMessages = role === 'step' && known.outputMessages === undefined ? passedOnCalls(span, evidence) : [];
      return {
        ...(role === undefined ? {} : { role }),
        ...(agentName === undefined ? {} : { agentName }),
        ...(outputMessages.length === 0 ? {} : { outputMessages }),
      };
    }
  }
}

function definitionIn({ name = '', description, inputSchema }: ToolFacts): ToolDefinition {
  return { name, ...(description === undefined ? {} : { description }), ...(inputSchema === undefined ? {} : { inputSchema }) };
}

/** A list of objects, bare or in a frame. The state of a whole graph begins otherwise, and parsing it costs most of the reading of a step. */
const MAY_BE_LIST = /^\s*(?:\[\s*\{|\{\s*"(?:type|value|outputs?)")/;

/** The node of a graph that runs tools is given the calls as the model asked for them: `[{name, args, id, type: "tool_call"}]`. */
function passedOnCalls(span: Span, evidence: KeyEvidence): readonly Message[] {
  const input = first(span, evidence, ['input']);
  if (typeof input !== 'string' || !MAY_BE_LIST.test(input) || !input.includes('"tool_call"')) return [];
  const calls = unwrapped(input);
  const list = typeof calls === 'string' ? parseContainer(calls) : calls;
  const isCalls = isJsonArray(list) && list.every((one) => isJsonObject(one) && member(one, 'type') === 'tool_call');
  return isCalls ? readMessages([{ role: 'assistant', content: '', tool_calls: list }]) : [];
}

function agentFacts(span: Span, evidence: KeyEvidence, role: 'agent' | 'workflow', known: SpanFacts): SpanFacts {
  const isNamed = known.agentName !== undefined && known.agentNameIsGuess !== true;
  // What nobody can take apart is no claim of what a user or an agent said.
  const { input, output } = observedRun({
    name: span.name,
    input:
      (saying(known.inputMessages) ?? known.input ?? known.inputDump) === undefined
        ? unwrapped(first(span, evidence, ['input', 'inputMessages', 'arguments']) ?? inEvents(span, ['input', 'inputMessages']))
        : undefined,
    output:
      (saying(known.outputMessages) ?? known.output ?? known.outputDump) === undefined
        ? unwrapped(first(span, evidence, ['output', 'outputMessages']) ?? inEvents(span, ['output', 'outputMessages']))
        : undefined,
  });
  const isAskedInEvents = (input ?? saying(known.inputMessages) ?? known.input) === undefined && span.events.length > 0;
  const events = isAskedInEvents ? eventMessages(span) : undefined;
  const model = role === 'agent' && known.model === undefined ? firstText(span, evidence, 'model') : undefined;
  return {
    role,
    ...(model === undefined ? {} : { model }),
    ...(events === undefined || events.input.length === 0 ? {} : { inputMessages: events.input }),
    ...(isNamed ? {} : namedAgent(span, evidence, role)),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...offered(span, evidence, known),
    ...tokensOf(span, evidence),
  };
}

function namedAgent(span: Span, evidence: KeyEvidence, role: 'agent' | 'workflow'): Pick<SpanFacts, 'agentName' | 'agentNameIsGuess'> {
  const name = agentNameOf(span, evidence) ?? (role === 'agent' ? firstText(span, evidence, 'ownName') : undefined);
  if (name !== undefined) return { agentName: name };
  const guess = spanName(span);
  // A name of several words says what a workflow is about, and a traced function has the function's.
  const isTitle = role === 'workflow' && guess !== undefined && (guess.includes(' ') || isTracedFunction(span, evidence));
  return guess === undefined || isTitle || FRAMEWORK_NAME.test(guess) || kindIn(guess) !== undefined
    ? {}
    : { agentName: guess, agentNameIsGuess: true };
}

function isTracedFunction(span: Span, evidence: KeyEvidence): boolean {
  const input = first(span, evidence, ['input']);
  const value = typeof input === 'string' ? parseContainer(input) : undefined;
  return isJsonObject(value) && isJsonArray(member(value, 'args')) && isJsonObject(member(value, 'kwargs'));
}

/** Classes and programs of frameworks, after which they name the span of any agent. */
const FRAMEWORK_NAME =
  /^(?:[a-z]\w*(?:\.[a-z]\w*)+|[A-Z]\w*(?:Agent|Workflow|Graph|Executor|Sequence|Runner)|[\w-]+-framework-main|LangGraph|invocation|workflow [A-Z]\w*Graph)$/;

/** What a model or an agent works with: its instructions and its tools. */
function offered(span: Span, evidence: KeyEvidence, known: SpanFacts): Pick<SpanFacts, 'systemPrompt' | 'toolDefinitions'> {
  const dump = agentDump(span, evidence);
  const systemPrompt = known.systemPrompt === undefined ? systemPromptOf(span, evidence, dump) : undefined;
  const toolDefinitions =
    known.toolDefinitions === undefined || known.toolDefinitions.some(isBare)
      ? unitedDefinitions([definitionsOf(span, evidence), dump === undefined ? [] : readDefinitions(member(dump, 'tools'))])
      : [];
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

function toolFacts(span: Span, evidence: KeyEvidence, known: ToolFacts): ToolFacts {
  const facts: Mutable<ToolFacts> = {};
  const read = known.result === undefined && known.resultPart === undefined ? resultOf(span, evidence) : undefined;
  if (read !== undefined) addOutcome(read, facts);
  const spanned = toolInName(span);
  const given = [ownToolName(span, evidence), known.name, firstText(span, evidence, 'ownName'), spanned].find(
    (one) => one !== undefined && isToolName(one),
  );
  const name = given ?? read?.toolName ?? known.name ?? spanned ?? span.name;
  if (name !== known.name) facts.name = name;
  const id = known.id ?? firstText(span, evidence, 'callId') ?? read?.callId ?? otherId(span, evidence);
  if (id !== undefined && id !== known.id) facts.id = id;
  const hasArguments = (known.arguments ?? known.argumentsText ?? known.argumentsPart) !== undefined;
  const schema = known.inputSchema === undefined ? schemaOf(span, evidence) : undefined;
  if (schema !== undefined) facts.inputSchema = schema;
  const written = hasArguments
    ? undefined
    : (first(span, evidence, ['arguments', 'input', 'toolParameters', 'inputMessages'], isNoSchema) ?? inEvents(span, ['arguments']));
  if (written !== undefined) addArguments(readArguments(unwrapped(onlyContent(written)), name), facts);
  const description = known.description === undefined ? firstText(span, evidence, 'toolDescription') : undefined;
  if (description !== undefined) facts.description = description;
  const failed = known.failed === undefined ? failureOf(span, evidence) : undefined;
  if (failed !== undefined) facts.failed ??= failed;
  return facts;
}

/** Of two names, the one without the server before it: `mcp__shop__find` is `find`. */
function ownToolName(span: Span, evidence: KeyEvidence): string | undefined {
  const name = firstText(span, evidence, 'toolName');
  const others = (evidence.keys.toolName ?? []).map((key) => textAttribute(span, key) ?? '');
  return others.find((other) => other !== '' && name?.endsWith(`__${other}`) === true) ?? name;
}

/** The forms in which model APIs give ids to calls. */
const CALL_ID = /^(?:call|toolu|tooluse|fc|chatcmpl-tool)[_-][\w-]{1,200}$/;

function otherId(span: Span, { keys }: KeyEvidence): string | undefined {
  return (keys.otherId ?? []).map((key) => textAttribute(span, key)).find((value) => value !== undefined && CALL_ID.test(value));
}

/** What an event of the span carries under such a key. */
function inEvents(span: Span, fields: readonly ScalarField[]): AttributeValue | undefined {
  for (const event of span.events) {
    if (event.name === 'exception' || event.name.startsWith('gen_ai.')) continue;
    const found = first(event, keyEvidenceOf(event), fields);
    if (found !== undefined) return found;
  }
  return undefined;
}

function resultOf(span: Span, evidence: KeyEvidence): ReadResult | undefined {
  const whole = first(span, evidence, ['toolResult', 'output', 'outputMessages']) ?? inEvents(span, ['toolResult', 'output']);
  const parts = whole ?? evidence.lists.resultParts?.map((list) => unflattened(span, list)).find((list) => list.length > 0);
  if (parts === undefined) return undefined;
  const inner = unwrapped(onlyContent(parts)) ?? null;
  return readResult(typeof inner === 'string' ? inner : onlyContent(inner));
}

function isNoCall(name: string): boolean {
  return isAnswerTool(name) || !isToolName(name);
}

/** A hand-over looks like a tool, but no tool runs. */
const HANDOFF = /^hand[-_ ]?off[-_ ]to[-_ ](.{1,200})$/i;

const failedOutcomes: ReadonlySet<string> = new Set(['error', 'failed', 'failure']);

/** The call failed where a member says so, whatever the status of its span. */
function failureOf(span: Span, evidence: KeyEvidence): ToolFacts['failed'] {
  const isError = (evidence.keys.failed ?? []).some((key) => span.attribute(key) === true);
  const isOutcome = (evidence.keys.outcome ?? []).some((key) => failedOutcomes.has((textAttribute(span, key) ?? '').toLowerCase()));
  return isError || isOutcome ? { message: firstText(span, evidence, 'errorMessage') ?? '' } : undefined;
}

function modelFacts(span: Span, evidence: KeyEvidence, known: SpanFacts): SpanFacts {
  const facts: Mutable<SpanFacts> = { role: 'model', ...offered(span, evidence, known), ...tokensOf(span, evidence) };
  if (saying(known.inputMessages) === undefined || saying(known.outputMessages) === undefined) addMessages(span, evidence, known, facts);
  const told = [known.model, known.inputTokens ?? facts.inputTokens, known.outputTokens ?? facts.outputTokens];
  const answer = told.includes(undefined) ? answerFacts(textOf(first(span, evidence, ['output', 'outputMessages'])) ?? '') : {};
  if (told[1] === undefined && told[2] === undefined) Object.assign(facts, countsOf(answer));
  const isToldAlone = told.every((one) => one === undefined) && (known.inputMessages ?? facts.inputMessages) === undefined;
  if (isToldAlone && evidence.lists.outputMessages !== undefined && isOneWord(facts.outputMessages)) delete facts.outputMessages;
  const model = known.model ?? firstText(span, evidence, 'model') ?? answer.model ?? PROVIDER_MODEL.exec(span.name)?.[1];
  if (known.model === undefined && model !== undefined) facts.model = model;
  // Frameworks give the steps around a request its kind too.
  const isAnswered = (facts.inputTokens ?? facts.outputTokens ?? saying(facts.outputMessages)) !== undefined;
  if (known.role === undefined && !isAnswered && span.status.code !== 'error') facts.roleIsGuess = true;
  return facts;
}

/** Of an answer as an object some write the name of its member: then nothing else tells the request either. Source: OpenLLMetry for Haystack. */
function isOneWord(messages: readonly Message[] | undefined): boolean {
  return messages?.every(({ text, requested, results }) => requested.length + results.length === 0 && WORD.test(text ?? '')) === true;
}

const WORD = /^\w{0,100}$/;

/** The text form of objects is nobody's words: `ChatMessage(role=…)`. */
const OBJECT = /^[A-Z]\w{0,100}\(\w{1,100}=/;

function isInWords(messages: readonly Message[] | undefined): boolean {
  return messages?.some(({ text }) => text !== undefined && OBJECT.test(text)) !== true;
}

function withOwnInstructions(message: Message): Message {
  return message.role === 'system' && message.text !== undefined ? { ...message, text: withoutFramework(message.text) } : message;
}

/** Messages of which at least one says something; undefined: nobody told any. */
function saying(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.some(
    ({ text, reasoning, requested, results }) => (text ?? reasoning) !== undefined || requested.length > 0 || results.length > 0,
  ) === true
    ? messages
    : undefined;
}

/** `openai/gpt-4o-mini`: some name the span of a request after the provider and the model. */
const PROVIDER_MODEL = /^[a-z][\w.-]{1,40}\/([\w.:-]{1,80})$/;

function textOf(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function countsOf({ inputTokens, outputTokens }: SpanFacts): SpanFacts {
  return { ...(inputTokens === undefined ? {} : { inputTokens }), ...(outputTokens === undefined ? {} : { outputTokens }) };
}

/** A key that says text holds the words of the model alone: `gen_ai.response.text`. */
const IN_WORDS = /\btext$/i;

function addMessages(span: Span, evidence: KeyEvidence, known: SpanFacts, facts: Mutable<SpanFacts>): void {
  // A request in words may hold several messages run together: where a convention reads the span, it says what it is.
  const isSaid = (raw: AttributeValue | undefined): boolean =>
    known.role === undefined || typeof raw !== 'string' || (parseContainer(raw) ?? requestInRepr(raw)) !== undefined;
  const isAnswer = (raw: AttributeValue | undefined): boolean =>
    (evidence.keys.output ?? []).some((key) => IN_WORDS.test(key) && span.attribute(key) === raw);
  const given = first(span, evidence, ['inputMessages', 'input']) ?? inEvents(span, ['inputMessages', 'input']);
  const returned = first(span, evidence, ['output', 'outputMessages']) ?? inEvents(span, ['output', 'outputMessages']);
  const observed = observedModel({
    name: span.name,
    input: isSaid(given) ? unwrapped(given) : undefined,
    output: isSaid(returned) || isAnswer(returned) ? unwrapped(returned) : undefined,
  });
  const events = eventMessages(span);
  const listed = listedMessages(first(span, evidence, ['events']));
  const inputMessages = longest(
    [flattenedMessages(span, evidence, 'inputMessages', 'user'), observed.inputMessages, events.input, listed.input].filter(isInWords),
  );
  const outputMessages = mostTelling([
    flattenedMessages(span, evidence, 'outputMessages', 'assistant'),
    observed.outputMessages,
    readMessages(first(span, evidence, ['outputMessages']) ?? inEvents(span, ['outputMessages']), 'assistant'),
    events.output,
    listed.output,
  ]);
  if (saying(known.inputMessages) === undefined && saying(inputMessages) !== undefined)
    facts.inputMessages = inputMessages.map(withOwnInstructions);
  if (saying(known.outputMessages) === undefined && outputMessages.length > 0) facts.outputMessages = outputMessages;
  if (known.toolDefinitions === undefined && observed.toolDefinitions !== undefined) facts.toolDefinitions ??= observed.toolDefinitions;
}

function flattenedMessages(
  span: Span,
  { lists }: KeyEvidence,
  field: 'inputMessages' | 'outputMessages',
  role: Message['role'],
): readonly Message[] {
  return longest(
    (lists[field] ?? []).map((list) =>
      messagesIn(
        unflattened(span, list).map((item) => (isJsonObject(item) ? plainMessage(withoutPrefix(item)) : item)),
        role,
      ),
    ),
  );
}

function plainMessage(item: JsonObject): JsonValue {
  return isJsonObject(member(item, 'message')) ? flattenedMessage(item) : item;
}

/** `message_role` and `message_content`, as some write them, are role and content. */
function withoutPrefix(item: JsonObject): JsonObject {
  const prefixed = Object.keys(item).filter((key) => key.startsWith('message_'));
  return prefixed.length === 0
    ? item
    : { ...item, ...Object.fromEntries(prefixed.map((key) => [key.slice('message_'.length), member(item, key) ?? null])) };
}

function longest(lists: readonly (readonly Message[] | undefined)[]): readonly Message[] {
  let found: readonly Message[] = [];
  for (const list of lists) if (list !== undefined && list.length > found.length) found = list;
  return found;
}

/** An answer that asks for tools before one in words, and that before an empty one. */
function mostTelling(lists: readonly (readonly Message[] | undefined)[]): readonly Message[] {
  const known = lists.filter((list) => list !== undefined && list.length > 0) as readonly (readonly Message[])[];
  return (
    known.find((list) => list.some(({ requested }) => requested.length > 0)) ??
    known.find((list) => list.some(({ text }) => text !== undefined && text !== '')) ??
    known[0] ??
    []
  );
}

function systemPromptOf(span: Span, { keys }: KeyEvidence, dump: JsonObject | undefined): string | undefined {
  const own = dump === undefined ? undefined : ownInstructions(dump);
  for (const key of keys.systemPrompt ?? []) {
    const found = readSystemPrompt(span.attribute(key));
    // Where the agent's own instructions stand in a longer text, the rest is the framework's.
    if (found !== undefined && !NOTHING.test(found) && !REFERENCE.test(found))
      return own !== undefined && found.includes(own) ? own : found;
  }
  return own;
}

/** Python's text for a function or an object that it only points to. */
const REFERENCE = /^<(?:bound method|function|class|[\w.]+ object at) [^]*>$/;

function ownInstructions(dump: JsonObject): string | undefined {
  return ['instructions', 'instruction', 'system_prompt', 'systemPrompt']
    .map((name) => member(dump, name))
    .find((value): value is string => typeof value === 'string' && value !== '');
}

/** The agent as the framework keeps it, where it says at least a name. */
function agentDump(span: Span, { keys }: KeyEvidence): JsonObject | undefined {
  for (const key of keys.agentDump ?? []) {
    const dump = parseContainer(textAttribute(span, key) ?? '');
    if (isJsonObject(dump) && typeof member(dump, 'name') === 'string') return dump;
  }
  return undefined;
}

function agentNameOf(span: Span, evidence: KeyEvidence): string | undefined {
  return firstText(span, evidence, 'agentName') ?? graphAgent((name) => graphText(span, evidence, name));
}

const graphFields: { readonly [name: string]: ScalarField | undefined } = {
  langgraph_checkpoint_ns: 'graphNamespace',
  langgraph_node: 'graphNode',
};

/** A member of LangChain's metadata: in the JSON text of all, or in an attribute of its own. */
function graphText(span: Span, evidence: KeyEvidence, name: string): string | undefined {
  const field = graphFields[name];
  const own = field === undefined ? undefined : firstText(span, evidence, field);
  return own ?? metadataText(span, evidence, [name]);
}

function metadataText(span: Span, { keys }: KeyEvidence, members: readonly string[]): string | undefined {
  for (const key of keys.metadata ?? []) {
    const text = textAttribute(span, key) ?? '';
    const metadata = members.some((name) => text.includes(name)) ? parseContainer(text) : undefined;
    if (!isJsonObject(metadata)) continue;
    for (const name of members) {
      const value = member(metadata, name);
      if (typeof value === 'string' && value !== '') return value;
    }
  }
  return undefined;
}

function firstText(span: Span, { keys }: KeyEvidence, field: ScalarField): string | undefined {
  for (const key of keys[field] ?? []) {
    const value = unquotedText(textAttribute(span, key));
    if (value !== undefined && !NOTHING.test(value) && !isPlaceholder(value) && !TEMPLATE.test(value)) return value;
  }
  return undefined;
}

/** What languages write for a value that is not there. */
const NOTHING = /^(?:|""|null|none|nil|undefined|unnamed|nan)$/i;

/** The first value under a key of `fields`; an earlier field comes first. */
function first(
  span: Attributed,
  { keys }: KeyEvidence,
  fields: readonly ScalarField[],
  accepts: (value: AttributeValue) => boolean = () => true,
): AttributeValue | undefined {
  for (const field of fields)
    for (const key of keys[field] ?? []) {
      const value = span.attribute(key);
      if (value !== undefined && !(typeof value === 'string' && NOTHING.test(value)) && !isPlaceholder(value) && accepts(value))
        return value;
    }
  return undefined;
}
