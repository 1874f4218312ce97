/** Members of objects that SDKs write, as one hopes to find them. */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Attributed } from '../../src/model/span.ts';
import { parseContainer } from './parsing.ts';

/** An object without members, which replaces any other value. */
export const nothing: JsonObject = {};

/** The object that the text under a key holds. */
export function objectIn(from: Attributed, key: string): JsonObject {
  const value = from.attribute(key);
  return objectOf(typeof value === 'string' ? parseContainer(value) : undefined);
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : nothing;
}

/** The text under a key, unless it is empty. */
export function textIn(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** As `textIn`, or the number as its text. */
export function idIn(object: JsonObject, key: string): string | undefined {
  return textIn(object, key) ?? numberText(member(object, key));
}

export function numberText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
