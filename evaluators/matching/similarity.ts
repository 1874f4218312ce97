/** The share of an expected JSON value that another one contains, counted in leaves. Asymmetric: the expected side is the measure. */
import { isJsonArray, isJsonObject, member, parseJsonContainer, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from './equality.ts';
import { isContainer, withoutFence } from './texts.ts';
import { heaviestPairing } from './pairing.ts';

export interface SimilarityOptions {
  /** When true, leaves that only the actual value has count as unmatched. */
  readonly countExtra: boolean;
  readonly listMatch: 'position' | 'best';
  readonly text: 'edit' | 'exact';
}

export const similarityDefaults: SimilarityOptions = { countExtra: false, listMatch: 'position', text: 'edit' };

export interface LeafCount {
  readonly matched: number;
  readonly total: number;
}

/** Smaller absolute values count as zero, as relative differences are meaningless there. */
const zero = 1e-12;
const nothing: LeafCount = { matched: 0, total: 0 };

export function matchedLeaves(
  expected: JsonValue,
  actual: JsonValue | undefined,
  options: SimilarityOptions = similarityDefaults,
): LeafCount {
  const [e, a] = asValues(expected, actual);
  return counted(e, a, options);
}

/** matched / total; 1 without leaves. */
export function similarity(expected: JsonValue, actual: JsonValue | undefined, options: SimilarityOptions = similarityDefaults): number {
  const { matched, total } = matchedLeaves(expected, actual, options);
  return total === 0 ? 1 : matched / total;
}

/** Parses a string beside an object or list, fenced or not, and two strings that both contain one. */
function asValues(expected: JsonValue, actual: JsonValue | undefined): readonly [JsonValue, JsonValue | undefined] {
  if (typeof expected === 'string' && typeof actual === 'string') {
    const [e, a] = [parseJsonContainer(expected), parseJsonContainer(actual)];
    return e === undefined || a === undefined ? [expected, actual] : [e, a];
  }
  if (typeof expected === 'string')
    return [isContainer(actual) ? (parseJsonContainer(withoutFence(expected)) ?? expected) : expected, actual];
  return [expected, typeof actual === 'string' && isContainer(expected) ? (parseJsonContainer(withoutFence(actual)) ?? actual) : actual];
}

function counted(expected: JsonValue, actual: JsonValue | undefined, options: SimilarityOptions): LeafCount {
  if (isJsonArray(expected))
    return isJsonArray(actual) ? countedList(expected, actual, options) : { matched: 0, total: leavesOf(expected) };
  if (isJsonObject(expected))
    return isJsonObject(actual) ? countedObject(expected, actual, options) : { matched: 0, total: leavesOf(expected) };
  return { matched: actual === undefined ? 0 : leafMatch(expected, actual, options), total: 1 };
}

function countedObject(expected: JsonObject, actual: JsonObject, options: SimilarityOptions): LeafCount {
  const common = sum(Object.keys(expected).map((key) => counted(expected[key] ?? null, member(actual, key), options)));
  if (!options.countExtra) return common;
  const extra = Object.keys(actual).filter((key) => !Object.hasOwn(expected, key));
  return { matched: common.matched, total: common.total + extra.reduce((leaves, key) => leaves + leavesOf(actual[key] ?? null), 0) };
}

function countedList(expected: readonly JsonValue[], actual: readonly JsonValue[], options: SimilarityOptions): LeafCount {
  const partners =
    options.listMatch === 'best' ? bestPartners(expected, actual, options) : expected.map((_, at) => (at < actual.length ? at : undefined));
  const common = sum(expected.map((item, at) => counted(item, itemAt(actual, partners[at]), options)));
  if (!options.countExtra) return common;
  const taken = new Set(partners);
  const extra = actual.reduce<number>((leaves, item, at) => (taken.has(at) ? leaves : leaves + leavesOf(item)), 0);
  return { matched: common.matched, total: common.total + extra };
}

function bestPartners(
  expected: readonly JsonValue[],
  actual: readonly JsonValue[],
  options: SimilarityOptions,
): readonly (number | undefined)[] {
  const { pairs } = heaviestPairing(
    expected.length,
    actual.length,
    (e, a) => counted(expected[e] ?? null, itemAt(actual, a), options).matched,
  );
  const partners: (number | undefined)[] = expected.map(() => undefined);
  for (const pair of pairs) partners[pair.expected] = pair.actual;
  return partners;
}

function itemAt(list: readonly JsonValue[], at: number | undefined): JsonValue | undefined {
  return at === undefined ? undefined : list[at];
}

function leafMatch(expected: JsonValue, actual: JsonValue, options: SimilarityOptions): number {
  if (typeof expected === 'string' && typeof actual === 'string' && options.text === 'edit') return textSimilarity(expected, actual);
  if (isNumber(expected) && isNumber(actual)) return jsonEqual(expected, actual) ? 1 : nearness(Number(expected), Number(actual));
  return jsonEqual(expected, actual) ? 1 : 0;
}

function nearness(expected: number, actual: number): number {
  if (Math.abs(expected) < zero) return Math.abs(actual) < zero ? 1 : 0;
  return Math.max(0, 1 - Math.abs(expected - actual) / Math.abs(expected));
}

function isNumber(value: JsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function leavesOf(value: JsonValue): number {
  if (isJsonArray(value)) return value.reduce<number>((leaves, item) => leaves + leavesOf(item), 0);
  if (isJsonObject(value)) return Object.keys(value).reduce((leaves, key) => leaves + leavesOf(value[key] ?? null), 0);
  return 1;
}

function sum(counts: readonly LeafCount[]): LeafCount {
  return counts.reduce((all, one) => ({ matched: all.matched + one.matched, total: all.total + one.total }), nothing);
}

/** Limit in code points; longer strings compare by equality, as the work is the product of the lengths. */
export const editTextMax = 2_000;

/** Insertions, deletions and replacements between two texts. */
export function editDistance(a: string, b: string): number {
  const [short, long] = byLength(codePoints(a), codePoints(b));
  /** Distances of the prefixes of the shorter text from the current prefix of the longer one. */
  const row = Uint32Array.from({ length: short.length + 1 }, (_, at) => at);
  for (const [before, point] of long.entries()) {
    let diagonal = before;
    let left = before + 1;
    row[0] = left;
    for (let column = 0; column < short.length; column++) {
      const above = row[column + 1] ?? 0;
      left = Math.min(short[column] === point ? diagonal : diagonal + 1, above + 1, left + 1);
      row[column + 1] = left;
      diagonal = above;
    }
  }
  return row[short.length] ?? 0;
}

/** 1 for equal texts, 0 for texts with nothing in common: 1 − distance / length of the longer. Over `editTextMax`: 1 or 0. */
export function textSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const longest = Math.max(codePointLength(a), codePointLength(b));
  if (longest > editTextMax) return 0;
  return (longest - editDistance(a, b)) / longest;
}

export function codePointLength(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function codePoints(text: string): readonly number[] {
  const points: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    points.push(point);
    if (point > 0xffff) at++;
  }
  return points;
}

function byLength<List extends readonly unknown[]>(a: List, b: List): readonly [List, List] {
  return a.length <= b.length ? [a, b] : [b, a];
}
