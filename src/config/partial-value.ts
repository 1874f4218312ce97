/** Members of a configuration's value, for code that copes with parts that the schema has refused: what is not there is empty. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';

export function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objectAt(from: JsonObject, key: string): JsonObject {
  return asObject(member(from, key));
}

export function listAt(from: JsonObject, key: string): readonly JsonValue[] {
  const value = member(from, key);
  return isJsonArray(value) ? value : [];
}
