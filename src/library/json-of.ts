/** Values of a program as JSON values: what JSON.stringify makes of them, with big integers kept exact. */
import { isJsonArray, jsonDepthMax, type JsonValue } from '../model/json.ts';

/** Undefined where JSON has nothing: undefined itself, functions, symbols. Throws a TypeError for values nested without end. */
export function jsonOf(value: unknown): JsonValue | undefined {
  return read(value, '', 0);
}

function read(given: unknown, key: string, depth: number): JsonValue | undefined {
  if (depth > jsonDepthMax) throw new TypeError(`A value is nested deeper than ${jsonDepthMax} levels, or holds itself.`);
  const value = written(given, key);
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'object':
      return value === null ? null : container(value, depth);
    default:
      return undefined;
  }
}

function container(value: object, depth: number): JsonValue {
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list !== undefined) return list.map((item, at) => read(item, String(at), depth + 1) ?? null);
  // Maps are how programs hold arguments with names from outside.
  const entries: readonly (readonly [unknown, unknown])[] = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.flatMap(([name, item]) => {
      const inner = read(item, String(name), depth + 1);
      return inner === undefined ? [] : [[String(name), inner] as const];
    }),
  );
}

/** Dates and the like say themselves how they are written. */
function written(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || isJsonArray(value) || !('toJSON' in value) || typeof value.toJSON !== 'function')
    return value;
  return (value.toJSON as (key: string) => unknown).call(value, key);
}
