/** JSON values, as everything above the wire sees them. */
import { mayHaveHalves, wellFormed } from './well-formed.ts';

/** Integers outside ±2^53 are bigint, so large ids stay exact. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Deeper values are rejected, so no recursion exhausts the stack. */
export const jsonDepthMax = 128;

/** So many digits may exceed a double. Such texts are parsed exactly, which is slower, up to `exactCharsMax`. */
const longDigits = 16;
export const exactCharsMax = 500_000;
/** Longer integers are not ids, and the cost of a bigint grows with the square of its length. */
const exactDigitsMax = 400;

/** Most texts are prose. This test of the beginning is cheaper than an exception. */
const JSON_START = /^[ \t\n\r]*(?:["[{]|(?:-?\d[\d.eE+-]*|true|false|null)[ \t\n\r]*$)/;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * The value of a JSON text, with U+FFFD for halves of characters; `undefined` when it is not JSON, nests deeper than `jsonDepthMax` or has a number
 * beyond what a double holds.
 */
export function parseJson(text: string): JsonValue | undefined {
  if (!JSON_START.test(text) || nestsTooDeep(text)) return undefined;
  try {
    const value = (text.length <= exactCharsMax && hasLongNumber(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)) as JsonValue;
    // Looking for what may overflow is faster than a walk through a large value.
    if (!(text.length > exactCharsMax && !mayOverflow(text)) && !holdsFinite(value)) return undefined;
    return mayHaveHalves(text) ? wellFormed(value) : value;
  } catch {
    return undefined;
  }
}

const EXPONENT = /\d[eE]\+?\d/;
/** An integer of fewer digits is at most the largest double. */
const overflowDigits = 309;

function mayOverflow(text: string): boolean {
  return EXPONENT.test(text) || hasLongNumber(text, overflowDigits);
}

/** False when a number such as 1e999 became infinite. Nothing could be counted with it, and JSON cannot write it. */
export function holdsFinite(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (isJsonArray(value)) return value.every(holdsFinite);
  for (const key in value) if (!holdsFinite(value[key] ?? null)) return false;
  return true;
}

/** As `parseJson`, for objects and arrays only. */
export function parseJsonContainer(text: string): JsonObject | readonly JsonValue[] | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  return parseJson(text) as JsonObject | readonly JsonValue[] | undefined;
}

/** JSON text. Bigints become numbers. `sortKeys` gives equal objects the same text. */
export function jsonText(value: JsonValue, { sortKeys = false }: { readonly sortKeys?: boolean } = {}): string {
  if (!sortKeys) {
    try {
      return JSON.stringify(value) ?? 'null';
    } catch {
      // JSON.stringify rejects a bigint.
    }
  }
  return written(value, sortKeys);
}

function written(value: JsonValue, sortKeys: boolean): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (isJsonArray(value)) return `[${value.map((item) => written(item, sortKeys)).join(',')}]`;
  const object = value;
  const keys = sortKeys ? sortedKeys(object) : Object.keys(object);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${written(object[key] ?? null, sortKeys)}`).join(',')}}`;
}

/** The names of the members by code units. Looks first whether they are in order, as sorting makes garbage. */
export function sortedKeys(object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  for (let at = 1; at < keys.length; at++) if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return keys.sort();
  return keys;
}

/** The value as people read it: a string unchanged, anything else as JSON. */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : jsonText(value);
}

/** An own member. Names such as `__proto__` and `constructor` are ordinary in foreign data. */
export function member(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && source.length <= exactDigitsMax && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** The object under a key; an empty one for any other value. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return isJsonObject(value) ? value : {};
}

/** The text under a key; `undefined` for any other value. */
export function textAt(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}

/** The objects of a list; none when the member is not a list. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const list = member(object, key);
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

/** True when `parseJson` rejects the text for its depth. */
export function nestsTooDeep(text: string): boolean {
  if (opensFew(text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = textEnd(text, at);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > jsonDepthMax) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** True when the text has too few opening brackets to nest too deep. Searching for them is many times faster than walking over the text. */
function opensFew(text: string): boolean {
  if (text.length <= jsonDepthMax) return true;
  let left = jsonDepthMax;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (--left < 0) return false;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (--left < 0) return false;
  return true;
}

/** True when this many digits are in a row. Each such row covers one of the places looked at. */
function hasLongNumber(text: string, digits = longDigits): boolean {
  for (let at = digits - 1; at < text.length; at += digits) {
    if (!isDigit(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (end - start < digits && isDigit(text, start - 1)) start--;
    while (end - start < digits && isDigit(text, end)) end++;
    if (end - start === digits && mayBeginInteger(text, start)) return true;
  }
  return false;
}

/** False when the digits before belong to a text, such as an id, or to a fraction. */
function mayBeginInteger(text: string, start: number): boolean {
  // The row may begin further left than it was followed.
  if (isDigit(text, start - 1)) return true;
  const before = text[start - 1];
  return before !== '"' && before !== '.';
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** The closing quote of the string that opens at `open`, or the end of the text. Searching for quotes skips strings quickly. */
function textEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
