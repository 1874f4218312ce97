/** Comparison of texts and values: whole, by line, as a tool's result, or at a path. */
import {
  isJsonArray,
  isJsonObject,
  jsonText,
  parseJson,
  parseJsonContainer,
  type JsonValue,
  type JsonObject,
  member,
} from '../../src/model/json.ts';
import { flag, option } from '../configuration/define.ts';
import { jsonEqual } from './equality.ts';
import { skipped, type Skipped } from '../evidence/calls.ts';
import { mean, rational, type Rational } from './rational.ts';
import type { Finding } from '../evidence/target.ts';
import { count, listed, quoted } from '../explain/explanation.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { Fault } from '../evaluator.ts';

/** Case sensitivity for strings, also inside objects and lists. */
interface CaseRule {
  readonly text: boolean;
  readonly inside: boolean;
}

const caseCounts: CaseRule = { text: true, inside: true };

/** The searched text: a string unchanged, null as empty, other values as JSON. */
export function searchedText(value: JsonValue): string {
  return value === null ? '' : typeof value === 'string' ? value : jsonText(value);
}

/** Lower case rather than case folding: sharp s stays. */
export function lowered(text: string, caseSensitive: boolean): string {
  return caseSensitive ? text : text.toLowerCase();
}

/** Parses a string beside an object or list; null equals null only. */
export function valueEqual(expected: JsonValue, actual: JsonValue, rule: CaseRule = caseCounts): boolean {
  const tolerance = { trimStrings: false, caseInsensitive: !rule.inside };
  if (typeof expected === 'string' && typeof actual === 'string') return lowered(expected, rule.text) === lowered(actual, rule.text);
  if (typeof expected === 'string')
    return isContainer(actual) && equalContainer(parseJsonContainer(withoutFence(expected)), actual, tolerance);
  if (typeof actual === 'string')
    return isContainer(expected) && equalContainer(parseJsonContainer(withoutFence(actual)), expected, tolerance);
  return jsonEqual(expected, actual, tolerance);
}

/** The same as `valueEqual`, but a number or boolean also equals its JSON text. */
export function writtenEqual(expected: JsonValue, actual: JsonValue, rule: CaseRule): boolean {
  if (typeof expected === 'string' && isScalar(actual)) return lowered(expected, rule.text) === jsonText(actual);
  if (typeof actual === 'string' && isScalar(expected)) return jsonEqual(parseJson(actual) ?? null, expected);
  return valueEqual(expected, actual, rule);
}

export function isContainer(value: JsonValue | undefined): boolean {
  return isJsonObject(value) || isJsonArray(value);
}

function isScalar(value: JsonValue): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';
}

function equalContainer(parsed: JsonValue | undefined, value: JsonValue, tolerance: Parameters<typeof jsonEqual>[2]): boolean {
  return parsed !== undefined && jsonEqual(parsed, value, tolerance);
}

export const lineOptions = {
  line_by_line: flag('Compare line by line; blank lines are dropped, and the score is the mean of the lines.'),
  line_delimiter: option({ type: 'string', minLength: 1, maxLength: 100, description: 'Separator of lines.' }, '\n'),
};

/** Limit of lines per text. */
const linesMax = 2_000;

export function linesOf(text: string, delimiter: string): readonly string[] {
  return text.split(delimiter).filter((line) => line.trim() !== '');
}

interface Lines {
  readonly actual: number;
  readonly expected: number;
  /** The lines that meet the expectation. */
  readonly hits: readonly boolean[];
}

/** Requires at least one line. `words`: verbs for lines that meet the expectation, and for others. */
export function linesFinding({ actual, expected, hits }: Lines, words: { readonly hit: string; readonly miss: string }): Finding | Skipped {
  if (hits.length > linesMax) return skipped('too_large', `${hits.length} lines are more than the ${linesMax} that are compared.`);
  const missed = hits.flatMap((hit, at) => (hit ? [] : [`line ${at + 1}`]));
  return {
    score: mean(hits.map((hit) => rational(hit ? 1 : 0))),
    says:
      missed.length === 0
        ? `${words.hit} in ${count(hits.length, 'line')} of ${hits.length}`
        : `${words.miss} in ${missed.length} of ${count(hits.length, 'line')}: ${listed(missed)}`,
    details: { line_scores: hits.map(Number), total_lines_actual: actual, total_lines_expected: expected },
  };
}

/** A result that is null or missing counts as empty. */
export function outputEqual(expected: JsonValue, actual: JsonValue | undefined): boolean {
  const wanted = expected ?? '';
  const got = actual ?? '';
  if (typeof wanted === 'string') return textEqual(wanted, got);
  if (typeof got !== 'string') return jsonEqual(wanted, got);
  const parsed = parseJson(withoutFence(got));
  return parsed !== undefined && jsonEqual(wanted, parsed);
}

function textEqual(wanted: string, got: JsonValue): boolean {
  if (typeof got === 'string') {
    if (wanted === got) return true;
    const [one, other] = [parseJsonContainer(wanted), parseJsonContainer(got)];
    return one !== undefined && other !== undefined && jsonEqual(one, other);
  }
  if (typeof got !== 'object') return wanted === jsonText(got);
  const parsed = parseJsonContainer(withoutFence(wanted));
  return parsed !== undefined && jsonEqual(parsed, got);
}

/** The content of a text that is one code block; otherwise the text. */
export function withoutFence(text: string): string {
  return /^\s*```[a-z]*\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text;
}

type SearchMode = 'all' | 'any' | 'none';

interface SearchRule {
  readonly match: SearchMode;
  readonly caseSensitive: boolean;
}

interface SearchOutcome {
  readonly score: Rational;
  readonly passed: boolean;
  /** The rest of the sentence about the text. */
  readonly says: string;
  readonly details: JsonObject;
}

/** Requires at least one text to search for. */
export function searchOutcome(text: string, texts: readonly string[], { match, caseSensitive }: SearchRule): SearchOutcome {
  const whole = lowered(text, caseSensitive);
  return tallied(texts, (one) => whole.includes(lowered(one, caseSensitive)), match);
}

/** The same as `searchOutcome`, for any search. all: share of found texts; none: share of missing ones; any: one suffices. */
export function tallied(texts: readonly string[], isFound: (text: string) => boolean, match: SearchMode): SearchOutcome {
  const found = texts.filter(isFound);
  const absent = texts.filter((one) => !found.includes(one));
  const score =
    match === 'any' ? rational(found.length > 0 ? 1 : 0) : rational(match === 'all' ? found.length : absent.length, texts.length);
  const passed = match === 'all' ? absent.length === 0 : match === 'any' ? found.length > 0 : found.length === 0;
  return { score, passed, says: inWords(found, absent, match), details: { found, absent } };
}

function inWords(found: readonly string[], absent: readonly string[], match: SearchMode): string {
  const texts = (list: readonly string[]): string => listed(list.map(quoted));
  switch (match) {
    case 'all':
      return absent.length === 0 ? `contains ${texts(found)}` : `lacks ${texts(absent)}`;
    case 'any':
      return found.length > 0 ? `contains ${texts(found)}` : `contains none of ${texts(absent)}`;
    case 'none':
      return found.length === 0 ? `contains none of ${texts(absent)}` : `contains ${texts(found)}, which it must not`;
  }
}

export type OutputKey = string | readonly string[];

const path = { type: 'string', minLength: 1, maxLength: 1000 } as const;
const description =
  'The part of the output to compare: `*` for all, a path such as `items[0].name`, or a list of paths. A text that holds JSON is read first.';

export const outputKey = option<OutputKey>(
  { ...path, type: ['string', 'array'], minItems: 1, maxItems: 100, items: path, description },
  '*',
);
export const singleOutputKey = option<string>({ ...path, description }, '*');

interface Picked {
  /** `undefined` when the path has no value; for several paths, those with a value. */
  readonly value: JsonValue | undefined;
  readonly missing: readonly string[];
}

export function picked(value: JsonValue, key: OutputKey): Picked {
  if (key === '*') return { value, missing: [] };
  const whole = parsed(value);
  if (typeof key === 'string') {
    const found = valueAt(whole, key);
    return { value: found, missing: found === undefined ? [key] : [] };
  }
  const entries = key.map((path) => [path, valueAt(whole, path)] as const);
  return {
    value: Object.fromEntries(entries.flatMap(([path, found]) => (found === undefined ? [] : [[path, found] as const]))),
    missing: entries.flatMap(([path, found]) => (found === undefined ? [path] : [])),
  };
}

/** With one path, an expected value that is not an object is the expectation itself. `undefined` when nothing is expected at a path. */
export function pickedExpectation(expected: JsonValue, key: OutputKey): JsonValue | undefined {
  if (key === '*') return expected;
  const whole = parsed(expected);
  if (!isJsonObject(whole) && !isJsonArray(whole)) return typeof key === 'string' ? expected : undefined;
  const { value, missing } = picked(whole, key);
  return missing.length === 0 ? value : undefined;
}

/** Faults of an expected output without a value at a key, which no output could meet or miss. */
export function outputKeyFaults(
  { output }: Expectation,
  { targetOutputKey: key }: { readonly targetOutputKey: OutputKey },
): readonly Fault[] {
  if (output === undefined || pickedExpectation(output, key) !== undefined) return [];
  const whole = parsed(output);
  const missing = isJsonObject(whole) || isJsonArray(whole) ? picked(whole, key).missing : [key].flat();
  return [{ path: ['output'], problem: `has nothing at ${missing.map(quoted).join(', ')}, which options.target_output_key names` }];
}

function parsed(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (parseJson(withoutFence(value)) ?? value) : value;
}

/** A member with the literal name wins over the path. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (isJsonObject(value) && Object.hasOwn(value, path)) return value[path];
  let at: JsonValue | undefined = value;
  for (const step of path.split(/[.[]/)) {
    if (step === '') continue;
    const index = /^(\d+)\]$/.exec(step)?.[1];
    if (index !== undefined && isJsonArray(at)) at = at[Number(index)];
    else if (isJsonObject(at)) at = member(at, step.endsWith(']') ? step.slice(0, -1) : step);
    else return undefined;
  }
  return at;
}
