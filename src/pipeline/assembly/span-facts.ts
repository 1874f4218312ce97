/** The facts of all collectors about one span and its log records. */
import {
  type Collector,
  type Message,
  type Repeats,
  type SpanFacts,
  type ToolFacts,
  recognises,
  takesEvent,
  type Flattened,
} from '../../../collectors/collector.ts';
import { unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import type { SpanEvidence } from '../../model/evidence.ts';
import { factLimits, keyLimits, type ReadLimit } from '../../../collectors/parsing/limits.ts';
import { noRepeats } from '../../../collectors/parsing/repeats.ts';
import { parseContainer } from '../../../collectors/parsing/parsing.ts';
import { holdsCutContainer } from '../../../collectors/parsing/truncation.ts';
import type { ToolError } from '../../model/agent-trace.ts';
import type { Mutable } from '../../model/mutable.ts';
import type { SpanId } from '../../model/ids.ts';
import { isJsonObject, member } from '../../model/json.ts';
import { textAttribute, type Attributed, type LogRecord, type Span, type KeyShape } from '../../model/span.ts';
import { compare } from '../../model/nano-time.ts';
import { runName } from '../../../collectors/parsing/span-names.ts';
import { flattened, outlineOf } from '../../../collectors/parsing/flattened.ts';

export interface SpanReading {
  readonly facts: SpanFacts;
  /** Ids of the collectors that read the span, in table order. */
  readonly dialects: readonly string[];
  /** Fields that come only from log records. */
  readonly fromLogs: ReadonlySet<keyof SpanFacts>;
  /** How the reader by evidence knows its facts, found out when asked; `undefined` when it reported none. */
  readonly evidence?: () => SpanEvidence;
  /** Bounds that left a part of the span unread; absent: none. */
  readonly limits?: readonly ReadLimit[];
}

/** The context for reading a span. */
export interface Reading {
  readonly collectors: readonly Collector[];
  readonly records: ReadonlyMap<SpanId, readonly LogRecord[]>;
  /** Readings of spans whose records have not changed. */
  readonly readingCache?: Map<SpanId, SpanReading> | undefined;
  /** Content that spans of the trace share. */
  readonly repeats?: Repeats | undefined;
}

const none: ReadonlySet<keyof SpanFacts> = new Set();
const noRecords: readonly LogRecord[] = [];
const silent: SpanReading = { facts: {}, dialects: [], fromLogs: none };

/** The facts of a span and its records; cached while neither changes. */
export function spanReadingOf(input: Reading, span: Span): SpanReading {
  const known = input.readingCache?.get(span.spanId);
  if (known !== undefined) return known;
  const reading = readSpan(input, span, inOrderOfTime(input.records.get(span.spanId) ?? noRecords));
  input.readingCache?.set(span.spanId, reading);
  return reading;
}

/** Records may arrive in any order; of equal times the first to arrive counts as earlier. */
function inOrderOfTime(records: readonly LogRecord[]): readonly LogRecord[] {
  return records.length < 2 ? records : records.toSorted((a, b) => compare(a.timeUnixNano, b.timeUnixNano));
}

/**
 * Reads a span with every collector that recognises it; for each field the first collector wins. Beside the collector of an SDK, the reader by
 * evidence reads only spans for which the collectors leave such facts open.
 */
function readSpan({ collectors, repeats }: Reading, span: Span, records: readonly LogRecord[]): SpanReading {
  const byKeys = readersOf(collectors, span);
  const readers = byKeys.collectors.length === 0 && span.events.length > 0 ? readersOfEvents(collectors, span, byKeys) : byKeys;
  if (readers.collectors.length === 0 && records.length === 0) return silent;
  let facts: SpanFacts | undefined;
  let dialects = readers.ids;
  let evidence: SpanReading['evidence'];
  for (const collector of readers.collectors) {
    if (facts !== undefined && collector === readers.beside && !isOpen(facts)) continue;
    const own = collector.read(span, repeats, facts);
    // The reader by evidence is listed only if it adds a fact.
    if (collector.recognisedBy.evidence !== undefined) {
      const before = facts ?? silent.facts;
      if (adds(own, before)) {
        if (collector === readers.beside) dialects = [...dialects, collector.id];
        evidence = evidenceBy(collector, span, own, before);
      } else dialects = readers.idsWithoutEvidence;
    }
    facts = facts === undefined ? own : joined(facts, own);
  }
  const fromSpan: Mutable<SpanReading> = { facts: facts ?? silent.facts, dialects, fromLogs: none };
  if (evidence !== undefined) fromSpan.evidence = evidence;
  const joint = records.length === 0 ? fromSpan : withRecords(collectors, fromSpan, records);
  const filtered = readers.takes.length === 0 ? joint : { ...joint, facts: readers.takes.reduce((left, take) => take(left), joint.facts) };
  const modelled = isNoModel(filtered.facts.model) ? { ...filtered, facts: withoutModel(filtered.facts) } : filtered;
  const whole = isTruncated(span, modelled.facts, readers, repeats)
    ? { ...modelled, facts: { ...modelled.facts, truncated: true as const } }
    : modelled;
  const limits = factLimits(whole.facts);
  return limits.length + readers.limits.length === 0 ? whole : { ...whole, limits: [...readers.limits, ...limits] };
}

/** Texts that SDKs write in place of a model's name that they do not know. */
const noModels: ReadonlySet<string> = new Set(['unknown', 'none', 'null', 'undefined', 'n/a', 'default']);
const noModelCharsMax = 9;

function isNoModel(model: string | undefined): boolean {
  return model !== undefined && model.length <= noModelCharsMax && noModels.has(model.toLowerCase());
}

/** Some SDKs write a turn of an agent as a request without a model: it is a step of that agent. Without tokens it may be a request. */
function withoutModel({ model: _model, ...facts }: SpanFacts): SpanFacts {
  if (facts.role !== 'model') return facts;
  if (facts.agentName === undefined)
    return (facts.inputTokens ?? facts.outputTokens) === undefined ? { ...facts, roleIsGuess: true } : facts;
  const { inputTokens: _input, outputTokens: _output, ...step } = facts;
  return { ...step, role: 'step' };
}

function evidenceBy(collector: Collector, span: Span, own: SpanFacts, before: SpanFacts): () => SpanEvidence {
  return () => collector.evidenceOf?.(span, own, before) ?? {};
}

/** True when the collectors of SDKs and conventions leave facts open that a span of this role carries. A step carries none. */
function isOpen(facts: SpanFacts): boolean {
  switch (facts.roleIsGuess === true ? undefined : facts.role) {
    case 'model':
      return (
        facts.model === undefined ||
        (facts.inputTokens ?? facts.outputTokens) === undefined ||
        !hasItems(facts.inputMessages) ||
        !hasItems(facts.outputMessages) ||
        facts.toolDefinitions?.every(({ inputSchema }) => inputSchema !== undefined) !== true
      );
    case 'tool':
      return facts.tool?.inputSchema === undefined || !hasArguments(facts.tool) || !hasOutcome(facts.tool);
    case 'retriever':
      return facts.documents === undefined;
    case 'step':
      return facts.agentName === undefined;
    case 'noise':
      return false;
    // Agents are few, and most collectors report them in part.
    case 'agent':
    case 'workflow':
    case undefined:
      return true;
  }
}

function hasArguments(tool: ToolFacts): boolean {
  return (tool.arguments ?? tool.argumentsText ?? tool.argumentsPart) !== undefined;
}

function hasOutcome({ result, resultPart, failed }: ToolFacts): boolean {
  return result !== undefined || resultPart !== undefined || failed !== undefined;
}

/** True when `facts` has a member that `before` lacks. */
function adds(own: SpanFacts, before: SpanFacts): boolean {
  for (const key in own) if (key !== 'tool' && before[key as keyof SpanFacts] === undefined) return true;
  for (const key in own.tool) if (before.tool?.[key as keyof ToolFacts] === undefined) return true;
  return false;
}

function withRecords(collectors: readonly Collector[], before: SpanReading, records: readonly LogRecord[]): SpanReading {
  let { facts } = before;
  const dialects = [...before.dialects];
  const fromLogs = new Set<keyof SpanFacts>();
  for (const collector of collectors) {
    const events = records.filter((record) => takesEvent(collector, record.eventName));
    if (events.length === 0 || collector.logs === undefined) continue;
    if (!dialects.includes(collector.id)) dialects.push(collector.id);
    const own = collector.logs.read(events);
    for (const key of Object.keys(own) as (keyof SpanFacts)[]) if (facts[key] === undefined) fromLogs.add(key);
    facts = joined(facts, own);
  }
  return { ...before, facts, dialects, fromLogs };
}

/** Truncation of a tool span shows in its arguments and result. In other spans any attribute may hold calls or definitions. */
function isTruncated(span: Span, facts: SpanFacts, { read, lists, others }: Readers, repeats: Repeats = noRepeats): boolean {
  const { role } = facts;
  if ((span.droppedAttributes ?? 0) > 0) return true;
  if (role === undefined || role === 'tool' || role === 'step' || role === 'noise') return false;
  // When all parts are present, only a list with an attribute per item can have lost one.
  const hasAll = role === 'model' && hasItems(facts.inputMessages) && hasItems(facts.outputMessages) && hasItems(facts.toolDefinitions);
  for (const key of hasAll ? others : read) if (!isWhole(span, key)) return true;
  if (hasAll) for (const list of lists) if (!repeats.every(span, list, isWhole)) return true;
  return false;
}

function isWhole(from: Attributed, key: string): boolean {
  return !holdsCutContainer(from, key);
}

function hasItems(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** The fields of both; `first` wins. Tools are joined member by member. */
export function joined(first: SpanFacts, second: SpanFacts): SpanFacts {
  if (first.role !== undefined && first.roleIsGuess !== true && addsNothing(first, second)) return first;
  const tool = first.tool === undefined || second.tool === undefined ? (first.tool ?? second.tool) : joinedTool(first.tool, second.tool);
  const definitions =
    first.toolDefinitions === undefined || second.toolDefinitions === undefined
      ? undefined
      : unitedDefinitions([first.toolDefinitions, second.toolDefinitions]);
  return {
    ...second,
    ...first,
    ...betterName(first, second),
    ...betterMessages(first, second),
    ...betterRole(first, second),
    ...(tool === undefined ? {} : { tool }),
    ...(definitions === undefined ? {} : { toolDefinitions: definitions }),
  };
}

/** True when the second has nothing beside a role, as a reader has that finds all fields taken. */
function addsNothing(first: SpanFacts, second: SpanFacts): boolean {
  for (const key in second) if (key !== 'role' && (key !== 'tool' || first.tool === undefined || !isEmpty(second.tool))) return false;
  return true;
}

function isEmpty(tool: ToolFacts | undefined): boolean {
  for (const key in tool) if (Object.hasOwn(tool, key)) return false;
  return true;
}

function betterRole(first: SpanFacts, second: SpanFacts): SpanFacts {
  if (first.roleIsGuess !== true || second.role === undefined)
    return first.role === undefined ? {} : { roleIsGuess: first.roleIsGuess === true };
  return { role: second.role, roleIsGuess: second.roleIsGuess === true };
}

/** Prefers messages with content over empty ones. */
function betterMessages(first: SpanFacts, second: SpanFacts): Pick<SpanFacts, 'inputMessages' | 'outputMessages'> {
  const input = second.inputMessages !== undefined && areEmpty(first.inputMessages) ? second.inputMessages : undefined;
  const output = second.outputMessages !== undefined && areEmpty(first.outputMessages) ? second.outputMessages : undefined;
  // In most cases only one of them has messages.
  if (input === undefined && output === undefined) return silent.facts;
  return { ...(input === undefined ? {} : { inputMessages: input }), ...(output === undefined ? {} : { outputMessages: output }) };
}

function areEmpty(messages: readonly Message[] | undefined): boolean {
  return (
    messages?.every(
      ({ text, reasoning, requested, results }) => (text ?? reasoning) === undefined && requested.length + results.length === 0,
    ) === true
  );
}

/** Prefers a reported name over a span's name. */
function betterName(first: SpanFacts, second: SpanFacts): SpanFacts {
  // A guess of the other concerns another name.
  if (first.agentName !== undefined && first.agentNameIsGuess !== true)
    return second.agentNameIsGuess === true ? { agentNameIsGuess: false } : {};
  if (first.agentNameIsGuess !== true || second.agentName === undefined || second.agentNameIsGuess === true) return {};
  return { agentName: second.agentName, agentNameIsGuess: false };
}

/** Names that frameworks give to an agent, or its graph, without a name. */
const frameworkNames: ReadonlySet<string> = new Set(['agent', 'openai agent', 'langgraph', 'swarm', 'agentexecutor', 'runnablesequence']);

export function isFrameworkName(name: string): boolean {
  return frameworkNames.has(name.toLowerCase());
}

/** The name that developers gave a span; `undefined` for names that frameworks give to any run. */
export function ownName(span: Span | undefined): string | undefined {
  const name = span?.name.replace(KIND_BEHIND, '$1');
  return name === undefined || OPERATION_NAME.test(name) || TEMPLATE_NAME.test(name) || isFrameworkName(name)
    ? undefined
    : runName(name.replace(FRAME_NAME, ''));
}

/** The name of a span without the words for its kind: `step model`, `model.task`. */
export function bareName({ name }: Span): string {
  return name.replace(KIND_BEHIND, '$1').replace(FRAME_NAME, '');
}

/** `archive_agent.task`: OpenLLMetry writes the kind of a span behind its name. */
const KIND_BEHIND = /^(\w[\w-]*)\.(?:workflow|team|agent|task|step|node|chain|graph)$/;

/** The name of a kind of spans, filled in elsewhere: `Calling prompt-chain {name}`. Source: Logfire. */
const TEMPLATE_NAME = /\{[^{}]{1,100}\}/;

/** Names of operations, such as `ai.generateText`, `tool.run.start-3`, `invocation`. Sources: AI SDK, BeeAI, Agent Development Kit. */
const OPERATION_NAME =
  /^(?:[a-z]\w*(?:\.[a-z][\w-]*)+|invocation|(?:invoke|execute|run|call|create)_[a-z]+(?: .*)?|(?:chat|workflow|task) .*)$/;
/** `AxGen > order_support`, `step order_support`. */
const FRAME_NAME = /^(?:\w{1,100} > (?=\S)|(?:step|node|chain|graph) (?=\S+$))/;

/** The name that the application gave the agent; `undefined` for the name of a span or a framework's default. */
export function givenAgentName({ agentName, agentNameIsGuess }: SpanFacts): string | undefined {
  return agentName === undefined || agentNameIsGuess === true || frameworkNames.has(agentName.toLowerCase()) ? undefined : agentName;
}

function joinedTool(first: ToolFacts, second: ToolFacts): ToolFacts {
  // Arguments that one collector could not parse do not hide those of another.
  const { arguments: _unparsed, argumentsText: _text, ...rest } = first;
  const both =
    first.arguments === null && second.arguments !== null && second.arguments !== undefined
      ? { ...second, ...rest }
      : { ...second, ...first };
  if (first.nameIsGuess !== true || second.name === undefined || second.nameIsGuess === true) return both;
  const { nameIsGuess: _guess, ...named } = both;
  return { ...named, name: second.name };
}

/** The failure on a tool's span: status, exception event, `error.type`, or the dialect's own field. */
export function errorOf(span: Span, tool: Pick<ToolFacts, 'failed' | 'result'> | undefined): ToolError | undefined {
  const exception = span.events.find((event) => event.name === 'exception');
  const errorType = textAttribute(span, 'error.type');
  const sign =
    span.status.code === 'error'
      ? 'span_status'
      : exception !== undefined
        ? 'exception_event'
        : errorType !== undefined
          ? 'error_type'
          : tool?.failed !== undefined
            ? 'result_status'
            : undefined;
  if (sign === undefined) return undefined;
  const type = (exception === undefined ? undefined : textAttribute(exception, 'exception.type')) ?? errorType ?? tool?.failed?.type;
  const exceptionMessage = exception === undefined ? undefined : textAttribute(exception, 'exception.message');
  const texts = [
    exception === undefined ? undefined : causeIn(textAttribute(exception, 'error.data')),
    exceptionMessage,
    span.status.message,
    tool?.failed?.message,
    textAttribute(span, 'error.message'),
    resultText(tool),
    // Some SDKs write the message into `error.type`.
    errorType?.includes(' ') === true ? errorType : undefined,
  ].filter((text): text is string => text !== undefined && text !== '');
  const said = texts.find((text) => !isPhrase(text));
  const cause = said === undefined && exception !== undefined ? lastCause(textAttribute(exception, 'exception.stacktrace')) : undefined;
  const message = said ?? cause ?? texts[0] ?? '';
  return { message, sign, ...(type === undefined ? {} : { type }) };
}

/** The tool's own error where the OpenAI Agents SDK keeps it: `{"tool_name": …, "error": …}` beside an exception of the SDK. */
function causeIn(data: string | undefined): string | undefined {
  const object = data === undefined ? undefined : parseContainer(data);
  const cause = isJsonObject(object) ? member(object, 'error') : undefined;
  return typeof cause === 'string' ? cause : undefined;
}

/** A line of a stack trace that names an exception and its message, in Python, Java or JavaScript. */
const CAUSE = /^(?:Caused by: )?[\w.$]{1,200}: (\S.*)$/gm;
/** The cause is at the end of a stack trace. */
const traceCharsMax = 20_000;

function lastCause(trace: string | undefined): string | undefined {
  return trace === undefined ? undefined : [...trace.slice(-traceCharsMax).matchAll(CAUSE)].at(-1)?.[1];
}

/** True when the message is a framework's phrase for any failure, only the name of a type, or empty; a more specific text is preferred. */
export function isPhrase(message: string): boolean {
  return message === '' || PHRASE.test(message) || TYPE_ALONE.test(message);
}

/** `shop.errors.StockError: `, as languages write an exception without a message. */
const TYPE_ALONE = /^(?:[\w$]{1,100}\.){0,10}(?:[A-Z]\w{0,100}:|\w{0,100}(?:Error|Exception))\s*$/;

/** Sources: tool spans of the OpenAI Agents SDK, OpenLIT, BeeAI and Respan. */
const PHRASE =
  /^(?:error running tool(?: \(non-fatal\))?|tool execution failed|tool error|(?:unknown |internal )?error|exception|failed|failure|http \d{3})\.?$/i;

function resultText(tool: Pick<ToolFacts, 'result'> | undefined): string | undefined {
  return typeof tool?.result === 'string' ? tool.result : undefined;
}

/** The collectors that read a span. Keys and scope mostly decide, so spans with the same ones share the result. */
interface Readers {
  /** In table order. */
  readonly collectors: readonly Collector[];
  /** The last of them, the reader by evidence, where a collector of an SDK comes before it. */
  readonly beside: Collector | undefined;
  /** Ids of the other collectors. */
  readonly ids: readonly string[];
  /** The same without the reader by evidence. */
  readonly idsWithoutEvidence: readonly string[];
  /** Attributes that they read. */
  readonly read: readonly string[];
  /** Filters of the joined facts. */
  readonly takes: readonly NonNullable<Collector['without']>[];
  /** Flattened lists that they read. */
  readonly lists: readonly Flattened[];
  /** Attributes under the prefixes of these lists that belong to no item. */
  readonly others: readonly string[];
  /** Bounds that the keys exceed. */
  readonly limits: readonly ReadLimit[];
}

/** Limit of scopes per key shape. */
const scopesMax = 32;

export function readersOf(collectors: readonly Collector[], span: Span): Readers {
  const known = span.keyShape?.().keep(collectors, rememberedOf);
  if (known === undefined || startsWithAny(span.name, known.namePrefixes)) return found(collectors, span, known?.lists);
  const remembered = known.byScope.get(span.scope.name);
  if (remembered !== undefined) return remembered;
  const readers = found(collectors, span, known.lists);
  if (known.byScope.size < scopesMax) known.byScope.set(span.scope.name, readers);
  return readers;
}

/** The reader by evidence, where the events of a span say what its keys do not. */
function readersOfEvents(collectors: readonly Collector[], span: Span, none: Readers): Readers {
  const reader = collectors.find((collector) => collector.hasEvidenceInEvents?.(span) === true);
  return reader === undefined ? none : { ...none, collectors: [reader], ids: [reader.id] };
}

interface Remembered {
  readonly byScope: Map<string, Readers>;
  /** Prefixes of span names that identify spans of a collector. */
  readonly namePrefixes: readonly string[];
  /** All flattened lists of the collectors. The objects are shared, as outlines are cached by them. */
  readonly lists: readonly Flattened[];
}

function rememberedOf(_shape: KeyShape, collectors: readonly Collector[]): Remembered {
  return {
    byScope: new Map(),
    namePrefixes: collectors.flatMap(({ recognisedBy }) => recognisedBy.namePrefixes ?? []),
    lists: collectors.flatMap(({ wants }) => wants.prefixes).map(flattened),
  };
}

function startsWithAny(text: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (text.startsWith(prefix)) return true;
  return false;
}

function found(collectors: readonly Collector[], span: Span, known: readonly Flattened[] = []): Readers {
  const own = readersAmong(collectors, span);
  const beside = own.some(isOfSdk) ? collectors.find(({ recognisedBy }) => recognisedBy.evidence?.(span) === true) : undefined;
  const prefixes = own.flatMap(({ wants }) => wants.prefixes);
  const keys = new Set(own.flatMap(({ wants }) => wants.keys));
  const items = span.attributeKeys().filter((key) => startsWithAny(key, prefixes));
  const lists = prefixes.map((prefix) => known.find((list) => list.prefix === prefix) ?? flattened(prefix));
  const inLists = new Set(lists.flatMap((list) => outlineOf(span, list).keys.flat()));
  return {
    collectors: beside === undefined ? own : [...own, beside],
    beside,
    ids: own.map(({ id }) => id),
    idsWithoutEvidence: own.filter(({ recognisedBy }) => recognisedBy.evidence === undefined).map(({ id }) => id),
    takes: own.flatMap(({ without }) => without ?? []),
    read: [...items, ...span.attributeKeys().filter((key) => keys.has(key))],
    lists,
    others: items.filter((key) => !inLists.has(key)),
    limits: keyLimits(
      span,
      prefixes,
      own.some(({ recognisedBy }) => recognisedBy.evidence !== undefined),
    ),
  };
}

/** Logfire sends a span of no length when another span begins, with an id that nothing else has and the content of that span. */
const pendingKey = 'logfire.pending_parent_id';

/**
 * The collectors that read the whole span: the reader by evidence only where no collector of an SDK recognises it. None reads a span that
 * announces another one.
 */
export function readersAmong(collectors: readonly Collector[], span: Span): readonly Collector[] {
  if (span.attribute(pendingKey) !== undefined) return [];
  const own = collectors.filter((collector) => collector.recognisedBy.evidence === undefined && recognises(collector, span));
  if (own.some(isOfSdk)) return own;
  const all = collectors.filter((collector) => own.includes(collector) || (collector.recognisedBy.evidence?.(span) ?? false));
  return all.length === own.length ? own : all;
}

function isOfSdk({ isConvention, recognisedBy }: Collector): boolean {
  return isConvention !== true && recognisedBy.evidence === undefined;
}
