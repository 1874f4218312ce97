/** Reads what is expected of a run from its wire form: under `expect` in the configuration, and in the attribute `tracejury.expected`. */
import type { Fault } from '../evaluator.ts';
import { isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { readCounts } from './expected-counts.ts';
import { readExpectedMessages } from './expected-messages.ts';
import type { Expectation, ExpectedToolCall, ExpectedToolOutput } from '../../src/model/expectation.ts';

export interface ReadExpectation {
  /** What could be read. A member with a fault anywhere in it is left out whole: part of a list would expect something else. */
  readonly expectation: Expectation;
  readonly faults: readonly Fault[];
}

/** What an expectation may hold. */
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

/** Entries of one list. */
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

/** Null: nothing is expected of the turn. */
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

/** One text or several. */
function contextTexts(value: JsonValue, faults: Fault[]): readonly string[] | undefined {
  if (typeof value !== 'string') return listOf(value, ['context'], faults, text);
  const one = text(value, ['context'], faults);
  return one === undefined ? undefined : [one];
}

/** One text or several; a text may be empty. */
function searchText(value: JsonValue, path: Path, faults: Fault[]): string | readonly string[] | undefined {
  if (typeof value === 'string') return value;
  if (isJsonArray(value) && value.length > 0 && value.length <= entriesMax && value.every((one) => typeof one === 'string')) return value;
  faults.push({ path, problem: `must be a text, or a list of 1 to ${entriesMax} texts` });
  return undefined;
}

/** The member, unless there is nothing to put there. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}
