/** Whether a schema is far beyond its limit, told without writing it: a definition may hold a hundred thousand properties. */
import { isJsonArray, isJsonObject, jsonDepthMax } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';

/** True: the JSON text has more characters than `max`. False says nothing, but the text is at most six times as long. */
export function isSurelyLonger(value: JsonValue, max: number): boolean {
  return left(value, max, 0) < 0;
}

/** What is left of a number of characters. Escapes are not counted, so it is too much rather than too little. */
function left(value: JsonValue, characters: number, depth: number): number {
  if (depth > jsonDepthMax) return -1;
  if (typeof value === 'string') return characters - value.length - 2;
  let rest = characters - 1;
  if (isJsonArray(value)) {
    for (const item of value) {
      if (rest < 0) break;
      rest = left(item, rest, depth + 1);
    }
  } else if (isJsonObject(value)) {
    // No list of the names: the walk ends where the characters do.
    for (const name in value) {
      if (rest < 0) break;
      if (Object.hasOwn(value, name)) rest = left(value[name] ?? null, rest - name.length - 3, depth + 1);
    }
  }
  return rest;
}
