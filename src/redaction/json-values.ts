/** The texts, numbers and names of members within a JSON value, each put through a change. */
import { isJsonArray, isJsonObject, jsonDepthMax, type JsonObject, type JsonValue } from '../model/json.ts';

export interface Rewriting {
  readonly text: (text: string) => string;
  readonly name: (name: string) => string;
  /** In the place of what is nested deeper than any JSON text that is read. */
  readonly tooDeep: JsonValue;
}

/** The same value, and within it the same parts, where nothing changes. */
export function rewrittenJson(value: JsonValue, changes: Rewriting, depth = 0): JsonValue {
  switch (typeof value) {
    case 'string':
      return changes.text(value);
    case 'number':
    case 'bigint': {
      const text = String(value);
      const changed = changes.text(text);
      return changed === text ? value : changed;
    }
    default:
      if (!isJsonArray(value) && !isJsonObject(value)) return value;
      if (depth > jsonDepthMax) return changes.tooDeep;
      return isJsonArray(value) ? rewrittenList(value, changes, depth) : rewrittenObject(value, changes, depth);
  }
}

function rewrittenList(list: readonly JsonValue[], changes: Rewriting, depth: number): readonly JsonValue[] {
  const items = list.map((item) => rewrittenJson(item, changes, depth + 1));
  return items.every((item, at) => item === list[at]) ? list : items;
}

function rewrittenObject(object: JsonObject, changes: Rewriting, depth: number): JsonObject {
  let changed = false;
  const members = Object.entries(object).map(([name, value]) => {
    const member = { name, newName: changes.name(name), value: rewrittenJson(value, changes, depth + 1) };
    changed ||= member.newName !== name || member.value !== value;
    return member;
  });
  if (!changed) return object;
  const taken = new Map<string, number>(members.filter(({ name, newName }) => name === newName).map(({ name }) => [name, 1]));
  return Object.fromEntries(members.map(({ name, newName, value }) => [name === newName ? name : freeName(newName, taken), value]));
}

/** Names that have become the same are numbered, so that each member stays. `taken`: the last number of each name. */
function freeName(name: string, taken: Map<string, number>): string {
  let number = taken.get(name) ?? 0;
  let free = name;
  while (taken.has(free)) free = `${name} (${++number})`;
  taken.set(name, Math.max(number, 1));
  taken.set(free, taken.get(free) ?? 1);
  return free;
}
