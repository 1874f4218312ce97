/**
 * Where the values of arguments come from: the input, the system prompt or the result of an earlier call. The search is literal up to
 * case and white space. Calls of one model turn do not see each other's results.
 */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, parseJsonContainer, type JsonValue } from '../../src/model/json.ts';
import type { PlacedCall } from './calls.ts';
import { singleSpaced } from '../explain/explanation.ts';

export interface Traced {
  readonly placed: PlacedCall;
  /** Values in the arguments; true, false, null and empty values need no source and are not counted. */
  readonly values: number;
  readonly ungrounded: readonly UngroundedValue[];
  /** A value of its arguments stands within words at too many places to be searched for to the end. */
  readonly isUnsearched: boolean;
}

export interface UngroundedValue {
  /** Members and indexes, written with dots. */
  readonly path: string;
  readonly value: string;
}

/** Characters of all sources, and what searching them for every different value may cost. */
const sourceCharsMax = 2_000_000;
const searchedCharsMax = 200_000_000;
/** Steps over places where a value stands within a word, for all values of a run. */
const touchedStepsMax = 20_000_000;
/** Steps of one such place, beside the characters of the value. */
const touchedPlaceSteps = 20;

const NUMBER = /^-?\d{1,15}(?:\.\d+)?$/;
const THOUSANDS = /\d,\d{3}/;

/** Undefined: the run is too large to be searched. The list holds only calls with arguments. */
export function tracedCalls(trace: AgentTrace, calls: readonly PlacedCall[]): readonly Traced[] | undefined {
  const sources = sourcesOf(trace);
  if (sources === undefined) return undefined;
  const wanted = calls.flatMap((placed) => {
    const values = argumentValues(placed);
    return values === undefined ? [] : [{ placed, values }];
  });
  const { text, knownTo } = sources;
  /** Every value once, and how far it is searched for: as far as the last call that sends it knew the text. */
  const until = new Map<string, number>();
  for (const { placed, values } of wanted)
    for (const { value } of values) until.set(value, Math.max(until.get(value) ?? 0, knownTo[placed.index] ?? 0));
  if (until.size * text.length > searchedCharsMax) return undefined;
  const numbers = [...until.keys()].some((value) => NUMBER.test(value)) ? numbersIn(text) : new Map<number, number>();
  const work = { steps: touchedStepsMax };
  // The long ones first: a letter that stands within every word keeps no other value from being searched.
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

/** A source was cut short: what is not found in the rest of it may have stood in what is missing. */
export function lacksSources({ truncated, toolCalls }: AgentTrace): boolean {
  return (
    truncated?.some((part) => part === 'input' || part === 'system_prompt') === true ||
    toolCalls.some((call) => call.truncated?.result !== undefined)
  );
}

interface Sources {
  /** All sources in order. */
  readonly text: string;
  /** By call, up to where the text was known when it was asked for. */
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

/** Undefined: the spans carry no arguments of this call. What was sent but is no object is one value. */
function argumentValues({ call }: PlacedCall): readonly UngroundedValue[] | undefined {
  if (call.arguments === undefined || call.arguments === null)
    return call.argumentsText === undefined ? undefined : [{ path: '', value: plain(call.argumentsText) }];
  return leavesOf(call.arguments);
}

/** Texts and numbers in a value that are not blank. */
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

/** Texts and numbers in a source, with the names of members, and what a text holds as JSON. */
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

/** Thousands are written with commas by people and without by programs. */
function plain(text: string): string {
  const bare = singleSpaced(text.toLowerCase()).trim();
  return THOUSANDS.test(bare) ? bare.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '') : bare;
}

/** Where each number stands first. */
function numbersIn(text: string): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  for (const { 0: digits, index } of text.matchAll(/\d+(?:\.\d+)?/g)) {
    for (const number of [Number(digits), ...(text[index - 1] === '-' ? [-Number(digits)] : [])])
      if (!numbers.has(number)) numbers.set(number, index);
  }
  return numbers;
}

/** A text counts where no letter or digit touches it; a number wherever the same number stands. NaN: the steps ended before the place was found. */
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
