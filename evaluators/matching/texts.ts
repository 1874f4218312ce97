/** Texts and values as the text evaluators compare them. */
import { isJsonArray, isJsonObject, jsonText, parseJson, parseJsonContainer } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from './equality.ts';
import { withoutFence } from './outputs.ts';

/** Whether case counts for a text, and for the texts inside an object or list. */
export interface CaseRule {
  readonly text: boolean;
  readonly inside: boolean;
}

export const caseCounts: CaseRule = { text: true, inside: true };

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
