/**
 * Any instrumentation, read by evidence: the kind of a span, names, messages, arguments, results, tokens and ids with any prefix, in JSON, Python
 * notation or text. It fills the gaps that the collectors of SDKs and of general conventions leave. It never guesses: where neither a kind nor a name
 * shows what a span is, it has no role.
 */
import { isJsonArray, isJsonObject, member, type JsonValue } from '../src/model/json.ts';
import type { Mutable } from '../src/model/mutable.ts';
import { textAttribute, type AttributeValue, type Span } from '../src/model/span.ts';
import type { ToolDefinition } from '../src/model/agent-trace.ts';
import type { Collector, Message, Repeats, SpanFacts, SpanRole, ToolFacts } from './collector.ts';
import { agentNameOf, graphText, metadataText, namedAgent, offered, sessionArgument } from './parsing/agent-evidence.ts';
import { entityText } from './parsing/entities.ts';
import { eventNameOf, toolOfEvent } from './parsing/event-spans.ts';
import { evidenceOf } from './parsing/evidence-class.ts';
import { first, firstId, firstText, inEvents, textOf } from './parsing/evidence-values.ts';
import { objectUnder, unflattened } from './parsing/flattened.ts';
import { onlyContent, unwrapped } from './parsing/framed-value.ts';
import { isAgentNode } from './parsing/graph-agent.ts';
import { idIn } from './parsing/members.ts';
import { keyEvidenceOf, type KeyEvidence, type ScalarField } from './parsing/key-evidence.ts';
import { kindIn } from './parsing/kind-words.ts';
import { addMessages, isRequestAsked, requestedModel, saying } from './parsing/message-evidence.ts';
import { eventMessages } from './parsing/message-events.ts';
import { readMessages } from './parsing/messages.ts';
import { callInRepr, isCallRepr } from './parsing/call-reprs.ts';
import { describesAgent, observedRetrieval, observedRun } from './parsing/observation.ts';
import { parseContainer, unquotedText } from './parsing/parsing.ts';
import { isNoSchema, schemaOf } from './parsing/schema-evidence.ts';
import { handoffIn, spanName, TEMPLATE, toolInName } from './parsing/span-names.ts';
import { answerFacts, tokensOf } from './parsing/token-evidence.ts';
import { isAnswerTool, isToolName } from './parsing/tool-classes.ts';
import { withEvents } from './parsing/with-events.ts';
import { addArguments, addOutcome, callIdBeside, readArguments, readResult, type ReadResult } from './parsing/values.ts';

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
  hasEvidenceInEvents,
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
  'asked',
];

function hasEvidence(span: Span): boolean {
  const { keys, lists, objects } = keyEvidenceOf(span);
  return (
    objects.answer !== undefined ||
    telling.some((field) => keys[field] !== undefined) ||
    lists.inputMessages !== undefined ||
    lists.outputMessages !== undefined ||
    offersTools(keys, lists) ||
    (keys.bareTool !== undefined && (keys.arguments ?? keys.toolParameters ?? keys.input) !== undefined) ||
    (keys.input !== undefined && keys.output !== undefined && (span.parentSpanId === undefined || isRequestAsked(span, keys))) ||
    (keys.model !== undefined && (keys.inputTokens ?? keys.outputTokens ?? keys.usage) !== undefined)
  );
}

/** Instructions and tools together are what an agent is made of. */
function offersTools(keys: KeyEvidence['keys'], lists: KeyEvidence['lists']): boolean {
  return (keys.systemPrompt ?? keys.agentDump) !== undefined && (keys.definitions ?? lists.definitions ?? keys.agentDump) !== undefined;
}

function isAgents(span: Span): boolean | undefined {
  const role = roleOf(span, keyEvidenceOf(span));
  return role === undefined ? undefined : role === 'agent' || role === 'workflow';
}

/** True when the attributes and events of a span together show that it belongs to an agent. Other collectors do not read such events. */
function hasEvidenceInEvents(span: Span): boolean {
  const whole = withEvents(span);
  return whole !== undefined && (hasEvidence(whole) || callOf(whole, keyEvidenceOf(whole)) !== undefined);
}

/** Events count where the span's own attributes leave open what it is about. */
function read(span: Span, _repeats?: Repeats, known: SpanFacts = {}): SpanFacts {
  const facts = readAttributes(span, known);
  const whole = span.events.length > 0 && isOpen(facts, known) ? withEvents(span) : undefined;
  const read = whole === undefined ? facts : readAttributes(whole, known);
  // The input of an event may be a single argument, so only an object counts as the arguments of the call.
  return read.tool?.arguments === null ? facts : read;
}

/** True when the attributes lack facts that events may hold. The result of a tool is read from events only when no other collector reads the tool. */
function isOpen(read: SpanFacts, known: SpanFacts): boolean {
  const { role, inputMessages, outputMessages } = { ...read, ...known };
  if (role !== 'tool')
    return role === undefined || (role === 'model' && saying(inputMessages) === undefined && saying(outputMessages) === undefined);
  const { arguments: given, argumentsText, argumentsPart, result, resultPart } = { ...read.tool, ...known.tool };
  return (given ?? argumentsText ?? argumentsPart) === undefined || (known.tool === undefined && (result ?? resultPart) === undefined);
}

/** Reads only what is not known yet, because the conventions cover most spans. */
function readAttributes(span: Span, known: SpanFacts): SpanFacts {
  const evidence = keyEvidenceOf(span);
  const isOpen = known.role === undefined || (known.roleIsGuess === true && !isNamedCall(known));
  const own = isOpen ? roleOf(span, evidence) : undefined;
  const role = own ?? known.role;
  const facts: Mutable<SpanFacts> = factsOf(span, evidence, role, known);
  if (known.sessionId === undefined) {
    const sessionId =
      firstId(span, evidence, 'sessionId') ??
      metadataText(span, evidence, ['session_id', 'sessionId', 'thread_id'], idIn) ??
      sessionArgument(span, evidence);
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
  return span.parentSpanId !== undefined && isAgentNode(firstText(span, evidence, 'agentName'));
}

/** Facts of the request or call, where the span represents a single event of it. */
function eventOf(span: Span, evidence: KeyEvidence): SpanFacts['event'] {
  const name = evidence.keys.toolName === undefined ? eventNameOf(span) : undefined;
  const role = name === undefined || name.phase === 'between' ? undefined : saidRole(span, evidence);
  if (name === undefined || (role !== 'model' && role !== 'tool')) return undefined;
  const { tool, ...facts } = factsOf(span, evidence, role, {});
  const told = role === 'tool' ? { role, tool: toolOfEvent(span, name, tool ?? {}) } : facts;
  return { of: name.of, phase: name.phase, facts: told };
}

/**
 * Some frameworks send a span for every event, with the kind of its subject: `tool.dynamic.findOrder.start-1`. The span for the success of a request
 * to a model represents the request; the spans of a tool or an agent lack its name.
 */

function roleOf(span: Span, evidence: KeyEvidence): SpanRole | undefined {
  const role = saidRole(span, evidence);
  const event = role === undefined ? undefined : eventNameOf(span);
  return event === undefined || (role === 'model' && event.phase === 'end') || evidence.keys.toolName !== undefined ? role : 'step';
}

function saidRole(span: Span, evidence: KeyEvidence): SpanRole | undefined {
  const { keys, lists, objects } = evidence;
  const words = (field: ScalarField): readonly (string | undefined)[] =>
    (keys[field] ?? []).map((key) => unquotedText(textAttribute(span, key)));
  const own = words('kind').filter((word) => word !== undefined && !protocolKinds.has(word.toLowerCase()));
  for (const word of [...own, ...(own.length === 0 ? words('nearKind') : []), ...words('operation')]) {
    const role = kindIn(word);
    // A node of a graph is a step of its agent, even one that is called agent.
    if (role === 'agent' && (keys.agentName === undefined ? isNode(span, evidence) : isNamedAsNode(span, evidence))) return 'step';
    // An agent that is called as a tool.
    if (role === 'agent' && keys.toolName !== undefined && firstText(span, evidence, 'toolName') === spanName(span)) return 'tool';
    // A chain inside something is a stage of it; the outermost one represents the run.
    if (role !== undefined) return role === 'chain' ? (span.parentSpanId === undefined ? 'workflow' : 'step') : role;
  }
  const hasText = (field: ScalarField): boolean => (keys[field] ?? []).some((key) => (textAttribute(span, key) ?? '') !== '');
  const asksModel = keys.model !== undefined && (keys.inputTokens ?? keys.outputTokens ?? keys.usage) !== undefined;
  if (callOf(span, evidence) !== undefined) return 'tool';
  if (!asksModel && (hasText('toolName') || hasText('callId') || runsBareTool(span, keys))) return 'tool';
  const hasMessages =
    (keys.inputMessages ?? keys.outputMessages ?? lists.inputMessages ?? lists.outputMessages ?? objects.answer) !== undefined ||
    (keys.input !== undefined && keys.output !== undefined) ||
    (asksModel && inEvents(span, ['inputMessages', 'outputMessages', 'input', 'output']) !== undefined);
  // An agent's own span may sum up what its requests used.
  const isRequest = !hasText('agentName') || span.kind === clientKind || REQUEST.test(span.name);
  // Tokens beside the message that answered are a request's; beside a text they may be the sum of several.
  const isAnswered = span.parentSpanId !== undefined && (keys.output ?? []).some((key) => ANSWERED.test(textAttribute(span, key) ?? ''));
  if (asksModel) return (hasMessages || isAnswered) && isRequest ? 'model' : undefined;
  if (isRequestAsked(span, keys)) return 'model';
  // A span that names its kind with an unknown word is something else.
  const isSilent = own.length === 0 && (keys.nearKind ?? keys.operation ?? keys.model) === undefined;
  if (isSilent && isDescribed(span, evidence)) return 'agent';
  const agentName = firstText(span, evidence, 'agentName');
  // The conventions name a span after its operation and the agent.
  if (agentName !== undefined && span.name === `invoke_agent ${agentName}`) return 'agent';
  const isAgents = offersTools(keys, lists) || (keys.input !== undefined && agentName === span.name);
  return isSilent && isAgents && !SETUP.test(span.name) ? 'agent' : undefined;
}

/** A message of a model. */
const ANSWERED = /^\s*[[{][^]{0,40}"role"\s*:\s*"(?:assistant|ai|model)"/;

/** A call in the text form of Python, from the output of the span or else from its input. The output has the result as well. */
function callOf(span: Span, { keys }: KeyEvidence): string | undefined {
  for (const key of [...(keys.output ?? []), ...(keys.input ?? [])]) {
    const text = textAttribute(span, key);
    if (isCallRepr(text)) return text;
  }
  return undefined;
}

/** A bare `tool` beside an object of arguments: `tool = "find_book"`, `parameters = {"title": "Momo"}`. */
function runsBareTool(span: Span, { bareTool, arguments: given, toolParameters, input }: KeyEvidence['keys']): boolean {
  const isNamed = (bareTool ?? []).some((key) => IDENTIFIER.test(textAttribute(span, key) ?? ''));
  return (
    isNamed && [...(given ?? []), ...(toolParameters ?? []), ...(input ?? [])].some((key) => /^\s*\{/.test(textAttribute(span, key) ?? ''))
  );
}

const IDENTIFIER = /^[A-Za-z_][\w.-]{0,127}$/;

/** The input is what the agent is made of. */
function isDescribed(span: Span, { keys }: KeyEvidence): boolean {
  return (keys.input ?? []).some((key) => describesAgent(span.name, span.attribute(key)));
}

/** Work that is done once before agents work. */
const SETUP = /create|build|init|compile|register/i;

/** OpenTelemetry's kinds of any span, which show nothing about agents. */
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
      const target = known.tool === undefined ? (firstText(span, evidence, 'handoffTo') ?? handoffIn(tool.name)) : undefined;
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
      const isUnknown = role === undefined && known.role === undefined;
      const around = isUnknown && span.parentSpanId === undefined ? aroundRun(span, evidence) : {};
      const asked = isUnknown && span.parentSpanId !== undefined ? firstText(span, evidence, 'asked') : undefined;
      const outputMessages = role === 'step' && known.outputMessages === undefined ? passedOnCalls(span, evidence) : [];
      return {
        ...(role === undefined ? {} : { role }),
        ...(agentName === undefined ? {} : { agentName }),
        ...around,
        ...(isInPlainWords(asked) ? { inputDump: asked } : {}),
        ...(outputMessages.length === 0 ? {} : { outputMessages }),
      };
    }
  }
}

/** A function of the application around all the rest: its arguments and result count where nothing reports the messages of the user and the agent. */
function aroundRun(span: Span, evidence: KeyEvidence): Pick<SpanFacts, 'inputDump' | 'outputDump'> {
  const { input, output } = observedRun({
    name: span.name,
    input: unwrapped(first(span, evidence, ['input'])),
    output: unwrapped(first(span, evidence, ['output'])),
  });
  return {
    ...(isInPlainWords(input) ? { inputDump: input } : {}),
    ...(isInPlainWords(output) ? { outputDump: output } : {}),
  };
}

function isInPlainWords(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && !/^\s*[[{]/.test(value);
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
  // A value that cannot be taken apart does not claim to be a message of a user or an agent.
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

function toolFacts(span: Span, evidence: KeyEvidence, known: ToolFacts): ToolFacts {
  const call = known.name === undefined ? callInRepr(callOf(span, evidence)) : undefined;
  if (call !== undefined) return call;
  const facts: Mutable<ToolFacts> = {};
  const read = known.result === undefined && known.resultPart === undefined ? resultOf(span, evidence) : undefined;
  if (read !== undefined) addOutcome(read, facts);
  const id = known.id ?? firstText(span, evidence, 'callId') ?? read?.callId ?? otherId(span, evidence);
  if (id !== undefined && id !== known.id) facts.id = id;
  const hasArguments = (known.arguments ?? known.argumentsText ?? known.argumentsPart) !== undefined;
  // A name that is known stays; arguments may be framed with another one.
  const isKnown = hasArguments && known.name !== undefined && known.nameIsGuess !== true;
  const name = isKnown ? known.name : nameOf(span, evidence, known, read);
  if (name !== known.name) facts.name = name;
  const schema = known.inputSchema === undefined ? schemaOf(span, evidence) : undefined;
  if (schema !== undefined) facts.inputSchema = schema;
  const written = hasArguments
    ? undefined
    : (first(span, evidence, ['arguments', 'input', 'toolParameters', 'inputMessages'], isNoSchema) ??
      inEvents(span, ['arguments']) ??
      argumentsUnder(span, evidence) ??
      objectInEvents(span));
  if (written !== undefined) addArguments(readArguments(unwrapped(onlyContent(written)), name), facts);
  if (id === undefined) addCallId(written, facts);
  const described = firstText(span, evidence, 'toolDescription') ?? entityText(span, evidence, 'tool', 'description');
  const description = known.description === undefined ? described : undefined;
  if (description !== undefined) facts.description = description;
  const failed = known.failed === undefined ? failureOf(span, evidence) : undefined;
  if (failed !== undefined) facts.failed ??= failed;
  return facts;
}

function addCallId(given: AttributeValue | undefined, facts: Mutable<ToolFacts>): void {
  const id = callIdBeside(given);
  if (id !== undefined) facts.id = id;
}

function nameOf(span: Span, evidence: KeyEvidence, known: ToolFacts, read: ReadResult | undefined): string {
  const spanned = toolInName(span);
  const entity = entityText(span, evidence, 'tool', 'name');
  const given = [
    ownToolName(span, evidence),
    firstText(span, evidence, 'bareTool'),
    known.name,
    entity,
    firstText(span, evidence, 'ownName'),
    spanned,
  ].find((one) => one !== undefined && isToolName(one));
  return given ?? read?.toolName ?? known.name ?? spanned ?? span.name;
}

/** Among two names, the one without the server before it: `mcp__shop__find` is `find`. */
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

/** Arguments with a key each: `tool_request.args.title`. */
function argumentsUnder(span: Span, { objects }: KeyEvidence): JsonValue | undefined {
  const [prefix] = objects.arguments ?? [];
  return prefix === undefined ? undefined : objectUnder(span, prefix);
}

/** The input of an event may be a part of the arguments: only an object is all of them. */
function objectInEvents(span: Span): AttributeValue | undefined {
  const given = inEvents(span, ['input']);
  return typeof given === 'string' && given.startsWith('{') ? given : undefined;
}

function resultOf(span: Span, evidence: KeyEvidence): ReadResult | undefined {
  const whole = first(span, evidence, ['toolResult', 'output', 'outputMessages']) ?? inEvents(span, ['toolResult', 'output']);
  const parts = whole ?? evidence.lists.resultParts?.map((list) => unflattened(span, list)).find((list) => list.length > 0);
  if (parts === undefined) return undefined;
  const inner = unwrapped(onlyContent(parts)) ?? null;
  return readResult(typeof inner === 'string' ? inner : onlyContent(inner));
}

function isNoCall(name: string): boolean {
  return isAnswerTool(name) || !isToolName(name) || TEMPLATE.test(name);
}

const failedOutcomes: ReadonlySet<string> = new Set(['error', 'failed', 'failure']);

/** The call failed where a member states it, under any status of its span. */
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
  const named = firstText(span, evidence, 'model') ?? entityText(span, evidence, 'model', 'name');
  const model = known.model ?? named ?? answer.model ?? requestedModel(span, evidence) ?? PROVIDER_MODEL.exec(span.name)?.[1];
  if (known.model === undefined && model !== undefined) facts.model = model;
  // Frameworks give the steps around a request its kind too.
  const isAnswered = (facts.inputTokens ?? facts.outputTokens ?? saying(facts.outputMessages)) !== undefined;
  if (known.role === undefined && !isAnswered && span.status.code !== 'error') facts.roleIsGuess = true;
  return facts;
}

/**
 * Some SDKs write the name of a member in place of an answer that is an object: then no other attribute has the request either. Source: OpenLLMetry
 * for Haystack.
 */
function isOneWord(messages: readonly Message[] | undefined): boolean {
  return messages?.every(({ text, requested, results }) => requested.length + results.length === 0 && WORD.test(text ?? '')) === true;
}

const WORD = /^\w{0,100}$/;

/** `openai/gpt-4o-mini`: some name the span of a request after the provider and the model. */
const PROVIDER_MODEL = /^[a-z][\w.-]{1,40}\/([\w.:-]{1,80})$/;

function countsOf({ inputTokens, outputTokens }: SpanFacts): SpanFacts {
  return { ...(inputTokens === undefined ? {} : { inputTokens }), ...(outputTokens === undefined ? {} : { outputTokens }) };
}
