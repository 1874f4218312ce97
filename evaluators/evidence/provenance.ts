/**
 * Sources of argument values: the input, the system prompt, or the result of an earlier call. The search is literal except for case and
 * white space. Calls of one model turn do not know each other's results.
 */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, parseJsonContainer, type JsonValue } from '../../src/model/json.ts';
import type { PlacedCall } from './calls.ts';
import { singleSpaced } from '../explain/explanation.ts';

export interface Traced {
  readonly placed: PlacedCall;
  /** Number of values; true, false, null and empty values need no source and do not count. */
  readonly values: number;
  readonly ungrounded: readonly UngroundedValue[];
  /** True when a value occurs within words too often to be searched to the end. */
  readonly isUnsearched: boolean;
}

export interface UngroundedValue {
  /** Member names and indices, separated by dots. */
  readonly path: string;
  readonly value: string;
}

/** Limits of UTF-16 units in all sources, and of the cost of searching all different values. */
const sourceCharsMax = 2_000_000;
const searchedCharsMax = 200_000_000;
/** Limit of steps over occurrences within words, for all values of a run. */
const touchedStepsMax = 20_000_000;
/** Steps per such occurrence, beside the units of the value. */
const touchedPlaceSteps = 20;

const NUMBER = /^-?\d{1,15}(?:\.\d+)?$/;
const THOUSANDS = /\d,\d{3}/;

/** `undefined` when the run is too large to search. Contains only calls with arguments. */
export function tracedCalls(trace: AgentTrace, calls: readonly PlacedCall[]): readonly Traced[] | undefined {
  const sources = sourcesOf(trace);
  if (sources === undefined) return undefined;
  const wanted = calls.flatMap((placed) => {
    const values = argumentValues(placed);
    return values === undefined ? [] : [{ placed, values }];
  });
  const { text, knownTo } = sources;
  /** Distinct values, and the position up to which each is searched: what the last call with it knew. */
  const until = new Map<string, number>();
  for (const { placed, values } of wanted)
    for (const { value } of values) until.set(value, Math.max(until.get(value) ?? 0, knownTo[placed.index] ?? 0));
  if (until.size * text.length > searchedCharsMax) return undefined;
  const numbers = [...until.keys()].some((value) => NUMBER.test(value)) ? numbersIn(text) : new Map<number, number>();
  const work = { steps: touchedStepsMax };
  // Long values first: a letter that occurs in every word does not exclude other values.
  const longestFirst = [...until].toSorted(([one], [other]) => other.length - one.length);
  const first = new Map(longestFirst.map(([value, to]) => [value, firstPlace(text.slice(0, to), numbers, value, work)]));
  return wanted.map(({ placed, values }) => {
    const known = knownTo[placed.index] ?? 0;
    const places = values.map((one) => ({ one, place: first.get(one.value) ?? Infinity }));
    return {
      placed,
      values: values.length,
      ungrounded: places.flatMap(({ one, place }) => (place >= known ? [one] : [])),
      isUnsearched: places.some(({ place }) => Number.isNaN(place)),
    };
  });
}

/** A source was truncated, so a missing value may occur in the lost part. */
export function lacksSources({ truncated, toolCalls }: AgentTrace): boolean {
  return (
    truncated?.some((part) => part === 'input' || part === 'system_prompt') === true ||
    toolCalls.some((call) => call.truncated?.result !== undefined)
  );
}

interface Sources {
  /** All sources, concatenated in order. */
  readonly text: string;
  /** By call: end of the text that was known at its request. */
  readonly knownTo: readonly number[];
}

function sourcesOf({ systemPrompt = '', input = '', toolCalls }: AgentTrace): Sources | undefined {
  let text = `${plain(systemPrompt)}\n${plain(input)}\n`;
  const knownTo: number[] = [];
  for (const [at, { result, turn, error }] of toolCalls.entries()) {
    const sameTurn = turn !== undefined && turn === toolCalls[at - 1]?.turn ? knownTo[at - 1] : undefined;
    knownTo.push(sameTurn ?? text.length);
    const texts = result === undefined ? [] : plainTexts(result);
    if (error !== undefined) texts.push(plain(error.message));
    text += `${texts.join('\n')}\n`;
    if (text.length > sourceCharsMax) return undefined;
  }
  return { text, knownTo };
}

/** `undefined` when the spans carry no arguments of the call. Arguments that are not an object are one value. */
function argumentValues({ call }: PlacedCall): readonly UngroundedValue[] | undefined {
  if (call.arguments === undefined || call.arguments === null)
    return call.argumentsText === undefined ? undefined : [{ path: '', value: plain(call.argumentsText) }];
  return leavesOf(call.arguments);
}

/** Non-blank strings and numbers in a value. */
function leavesOf(whole: JsonValue): readonly UngroundedValue[] {
  const leaves: UngroundedValue[] = [];
  const open: { readonly path: string; readonly value: JsonValue }[] = [{ path: '', value: whole }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (isLeaf(value)) {
      const text = plain(String(value));
      if (text !== '') leaves.push({ path, value: text });
    } else if (isJsonArray(value) || isJsonObject(value)) {
      for (const [key, item] of Object.entries(value).reverse()) open.push({ path: path === '' ? key : `${path}.${key}`, value: item });
    }
  }
  return leaves;
}

/** Strings and numbers in a source, member names and JSON in strings included. */
function plainTexts(source: JsonValue): string[] {
  const texts: string[] = [];
  const open: JsonValue[] = [typeof source === 'string' ? (parseJsonContainer(source) ?? source) : source];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (isLeaf(value)) texts.push(plain(String(value)));
    else if (isJsonArray(value)) for (let at = value.length - 1; at >= 0; at--) open.push(value[at] ?? null);
    else if (isJsonObject(value)) {
      const names = Object.keys(value);
      for (const name of names) texts.push(plain(name));
      for (let at = names.length - 1; at >= 0; at--) open.push(value[names[at] ?? ''] ?? null);
    }
  }
  return texts;
}

function isLeaf(value: JsonValue): value is string | number | bigint {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

/** Removes thousands separators, which people write and programs do not. */
function plain(text: string): string {
  const bare = singleSpaced(text.toLowerCase()).trim();
  return THOUSANDS.test(bare) ? bare.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '') : bare;
}

/** First position of each number. */
function numbersIn(text: string): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  for (const { 0: digits, index } of text.matchAll(/\d+(?:\.\d+)?/g)) {
    for (const number of [Number(digits), ...(text[index - 1] === '-' ? [-Number(digits)] : [])])
      if (!numbers.has(number)) numbers.set(number, index);
  }
  return numbers;
}

/** A string must stand between non-alphanumeric characters; a number matches any notation. NaN when the steps end first. */
function firstPlace(text: string, numbers: ReadonlyMap<number, number>, value: string, work: { steps: number }): number {
  const number = (NUMBER.test(value) ? numbers.get(Number(value)) : undefined) ?? Infinity;
  let at = text.indexOf(value);
  while (at !== -1 && at < number && isTouched(text, at, at + value.length)) {
    work.steps -= touchedPlaceSteps + value.length;
    if (work.steps < 0) return number < text.length ? number : NaN;
    at = text.indexOf(value, at + 1);
  }
  return Math.min(number, at === -1 ? Infinity : at);
}

function isTouched(text: string, from: number, to: number): boolean {
  return /[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, from - 2), from)) || /^[\p{L}\p{N}]/u.test(text.slice(to, to + 2));
}
