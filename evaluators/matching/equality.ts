/**
 * Equality of JSON values. Objects compare by key set, lists in order, strings by code points without Unicode normalisation. Numbers are one type (1
 * = 1.0, exact beyond 2^53), and booleans are not numbers. Null differs from a missing key.
 */
import { isJsonArray, isJsonObject, jsonDepthMax, sortedKeys, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** Tolerance for strings; keys are compared exactly. */
export interface TextTolerance {
  readonly trimStrings: boolean;
  readonly caseInsensitive: boolean;
}

const exactText: TextTolerance = { trimStrings: false, caseInsensitive: false };

export function jsonEqual(a: JsonValue, b: JsonValue, tolerance: TextTolerance = exactText): boolean {
  return equal(a, b, tolerance, 0);
}

/** Texts are equal exactly for equal values, so each value is written once for many comparisons. */
export function canonicalText(value: JsonValue, tolerance: TextTolerance = exactText): string {
  return written(value, tolerance, 0);
}

/** A string under the tolerance. */
export function toleratedText(text: string, tolerance: TextTolerance): string {
  const trimmed = tolerance.trimStrings ? text.trim() : text;
  return tolerance.caseInsensitive ? foldedCase(trimmed) : trimmed;
}

/** Agrees with the canonical texts, but stops at the first difference. */
function equal(a: JsonValue, b: JsonValue, tolerance: TextTolerance, depth: number): boolean {
  if (depth > jsonDepthMax) throw tooDeep();
  if (typeof a === 'string') return typeof b === 'string' && (a === b || toleratedText(a, tolerance) === toleratedText(b, tolerance));
  if (typeof a === 'number' || typeof a === 'bigint') return equalNumbers(a, b);
  if (isJsonArray(a))
    return isJsonArray(b) && a.length === b.length && a.every((item, at) => equal(item, b[at] ?? null, tolerance, depth + 1));
  if (!isJsonObject(a)) return a === b;
  if (!isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => equalMembers(a, b, key, tolerance, depth + 1));
}

/** Fast path for members that are equal strings or numbers. */
function equalMembers(a: JsonObject, b: JsonObject, key: string, tolerance: TextTolerance, depth: number): boolean {
  const one = a[key];
  const other = b[key];
  if (one === other && typeof one !== 'object' && one !== undefined) return true;
  return Object.hasOwn(b, key) && equal(one ?? null, other ?? null, tolerance, depth);
}

function equalNumbers(a: number | bigint, b: JsonValue): boolean {
  if (typeof a === typeof b) return a === b || Object.is(a, b);
  const [number, whole] = typeof a === 'bigint' ? [b, a] : [a, b];
  return typeof number === 'number' && typeof whole === 'bigint' && Number.isInteger(number) && BigInt(number) === whole;
}

function tooDeep(): RangeError {
  return new RangeError(`a value is nested deeper than ${jsonDepthMax}`);
}

function written(value: JsonValue, tolerance: TextTolerance, depth: number): string {
  if (depth > jsonDepthMax) throw tooDeep();
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(toleratedText(value, tolerance));
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (isJsonArray(value)) return `[${value.map((item) => written(item, tolerance, depth + 1)).join(',')}]`;
  return writtenObject(value, tolerance, depth);
}

function writtenObject(object: JsonObject, tolerance: TextTolerance, depth: number): string {
  const members = sortedKeys(object).map((key) => `${JSON.stringify(key)}:${written(object[key] ?? null, tolerance, depth + 1)}`);
  return `{${members.join(',')}}`;
}

/** Writes whole numbers in full, so 1e20 equals the bigint 100000000000000000000; -0 is 0. */
function numberText(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : String(value);
}

/**
 * Folds code point by code point, upper then lower, and keeps a mapping only while it stays one code point. So sharp s is not ss, both
 * small sigmas are equal, and dotted capital I is i.
 */
function foldedCase(text: string): string {
  let folded = '';
  for (const point of text)
    folded += oneToOne(
      oneToOne(point, (p) => p.toUpperCase()),
      lowered,
    );
  return folded;
}

/** The only capital letter whose full lower case has two code points; its simple mapping is i. */
function lowered(point: string): string {
  return point === '\u0130' ? 'i' : point.toLowerCase();
}

function oneToOne(point: string, map: (point: string) => string): string {
  const mapped = map(point);
  return [...mapped].length === 1 ? mapped : point;
}
