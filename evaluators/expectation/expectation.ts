/** Reads and writes the wire form of an expectation: `expect` in the configuration, and the attribute `tracejury.expected`. */
import { snakeCase } from '../configuration/define.ts';
import type { Fault, ExpectedPart, JsonSchema } from '../evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { readExpectedMessages } from './messages.ts';
import type { Expectation, ExpectedToolCall, ExpectedToolOutput, ExpectedCount, ExpectedMessage } from '../../src/model/expectation.ts';

interface ReadExpectation {
  /** The readable members. A member with a fault is left out whole, as a partial list would expect something else. */
  readonly expectation: Expectation;
  readonly faults: readonly Fault[];
}

/** The members of an expectation. */
export const expectationNames = [
  'tool_calls',
  'tool_outputs',
  'tool_calls_count',
  'tool_calls_order',
  'messages',
  'tasks',
  'constraints',
  'plan',
  'output',
  'context',
  'search_text',
  'by_turn',
] as const;

/** Limit of entries per list. */
const entriesMax = 1_000;

export function readExpectation(value: JsonValue): ReadExpectation {
  const faults: Fault[] = [];
  if (!isJsonObject(value)) return { expectation: {}, faults: [{ path: [], problem: 'must be an object' }] };
  const readers: { readonly [Name in (typeof expectationNames)[number]]: (given: JsonValue) => Expectation } = {
    tool_calls: (given) => ({ toolCalls: listOf(given, ['tool_calls'], faults, toolCall) }),
    tool_outputs: (given) => ({ toolOutputs: listOf(given, ['tool_outputs'], faults, toolOutput) }),
    tool_calls_count: (given) => ({ toolCallsCount: readCounts(given, ['tool_calls_count'], faults) }),
    tool_calls_order: (given) => ({ toolCallsOrder: listOf(given, ['tool_calls_order'], faults, text) }),
    messages: (given) => ({ messages: readExpectedMessages(given, ['messages'], faults) }),
    tasks: (given) => ({ tasks: listOf(given, ['tasks'], faults, text) }),
    constraints: (given) => optional('constraints', text(given, ['constraints'], faults)),
    plan: (given) => ({ plan: listOf(given, ['plan'], faults, text) }),
    output: (given) => ({ output: given }),
    context: (given) => optional('context', contextTexts(given, faults)),
    search_text: (given) => optional('searchText', searchText(given, ['search_text'], faults)),
    by_turn: (given) => ({ byTurn: listOf(given, ['by_turn'], faults, turn) }),
  };
  let expectation: Expectation = {};
  for (const [key, given] of Object.entries(value)) {
    const name = expectationNames.find((one) => one === key);
    const reader = name === undefined ? undefined : readers[name];
    const before = faults.length;
    const read = reader?.(given);
    if (read === undefined) faults.push({ path: [key], problem: `is not known; known are ${expectationNames.join(', ')}` });
    else if (faults.length === before) expectation = { ...expectation, ...read };
  }
  return { expectation, faults };
}

type Path = Fault['path'];

function listOf<Item>(
  value: JsonValue,
  path: Path,
  faults: Fault[],
  read: (item: JsonValue, path: Path, faults: Fault[]) => Item | undefined,
): readonly Item[] {
  if (!isJsonArray(value) || value.length > entriesMax) {
    faults.push({ path, problem: isJsonArray(value) ? `has more than ${entriesMax} entries` : 'must be a list' });
    return [];
  }
  return value.flatMap((item, at) => {
    const one = read(item, [...path, at], faults);
    return one === undefined ? [] : [one];
  });
}

/** `null` means that the turn has no expectation. */
function turn(value: JsonValue, path: Path, faults: Fault[]): Expectation {
  const read = value === null ? { expectation: {}, faults: [] } : readExpectation(value);
  faults.push(
    ...read.faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] })),
    ...(read.expectation.byTurn === undefined ? [] : [{ path: [...path, 'by_turn'], problem: 'cannot stand inside a turn' }]),
  );
  return read.expectation;
}

function toolCall(value: JsonValue, path: Path, faults: Fault[]): ExpectedToolCall | undefined {
  const entry = named(value, path, faults, ['name', 'arguments', 'result', 'tool_id']);
  if (entry === undefined) return undefined;
  const sent = member(entry.object, 'arguments');
  if (sent !== undefined && sent !== null && !isJsonObject(sent))
    faults.push({ path: [...path, 'arguments'], problem: 'must be an object' });
  return {
    name: entry.name,
    ...(isJsonObject(sent) ? { arguments: sent } : {}),
    ...optional('result', member(entry.object, 'result')),
    ...optional('toolId', entry.toolId),
  };
}

function toolOutput(value: JsonValue, path: Path, faults: Fault[]): ExpectedToolOutput | undefined {
  const entry = named(value, path, faults, ['name', 'output', 'tool_id']);
  if (entry === undefined) return undefined;
  const output = member(entry.object, 'output');
  if (output === undefined) faults.push({ path: [...path, 'output'], problem: 'is missing' });
  return { name: entry.name, output: output ?? null, ...optional('toolId', entry.toolId) };
}

interface Named {
  readonly object: JsonObject;
  readonly name: string;
  readonly toolId: string | undefined;
}

function named(value: JsonValue, path: Path, faults: Fault[], known: readonly string[]): Named | undefined {
  if (!isJsonObject(value)) {
    faults.push({ path, problem: 'must be an object with a name' });
    return undefined;
  }
  for (const key of Object.keys(value))
    if (!known.includes(key)) faults.push({ path: [...path, key], problem: `is not known; known are ${known.join(', ')}` });
  const name = member(value, 'name');
  const toolId = member(value, 'tool_id');
  if (toolId !== undefined && toolId !== null && typeof toolId !== 'string')
    faults.push({ path: [...path, 'tool_id'], problem: 'must be a text' });
  if (typeof name === 'string' && name.trim() !== '')
    return { object: value, name, toolId: typeof toolId === 'string' ? toolId : undefined };
  faults.push({ path: [...path, 'name'], problem: name === undefined ? 'is missing' : 'must be a text that is not blank' });
  return undefined;
}

function text(value: JsonValue, path: Path, faults: Fault[]): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return value;
  faults.push({ path, problem: 'must be a text that is not blank' });
  return undefined;
}

/** One or several texts. */
function contextTexts(value: JsonValue, faults: Fault[]): readonly string[] | undefined {
  if (typeof value !== 'string') return listOf(value, ['context'], faults, text);
  const one = text(value, ['context'], faults);
  return one === undefined ? undefined : [one];
}

/** One or several texts, which may be empty. */
function searchText(value: JsonValue, path: Path, faults: Fault[]): string | readonly string[] | undefined {
  if (typeof value === 'string') return value;
  if (isJsonArray(value) && value.length > 0 && value.length <= entriesMax && value.every((one) => typeof one === 'string')) return value;
  faults.push({ path, problem: `must be a text, or a list of 1 to ${entriesMax} texts` });
  return undefined;
}

/** The member; nothing when it has no value. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}

/** True when an expectation states a part. An empty list states nothing, except that no tool is to be called. */
const isStated: { readonly [part in ExpectedPart]: (expected: Expectation) => boolean } = {
  tool_calls: ({ toolCalls }) => toolCalls !== undefined,
  'tool_calls.arguments': ({ toolCalls = [] }) => toolCalls.some((call) => call.arguments !== undefined),
  'tool_calls.result': ({ toolCalls = [] }) => toolCalls.some(({ result }) => result !== undefined),
  tool_outputs: ({ toolOutputs = [] }) => toolOutputs.length > 0,
  tool_calls_count: ({ toolCallsCount }) => toolCallsCount !== undefined,
  tool_calls_order: ({ toolCallsOrder }) => toolCallsOrder !== undefined,
  messages: ({ messages = [] }) => messages.length > 0,
  tasks: ({ tasks = [] }) => tasks.length > 0,
  constraints: ({ constraints }) => constraints !== undefined,
  plan: ({ plan = [] }) => plan.length > 0,
  output: ({ output }) => output !== undefined,
  context: ({ context = [] }) => context.length > 0,
  search_text: ({ searchText }) => searchText !== undefined,
  by_turn: ({ byTurn = [] }) => byTurn.length > 0,
};

export const expectedParts = Object.keys(isStated) as readonly ExpectedPart[];

/** In table order: a part precedes its refinements. */
export function statedParts(expected: Expectation): readonly ExpectedPart[] {
  return expectedParts.filter((part) => isStated[part](expected));
}

/** The part that this one refines; arguments refine calls. */
export function refinedPart(part: ExpectedPart): ExpectedPart | undefined {
  return part.startsWith('tool_calls.') ? 'tool_calls' : undefined;
}

/** A schema without members accepts every part. */
export function schemaParts(schema: JsonSchema | undefined): readonly ExpectedPart[] {
  if (schema === undefined) return [];
  const properties = member(schema, 'properties');
  return isJsonObject(properties)
    ? expectedParts.filter((part) => Object.hasOwn(properties, refinedPart(part) ?? part))
    : expectedParts.filter((part) => part !== 'by_turn');
}

type CountRange = Omit<ExpectedCount, 'name'>;

const comparators = ['=', '==', '!=', '>', '>=', '<', '<='] as const;
type Comparator = (typeof comparators)[number];

/** Forms of a count besides a plain number. */
const countForms: readonly JsonSchema[] = [
  { type: 'string', pattern: '^\\s*(==?|!=|>=?|<=?)?\\s*-?\\d{1,9}\\s*$' },
  { type: 'array', minItems: 2, maxItems: 2, prefixItems: [{ enum: [...comparators] }, { type: 'integer' }] },
  { type: 'object', additionalProperties: false, minProperties: 1, properties: { min: { type: 'integer' }, max: { type: 'integer' } } },
];

/** Schema of a count; `readCount` names its faults. */
export const countSchema: JsonSchema = { anyOf: [{ type: 'integer' }, ...countForms] };

/** The same for options, where an impossible number is a fault. */
export const timesSchema: JsonSchema = { anyOf: [{ type: 'integer', minimum: 0 }, ...countForms] };

const toolsMax = 1_000;

function readCounts(value: JsonValue, path: Fault['path'], faults: Fault[]): readonly ExpectedCount[] {
  if (!isJsonObject(value) || Object.keys(value).length > toolsMax) {
    faults.push({ path, problem: isJsonObject(value) ? `names more than ${toolsMax} tools` : 'must be an object of counts by tool name' });
    return [];
  }
  return Object.entries(value).flatMap(([name, given]) => {
    const range = readCount(given);
    if (typeof range === 'string') faults.push({ path: [...path, name], problem: range });
    return typeof range === 'string' ? [] : [{ name, ...range }];
  });
}

/** The range, or the fault in words. */
export function readCount(value: JsonValue): CountRange | string {
  if (typeof value === 'number') return rangeOf('=', value);
  if (typeof value === 'string') {
    const [, comparator = '=', count] = /^\s*([=!<>]*)\s*(-?\d{1,9})\s*$/.exec(value) ?? [];
    return rangeOf(comparator === '' ? '=' : comparator, count === undefined ? NaN : Number(count));
  }
  if (isJsonArray(value) && value.length === 2) return rangeOf(value[0], value[1]);
  if (!isJsonObject(value)) return 'must be a number, a text like ">=2", a list like [">=", 2], or an object with min or max';
  const [least, most] = [member(value, 'min'), member(value, 'max')];
  const keys = Object.keys(value);
  if (keys.length === 0 || keys.some((key) => key !== 'min' && key !== 'max')) return 'must have min, max or both, and nothing else';
  if ([least, most].some((bound) => bound !== undefined && !Number.isSafeInteger(bound))) return 'must have whole numbers as min and max';
  if (typeof least === 'number' && typeof most === 'number' && least > most) return 'has a min that is greater than its max';
  return { ...(typeof least === 'number' ? { least } : {}), ...(typeof most === 'number' ? { most } : {}) };
}

export function isWithin(count: number, { least, most, not }: CountRange): boolean {
  return (least === undefined || count >= least) && (most === undefined || count <= most) && count !== not;
}

/** The range in words: `2`, `at least 1`, `1 to 3`. */
export function rangeText({ least, most, not }: CountRange): string {
  if (not !== undefined) return `any number but ${not}`;
  if (least !== undefined && most !== undefined) return least === most ? String(least) : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? 'any number' : `at most ${most}`;
}

function rangeOf(comparator: JsonValue | undefined, count: JsonValue | undefined): CountRange | string {
  if (!isComparator(comparator)) return `must compare by one of ${comparators.join(', ')}`;
  if (typeof count !== 'number' || !Number.isSafeInteger(count)) return 'must hold a whole number';
  switch (comparator) {
    case '=':
    case '==':
      return { least: count, most: count };
    case '!=':
      return { not: count };
    case '>':
      return { least: count + 1 };
    case '>=':
      return { least: count };
    case '<':
      return { most: count - 1 };
    case '<=':
      return { most: count };
  }
}

function isComparator(value: JsonValue | undefined): value is Comparator {
  return comparators.some((one) => one === value);
}

/** Writers of the members; the wire name follows from the name. */
const writers: { readonly [Name in keyof Expectation]-?: (expectation: Expectation) => JsonValue | undefined } = {
  toolCalls: ({ toolCalls }) => toolCalls?.map(writtenTool),
  toolOutputs: ({ toolOutputs }) => toolOutputs?.map(writtenTool),
  toolCallsCount: ({ toolCallsCount }) => toolCallsCount && Object.fromEntries(toolCallsCount.map((one) => [one.name, writtenCount(one)])),
  toolCallsOrder: ({ toolCallsOrder }) => toolCallsOrder,
  messages: ({ messages }) => messages?.map(writtenMessage),
  tasks: ({ tasks }) => tasks,
  constraints: ({ constraints }) => constraints,
  plan: ({ plan }) => plan,
  output: ({ output }) => output,
  context: ({ context }) => context,
  searchText: ({ searchText }) => searchText,
  byTurn: ({ byTurn }) => byTurn?.map(writtenExpectation),
};

export function writtenExpectation(expectation: Expectation): JsonObject {
  const names = Object.keys(expectation) as readonly (keyof Expectation)[];
  return Object.fromEntries(
    names.flatMap((name) => {
      // Keeps unknown members, so that the reader reports them.
      const written = Object.hasOwn(writers, name) ? writers[name](expectation) : null;
      return written === undefined ? [] : [[snakeCase(name), written] as const];
    }),
  );
}

function writtenTool({ toolId, ...tool }: ExpectedToolCall | ExpectedToolOutput): JsonValue {
  return { ...tool, ...(toolId === undefined ? {} : { tool_id: toolId }) };
}

function writtenCount({ least, most, not }: ExpectedCount): JsonValue {
  if (not !== undefined) return ['!=', not];
  return { ...(least === undefined ? {} : { min: least }), ...(most === undefined ? {} : { max: most }) };
}

function writtenMessage({ role, toolCalls }: ExpectedMessage): JsonValue {
  return { role, tool_calls: toolCalls.map(writtenTool) };
}
