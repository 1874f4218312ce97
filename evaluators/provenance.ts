/**
 * Where the values of arguments come from: found in the input, the system prompt or the result of an earlier call, literally up to
 * case and white space. Calls of one model turn do not see each other's results.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, parseJsonContainer } from '../src/model/json.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { PlacedCall } from './calls.ts';

export interface Traced {
  readonly placed: PlacedCall;
  /** Values in the arguments; true, false, null and empty values need no source and are not counted. */
  readonly values: number;
  readonly ungrounded: readonly UngroundedValue[];
}

export interface UngroundedValue {
  /** Members and indexes, written with dots. */
  readonly path: string;
  readonly value: string;
}

/** Characters of all sources, and what searching them for every different value may cost. */
const sourceCharsMax = 2_000_000;
const searchedCharsMax = 200_000_000;

/** Undefined: the run is too large to be searched. Only calls with arguments are told of. */
export function tracedCalls(trace: AgentTrace, calls: readonly PlacedCall[]): readonly Traced[] | undefined {
  const sources = sourcesOf(trace);
  if (sources === undefined) return undefined;
  const wanted = calls.flatMap((placed) => {
    const values = argumentValues(placed);
    return values === undefined ? [] : [{ placed, values }];
  });
  const distinct = new Set(wanted.flatMap(({ values }) => values.map(({ value }) => value)));
  if (distinct.size * sources.text.length > searchedCharsMax) return undefined;
  const first = new Map([...distinct].map((value) => [value, firstPlace(sources, value)]));
  return wanted.map(({ placed, values }) => {
    const known = sources.knownTo[placed.index] ?? 0;
    return { placed, values: values.length, ungrounded: values.filter(({ value }) => (first.get(value) ?? Infinity) >= known) };
  });
}

/** A source was cut short: what is not found in the rest of it may have stood in what is missing. */
export function lacksSources({ truncated, toolCalls }: AgentTrace): boolean {
  return truncated?.some((part) => part === 'input' || part === 'system_prompt') === true || toolCalls.some((call) => call.truncated?.result !== undefined);
}

interface Sources {
  /** All sources in order. */
  readonly text: string;
  /** By call, up to where the text was known when it was asked for. */
  readonly knownTo: readonly number[];
  /** Where each number stands first. */
  readonly numbers: ReadonlyMap<number, number>;
}

function sourcesOf({ systemPrompt = '', input = '', toolCalls }: AgentTrace): Sources | undefined {
  let text = `${plain(systemPrompt)}\n${plain(input)}\n`;
  const knownTo: number[] = [];
  for (const [at, { result, turn, error }] of toolCalls.entries()) {
    const sameTurn = turn !== undefined && turn === toolCalls[at - 1]?.turn ? knownTo[at - 1] : undefined;
    knownTo.push(sameTurn ?? text.length);
    const told = [...(result === undefined ? [] : leavesOf(result)), ...(error === undefined ? [] : [{ path: '', value: error.message }])];
    text += `${told.map(({ value }) => plain(value)).join('\n')}\n`;
    if (text.length > sourceCharsMax) return undefined;
  }
  return { text, knownTo, numbers: numbersIn(text) };
}

/** Undefined: the spans carry no arguments of this call. What was sent but is no object is one value. */
function argumentValues({ call }: PlacedCall): readonly UngroundedValue[] | undefined {
  if (call.arguments === undefined || call.arguments === null) return call.argumentsText === undefined ? undefined : [{ path: '', value: plain(call.argumentsText) }];
  return leavesOf(call.arguments, false).map(({ path, value }) => ({ path, value: plain(value) })).filter(({ value }) => value !== '');
}

interface Leaf {
  readonly path: string;
  readonly value: string;
}

/** Texts and numbers in a value. Of sources also the names of members, and what a text holds as JSON. */
function leavesOf(value: JsonValue, isSource = true): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const open: { readonly path: string; readonly value: JsonValue }[] = [{ path: '', value: isSource && typeof value === 'string' ? (parseJsonContainer(value) ?? value) : value }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value: one } = next;
    const entries = isJsonArray(one) ? [...one.entries()] : isJsonObject(one) ? Object.entries(one) : [];
    for (const [key, item] of entries.toReversed()) open.push({ path: path === '' ? String(key) : `${path}.${key}`, value: item });
    if (isSource && isJsonObject(one)) for (const [key] of entries) leaves.push({ path, value: String(key) });
    if (typeof one === 'string' || typeof one === 'number' || typeof one === 'bigint') leaves.push({ path, value: String(one) });
  }
  return leaves;
}

/** Thousands are written with commas by people and without by programs. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim().replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '');
}

function numbersIn(text: string): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  for (const { 0: digits, index } of text.matchAll(/\d+(?:\.\d+)?/g)) {
    for (const number of [Number(digits), ...(text[index - 1] === '-' ? [-Number(digits)] : [])]) if (!numbers.has(number)) numbers.set(number, index);
  }
  return numbers;
}

/** A text counts where no letter or digit touches it; a number wherever the same number stands. */
function firstPlace({ text, numbers }: Sources, value: string): number {
  const number = /^-?\d{1,15}(?:\.\d+)?$/.test(value) ? numbers.get(Number(value)) : undefined;
  let at = text.indexOf(value);
  while (at !== -1 && isTouched(text, at, at + value.length)) at = text.indexOf(value, at + 1);
  return Math.min(number ?? Infinity, at === -1 ? Infinity : at);
}

function isTouched(text: string, from: number, to: number): boolean {
  return /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, from - 2), from)) || /^[\p{L}\p{N}]/u.test(text.slice(to, to + 2));
}
