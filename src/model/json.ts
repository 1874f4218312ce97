/** JSON values, as everything above the wire sees them. */

/** Integers outside ±2^53 are bigint, so that 1234567890123456789 and 1234567890123456788 stay different. */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Deeper values are refused: nothing that walks a value may exhaust the stack. */
export const jsonDepthMax = 128;

/** A digit run that a double may not hold. Such texts take the slower, exact way, unless they are so long that it would take too long. */
const LONG_NUMBER = /\d{16}/;
export const exactCharsMax = 500_000;
/** Longer integers are nobody's ids; making a bigint of them costs the square of their length. */
const exactDigitsMax = 400;

/** What is no JSON by its beginning is refused unread: most texts are prose, and an exception costs more than reading a short text does. */
const JSON_START = /^[ \t\n\r]*(?:["[{]|(?:-?\d[\d.eE+-]*|true|false|null)[ \t\n\r]*$)/;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value of a JSON text, or undefined when it is not JSON or is nested deeper than `jsonDepthMax`. */
export function parseJson(text: string): JsonValue | undefined {
  if (!JSON_START.test(text) || nestsTooDeep(text)) return undefined;
  try {
    return (text.length <= exactCharsMax && LONG_NUMBER.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)) as JsonValue;
  } catch {
    return undefined;
  }
}

/** As `parseJson`, but only for texts that hold an object or a list; other texts are not even tried. */
export function parseJsonContainer(text: string): JsonObject | readonly JsonValue[] | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  return parseJson(text) as JsonObject | readonly JsonValue[] | undefined;
}

/** JSON text. Bigints are written as numbers; `sortKeys` gives the same text for equal objects. */
export function jsonText(value: JsonValue, { sortKeys = false }: { readonly sortKeys?: boolean } = {}): string {
  if (!sortKeys) {
    try {
      return JSON.stringify(value) ?? 'null';
    } catch {
      // A bigint, which JSON.stringify refuses.
    }
  }
  return written(value, sortKeys);
}

function written(value: JsonValue, sortKeys: boolean): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (isJsonArray(value)) return `[${value.map((item) => written(item, sortKeys)).join(',')}]`;
  const object = value;
  const keys = Object.keys(object);
  if (sortKeys) keys.sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${written(object[key] ?? null, sortKeys)}`).join(',')}}`;
}

/** The text of a value as a person reads it: a text as it is, anything else as JSON. */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : jsonText(value);
}

/** An object's own member. `__proto__`, `constructor` and the like are ordinary names in foreign data. */
export function member(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && source.length <= exactDigitsMax && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** True: `parseJson` leaves it unread, whatever it holds. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= jsonDepthMax) return false;
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

/** The closing quote of the text that opens at `open`, or the end. Most of a JSON text lies in texts, and a search skips them quickly. */
function textEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
