/** What all collectors together tell about one span and the log records that belong to it. */
import {
  type Collector,
  type Message,
  type Repeats,
  type SpanFacts,
  type ToolFacts,
  recognises,
  type Flattened,
} from '../../../collectors/collector.ts';
import { unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import { noRepeats } from '../../../collectors/parsing/repeats.ts';
import { parseContainer } from '../../../collectors/parsing/parsing.ts';
import { isCutContainer, mayBeContainer } from '../../../collectors/parsing/truncation.ts';
import type { ToolError } from '../../model/agent-trace.ts';
import type { SpanId } from '../../model/ids.ts';
import { isJsonObject, member } from '../../model/json.ts';
import { textAttribute, type Attributed, type LogRecord, type Span, type KeyShape } from '../../model/span.ts';
import { compare } from '../../model/nano-time.ts';
import { flattened, outlineOf } from '../../../collectors/parsing/flattened.ts';

export interface SpanReading {
  readonly facts: SpanFacts;
  /** Ids of the collectors that read the span, in the table's order. */
  readonly dialects: readonly string[];
  /** Fields that only log records told. */
  readonly fromLogs: ReadonlySet<keyof SpanFacts>;
}

/** What is needed to read one span. */
export interface Reading {
  readonly collectors: readonly Collector[];
  readonly records: ReadonlyMap<SpanId, readonly LogRecord[]>;
  /** Remembers what was told about a span while neither it nor its records changed. */
  readonly readingCache?: Map<SpanId, SpanReading> | undefined;
  /** What spans of the trace have in common. */
  readonly repeats?: Repeats | undefined;
}

const none: ReadonlySet<keyof SpanFacts> = new Set();
const noRecords: readonly LogRecord[] = [];
const silent: SpanReading = { facts: {}, dialects: [], fromLogs: none };

/** What is told about a span and its records, read once while neither changes. */
export function spanReadingOf(input: Reading, span: Span): SpanReading {
  const known = input.readingCache?.get(span.spanId);
  if (known !== undefined) return known;
  const reading = readSpan(input, span, inOrderOfTime(input.records.get(span.spanId) ?? noRecords));
  input.readingCache?.set(span.spanId, reading);
  return reading;
}

/** Records may arrive in any order; of equal times the one that came first counts as the earlier. */
function inOrderOfTime(records: readonly LogRecord[]): readonly LogRecord[] {
  return records.length < 2 ? records : records.toSorted((a, b) => compare(a.timeUnixNano, b.timeUnixNano));
}

/** Reads a span with every collector that recognises it; of two collectors that tell a field the earlier one counts. */
function readSpan({ collectors, repeats }: Reading, span: Span, records: readonly LogRecord[]): SpanReading {
  const readers = readersOf(collectors, span);
  if (readers.collectors.length === 0 && records.length === 0) return silent;
  let facts: SpanFacts | undefined;
  let dialects = readers.ids;
  for (const collector of readers.collectors) {
    const told = collector.read(span, repeats, facts);
    const all = facts === undefined ? told : joined(facts, told);
    // The reader by evidence is named where it knew more than the others.
    if (collector.recognisedBy.evidence !== undefined && !adds(told, facts ?? silent.facts))
      dialects = dialects.filter((id) => id !== collector.id);
    facts = all;
  }
  const said: SpanReading = { facts: facts ?? silent.facts, dialects, fromLogs: none };
  const told = records.length === 0 ? said : withRecords(collectors, said, records);
  const spoken = readers.takes.length === 0 ? told : { ...told, facts: readers.takes.reduce((left, take) => take(left), told.facts) };
  return isTruncated(span, spoken.facts, readers, repeats) ? { ...spoken, facts: { ...spoken.facts, truncated: true } } : spoken;
}

/** True: some member stands in `told` that `before` lacks. */
function adds(told: SpanFacts, before: SpanFacts): boolean {
  for (const key in told) if (key !== 'tool' && before[key as keyof SpanFacts] === undefined) return true;
  for (const key in told.tool) if (before.tool?.[key as keyof ToolFacts] === undefined) return true;
  return false;
}

function withRecords(collectors: readonly Collector[], before: SpanReading, records: readonly LogRecord[]): SpanReading {
  let { facts } = before;
  const dialects = [...before.dialects];
  const fromLogs = new Set<keyof SpanFacts>();
  for (const collector of collectors) {
    const own = records.filter((record) => collector.logs?.events.includes(record.eventName) ?? false);
    if (own.length === 0 || collector.logs === undefined) continue;
    if (!dialects.includes(collector.id)) dialects.push(collector.id);
    const told = collector.logs.read(own);
    for (const key of Object.keys(told) as (keyof SpanFacts)[]) if (facts[key] === undefined) fromLogs.add(key);
    facts = joined(facts, told);
  }
  return { facts, dialects, fromLogs };
}

/** What a tool's span lost shows on its arguments and its result. Of other spans any attribute may hold calls or definitions. */
function isTruncated(span: Span, facts: SpanFacts, { read, lists, others }: Readers, repeats: Repeats = noRepeats): boolean {
  const { role } = facts;
  if ((span.droppedAttributes ?? 0) > 0) return true;
  if (role === undefined || role === 'tool' || role === 'step' || role === 'noise') return false;
  // Where all is told, only lists with an attribute an item can have lost one.
  const isTold = role === 'model' && hasItems(facts.inputMessages) && hasItems(facts.outputMessages) && hasItems(facts.toolDefinitions);
  for (const key of isTold ? others : read) if (!isWhole(span, key)) return true;
  if (isTold) for (const list of lists) if (!repeats.every(span, list, isWhole)) return true;
  return false;
}

function isWhole(from: Attributed, key: string): boolean {
  return !mayBeContainer(from, key) || !isCutContainer(textAttribute(from, key) ?? '');
}

function hasItems(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** The fields of both; where both tell one, `first` counts. Tools are joined member by member. */
export function joined(first: SpanFacts, second: SpanFacts): SpanFacts {
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

function betterRole(first: SpanFacts, second: SpanFacts): SpanFacts {
  if (first.roleIsGuess !== true || second.role === undefined)
    return first.role === undefined ? {} : { roleIsGuess: first.roleIsGuess === true };
  return { role: second.role, roleIsGuess: second.roleIsGuess === true };
}

/** Messages that say something are better than empty ones. */
function betterMessages(first: SpanFacts, second: SpanFacts): Pick<SpanFacts, 'inputMessages' | 'outputMessages'> {
  const input = second.inputMessages !== undefined && saysNothing(first.inputMessages) ? second.inputMessages : undefined;
  const output = second.outputMessages !== undefined && saysNothing(first.outputMessages) ? second.outputMessages : undefined;
  // Mostly one of the two tells the messages.
  if (input === undefined && output === undefined) return silent.facts;
  return { ...(input === undefined ? {} : { inputMessages: input }), ...(output === undefined ? {} : { outputMessages: output }) };
}

function saysNothing(messages: readonly Message[] | undefined): boolean {
  return (
    messages?.every(({ text, reasoning, asked, told }) => (text ?? reasoning) === undefined && asked.length + told.length === 0) === true
  );
}

/** A name that is told is better than one that is only the span's. */
function betterName(first: SpanFacts, second: SpanFacts): SpanFacts {
  // The other's doubt is about another name.
  if (first.agentName !== undefined && first.agentNameIsGuess !== true)
    return second.agentNameIsGuess === true ? { agentNameIsGuess: false } : {};
  if (first.agentNameIsGuess !== true || second.agentName === undefined || second.agentNameIsGuess === true) return {};
  return { agentName: second.agentName, agentNameIsGuess: false };
}

/** What frameworks call an agent, or the graph that runs one, when nobody gave it a name. */
const frameworkNames: ReadonlySet<string> = new Set(['agent', 'openai agent', 'langgraph', 'swarm', 'agentexecutor', 'runnablesequence']);

export function isFrameworkName(name: string): boolean {
  return frameworkNames.has(name.toLowerCase());
}

/** What developers call a span of their own; undefined for what frameworks call any run. */
export function ownName(span: Span | undefined): string | undefined {
  return span === undefined || OPERATION_NAME.test(span.name) ? undefined : span.name.replace(FRAME_NAME, '');
}

/** `ai.generateText`, `tool.run.start-3`, `invocation`: an operation, whoever runs it. Source: the AI SDK, BeeAI and the Agent Development Kit. */
const OPERATION_NAME = /^(?:[a-z]\w*(?:\.[a-z][\w-]*)+|invocation)$/;
/** `AxGen > order_support`. */
const FRAME_NAME = /^\w{1,100} > (?=\S)/;

/** The name that somebody gave the agent; undefined for a span's own name and for what a framework calls any agent. */
export function givenAgentName({ agentName, agentNameIsGuess }: SpanFacts): string | undefined {
  return agentName === undefined || agentNameIsGuess === true || frameworkNames.has(agentName.toLowerCase()) ? undefined : agentName;
}

function joinedTool(first: ToolFacts, second: ToolFacts): ToolFacts {
  // Arguments that one dialect could not parse are no reason to lose those of the other.
  const { arguments: _unparsed, argumentsText: _text, ...rest } = first;
  return first.arguments === null && second.arguments !== null && second.arguments !== undefined
    ? { ...second, ...rest }
    : { ...second, ...first };
}

/** The sign of a failure on a tool's span: status, exception event, `error.type`, or what the dialect says. */
export function errorOf(span: Span, tool: ToolFacts | undefined): ToolError | undefined {
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
    // Some write the message where the conventions want a type.
    errorType?.includes(' ') === true ? errorType : undefined,
  ].filter((text): text is string => text !== undefined && text !== '');
  const message = texts.find((text) => !isPhrase(text)) ?? texts[0] ?? '';
  return { message, sign, ...(type === undefined ? {} : { type }) };
}

/** The error of the tool itself, where the OpenAI Agents SDK keeps it: `{"tool_name": …, "error": …}` beside an exception of its own. */
function causeIn(data: string | undefined): string | undefined {
  const object = data === undefined ? undefined : parseContainer(data);
  const cause = isJsonObject(object) ? member(object, 'error') : undefined;
  return typeof cause === 'string' ? cause : undefined;
}

/** What frameworks say of any failure, whatever went wrong: a text that says more is better. */
export function isPhrase(message: string): boolean {
  return PHRASE.test(message);
}

/** Sources: the tool spans of the OpenAI Agents SDK, of OpenLIT and of BeeAI. */
const PHRASE =
  /^(?:error running tool(?: \(non-fatal\))?|tool execution failed|tool error|(?:unknown |internal )?error|exception|failed|failure)\.?$/i;

function resultText(tool: ToolFacts | undefined): string | undefined {
  return typeof tool?.result === 'string' ? tool.result : undefined;
}

/** Which collectors read a span. Mostly the span's keys and its scope decide, so it is found out once for all spans that share them. */
interface Readers {
  /** In the table's order. */
  readonly collectors: readonly Collector[];
  readonly ids: readonly string[];
  /** Attributes that they read. */
  readonly read: readonly string[];
  /** What takes away from all that was told. */
  readonly takes: readonly NonNullable<Collector['without']>[];
  /** Lists that they read. */
  readonly lists: readonly Flattened[];
  /** Attributes under the prefixes of these lists that are no part of an item. */
  readonly others: readonly string[];
}

/** Of so many scopes it is remembered who reads spans with the same keys. */
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

interface Remembered {
  readonly byScope: Map<string, Readers>;
  /** A span whose name begins so is recognised by it. */
  readonly namePrefixes: readonly string[];
  /** All that collectors read. The same objects for every span of the shape: what its keys say of a list is remembered by these. */
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
  const prefixes = own.flatMap(({ wants }) => wants.prefixes);
  const keys = new Set(own.flatMap(({ wants }) => wants.keys));
  const items = span.attributeKeys().filter((key) => startsWithAny(key, prefixes));
  const lists = prefixes.map((prefix) => known.find((list) => list.prefix === prefix) ?? flattened(prefix));
  const inLists = new Set(lists.flatMap((list) => outlineOf(span, list).keys.flat()));
  return {
    collectors: own,
    ids: own.map(({ id }) => id),
    takes: own.flatMap(({ without }) => without ?? []),
    read: [...items, ...span.attributeKeys().filter((key) => keys.has(key))],
    lists,
    others: items.filter((key) => !inLists.has(key)),
  };
}

/** The reader by evidence reads what no collector of an SDK claims. */
export function readersAmong(collectors: readonly Collector[], span: Span): readonly Collector[] {
  const own = collectors.filter((collector) => collector.recognisedBy.evidence === undefined && recognises(collector, span));
  if (own.some((collector) => collector.isConvention !== true)) return own;
  const all = collectors.filter((collector) => own.includes(collector) || (collector.recognisedBy.evidence?.(span) ?? false));
  return all.length === own.length ? own : all;
}
