/** Attribute values → JSON values: texts that hold JSON or Python notation, quoted texts, lists of text parts. */
import { isJsonArray, isJsonObject, member, nestsTooDeep, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { parsePythonLiteral, pythonLiteralCharsMax } from './python-literal.ts';

/** An attribute value as a JSON value; bytes become base64. */
export function jsonOf(value: AttributeValue): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value !== 'object' || value === null || !holdsBytes(value)) return value as JsonValue;
  return isJsonArray(value) ? value.map(jsonOf) : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]));
}

function holdsBytes(value: AttributeValue): boolean {
  return typeof value === 'object' && value !== null && (value instanceof Uint8Array || Object.values(value).some(holdsBytes));
}

/** The object or list that a text holds, in JSON or in Python notation. */
export function parseContainer(text: string): JsonObject | readonly JsonValue[] | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  const value = parseJson(text) ?? parsePythonLiteral(text);
  return isJsonObject(value) || isJsonArray(value) ? value : undefined;
}

/** True when a text that `parseContainer` could not read may be an object all the same, which our limits kept unread. */
export function mayBeUnreadObject(text: string): boolean {
  return text.trimStart().startsWith('{') && (text.length > pythonLiteralCharsMax || nestsTooDeep(text));
}

/** The value of a text that holds an object, a list or a quoted text; any other text stays unchanged. */
export function parseText(text: string): JsonValue {
  const container = parseContainer(text);
  if (container !== undefined) return container;
  if (text.startsWith('"') && text.endsWith('"')) return parseJson(text) ?? text;
  return text;
}

/** The texts of `[{type: 'text', text}]` put together; undefined for any other list. */
export function textOfParts(list: readonly JsonValue[]): { readonly result: JsonValue } | undefined {
  if (list.length === 0) return undefined;
  const texts: string[] = [];
  for (const part of list) {
    if (!isJsonObject(part)) return undefined;
    const text = member(part, 'text');
    const type = member(part, 'type');
    if (typeof text !== 'string' || (type !== undefined && type !== 'text' && type !== 'output_text' && type !== 'input_text'))
      return undefined;
    if (type === undefined && Object.keys(part).length > 1) return undefined;
    texts.push(text);
  }
  return { result: texts.join('') };
}

/** The value of a text that an SDK always writes as JSON: `null`, `42` and `"42"` are three values. */
export function writtenValue(raw: string | undefined): JsonValue | undefined {
  const value = raw === undefined ? undefined : parseJson(raw);
  return value === undefined ? raw : value;
}

/** The text inside a quoted JSON text; any other text unchanged. */
export function unquotedText(raw: string | undefined): string | undefined {
  const value = raw === undefined ? undefined : parseText(raw);
  return typeof value === 'string' ? value : raw;
}

/** Texts that SDKs send in place of a value that they leave out. Such a value is not carried; the text is not an argument or an answer. */
const placeholders: ReadonlySet<string> = new Set([
  '__REDACTED__',
  '<REDACTED>',
  '[REDACTED]',
  'HIDDEN:non-empty',
  '<fully masked due to failed mask function>',
]);

/** Longer texts are not placeholders. */
const placeholderCharsMax = 199;
/** A text of more UTF-8 than this is none. */
export const placeholderBytesMax = placeholderCharsMax * 3;

/** The first characters of all placeholders: most texts need no further look. */
const openings = '_<[H';

const SCRUBBED = /^\[Scrubbed due to '[^']{1,100}'\]$/;

/** The text form of a Python object that has none: `<generator object run at 0x7f…>`. */
const ADDRESS = /^<[\w.]{1,60} object [^<>]*(?:<locals>[^<>]*)?at 0x[0-9a-f]{4,16}>$/;

/** The text that Mastra writes in place of the parts of a message: `[tool-result: find_order]`. */
const PART_NAMES = /^(?:\[tool(?:-result)?: [^[\]]{1,80}\])+$/;

/** JavaScript's text for an object, or a list of objects. */
const OBJECT_NOISE = /^\[object \w{1,60}\](?:,\[object \w{1,60}\])*$/;

export function isPlaceholder(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length <= placeholderCharsMax &&
    openings.includes(value.charAt(0)) &&
    (placeholders.has(value) || SCRUBBED.test(value) || ADDRESS.test(value) || OBJECT_NOISE.test(value) || PART_NAMES.test(value))
  );
}
