/** Texts and values as the text evaluators compare them: whole, line by line, and as the result of a tool. */
import {
  isJsonArray,
  isJsonObject,
  jsonText,
  parseJson,
  parseJsonContainer,
  type JsonValue,
  type JsonObject,
} from '../../src/model/json.ts';
import { flag, option } from '../configuration/option-table.ts';
import { jsonEqual } from './equality.ts';
import { skipped, type Skipped } from '../evidence/calls.ts';
import { mean, rational, type Rational } from './rational.ts';
import type { Finding } from '../evidence/target.ts';
import { count, listed, quoted } from '../explain/explanation.ts';

/** Whether case counts for a text, and for the texts inside an object or list. */
export interface CaseRule {
  readonly text: boolean;
  readonly inside: boolean;
}

const caseCounts: CaseRule = { text: true, inside: true };

/** The text that is searched: a text as it is, null as none, anything else as JSON. */
export function searchedText(value: JsonValue): string {
  return value === null ? '' : typeof value === 'string' ? value : jsonText(value);
}

/** Lower case, not case folding: sharp s stays itself. */
export function lowered(text: string, caseSensitive: boolean): string {
  return caseSensitive ? text : text.toLowerCase();
}

/** A text beside an object or list is read as JSON; null equals null alone. */
export function valueEqual(expected: JsonValue, actual: JsonValue, rule: CaseRule = caseCounts): boolean {
  const tolerance = { trimStrings: false, caseInsensitive: !rule.inside };
  if (typeof expected === 'string' && typeof actual === 'string') return lowered(expected, rule.text) === lowered(actual, rule.text);
  if (typeof expected === 'string')
    return isContainer(actual) && equalContainer(parseJsonContainer(withoutFence(expected)), actual, tolerance);
  if (typeof actual === 'string')
    return isContainer(expected) && equalContainer(parseJsonContainer(withoutFence(actual)), expected, tolerance);
  return jsonEqual(expected, actual, tolerance);
}

/** As `valueEqual`; besides, a number or boolean equals the text of its JSON notation. */
export function writtenEqual(expected: JsonValue, actual: JsonValue, rule: CaseRule): boolean {
  if (typeof expected === 'string' && isScalar(actual)) return lowered(expected, rule.text) === jsonText(actual);
  if (typeof actual === 'string' && isScalar(expected)) return jsonEqual(parseJson(actual) ?? null, expected);
  return valueEqual(expected, actual, rule);
}

function isContainer(value: JsonValue): boolean {
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
  line_delimiter: option({ type: 'string', minLength: 1, maxLength: 100, description: 'What separates lines.' }, '\n'),
};

/** Lines of one text. */
const linesMax = 2_000;

export function linesOf(text: string, delimiter: string): readonly string[] {
  return text.split(delimiter).filter((line) => line.trim() !== '');
}

export interface Lines {
  readonly actual: number;
  readonly expected: number;
  /** By line, whether it is as wanted. */
  readonly hits: readonly boolean[];
}

/** Needs at least one line. The words name what a line does that meets the expectation, and what one does that does not. */
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

/** A result that is null or was not carried reads as the empty text. */
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

/** The inside of a text that is one fenced code block, else the text itself. */
export function withoutFence(text: string): string {
  return /^\s*```[a-z]*\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text;
}

export type SearchMode = 'all' | 'any' | 'none';

export interface SearchRule {
  readonly match: SearchMode;
  readonly caseSensitive: boolean;
}

export interface SearchOutcome {
  readonly score: Rational;
  readonly passed: boolean;
  /** What the text does, as the rest of a sentence. */
  readonly says: string;
  readonly details: JsonObject;
}

/** At least one text is searched for. */
export function searchOutcome(text: string, texts: readonly string[], { match, caseSensitive }: SearchRule): SearchOutcome {
  const whole = lowered(text, caseSensitive);
  return tallied(texts, (one) => whole.includes(lowered(one, caseSensitive)), match);
}

/** The same for any way to find a text. all: the share that is found. none: the share that is not. any: one is enough. */
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
