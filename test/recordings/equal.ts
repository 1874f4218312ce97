/** Loosened JSON equality, as recordings are compared: texts that hold JSON count as the value, lists of text parts as their text. */
import { isJsonArray, isJsonObject, parseJson, type JsonValue } from '../../src/model/json.ts';

export function isEqual(left: unknown, right: unknown): boolean {
  const a = loosened(left as JsonValue);
  const b = loosened(right as JsonValue);
  if (isJsonArray(a) && isJsonArray(b)) return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
  }
  return a === b;
}

function loosened(value: JsonValue | undefined): JsonValue | undefined {
  if (
    isJsonArray(value) &&
    value.length > 0 &&
    value.every((part) => isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
  ) {
    return loosened(value.map((part) => (part as { readonly text: string }).text).join(''));
  }
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  const parsed = parseJson(trimmed);
  return parsed === undefined ? trimmed : typeof parsed === 'string' ? parsed.trim() : parsed;
}
