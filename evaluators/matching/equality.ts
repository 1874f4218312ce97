/**
 * The one equality of JSON values: objects by key set, lists in order, one number type (1 = 1.0, exact beyond 2^53), booleans are
 * not numbers, null is a value and differs from a missing key, texts by code points without Unicode normalisation.
 */
import { isJsonArray, jsonDepthMax } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

/** How texts are compared. Keys are never trimmed or folded. */
export interface TextTolerance {
  readonly trimStrings: boolean;
  readonly caseInsensitive: boolean;
}

const exactText: TextTolerance = { trimStrings: false, caseInsensitive: false };

export function jsonEqual(a: JsonValue, b: JsonValue, tolerance: TextTolerance = exactText): boolean {
  return canonicalText(a, tolerance) === canonicalText(b, tolerance);
}

/** Equal values have equal texts and different values have different ones, so that many comparisons cost one text each. */
export function canonicalText(value: JsonValue, tolerance: TextTolerance = exactText): string {
  return written(value, tolerance, 0);
}

/** A text as the tolerance sees it. */
export function toleratedText(text: string, tolerance: TextTolerance): string {
  const trimmed = tolerance.trimStrings ? text.trim() : text;
  return tolerance.caseInsensitive ? foldedCase(trimmed) : trimmed;
}

function written(value: JsonValue, tolerance: TextTolerance, depth: number): string {
  if (depth > jsonDepthMax) throw new RangeError(`a value is nested deeper than ${jsonDepthMax}`);
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(toleratedText(value, tolerance));
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (isJsonArray(value)) return `[${value.map((item) => written(item, tolerance, depth + 1)).join(',')}]`;
  return writtenObject(value, tolerance, depth);
}

function writtenObject(object: JsonObject, tolerance: TextTolerance, depth: number): string {
  const members = Object.keys(object).sort().map((key) => `${JSON.stringify(key)}:${written(object[key] ?? null, tolerance, depth + 1)}`);
  return `{${members.join(',')}}`;
}

/** Whole numbers are written in full, so that 1e20 and 100000000000000000000 (a bigint) agree; -0 is 0. */
function numberText(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value).toString() : String(value);
}

/**
 * Folds code point by code point, upper then lower, and keeps a mapping only while it stays one code point: so sharp s is not ss,
 * both small sigmas are equal, and dotted capital I is i.
 */
function foldedCase(text: string): string {
  let folded = '';
  for (const point of text) folded += oneToOne(oneToOne(point, (p) => p.toUpperCase()), lowered);
  return folded;
}

/** The only capital whose full lower case is two code points; its simple mapping is i. */
function lowered(point: string): string {
  return point === '\u0130' ? 'i' : point.toLowerCase();
}

function oneToOne(point: string, map: (point: string) => string): string {
  const mapped = map(point);
  return [...mapped].length === 1 ? mapped : point;
}
