/** The paths in the arguments of a tool call, and the types of the values there. Values themselves are never kept. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { processLimits, type ArgumentType } from '../../src/model/process-model.ts';

export interface ArgumentShape {
  /** Types by path. */
  readonly types: ReadonlyMap<string, ReadonlySet<ArgumentType>>;
  /** False when there are more values, deeper ones, or longer names than the walk takes, so that an absent path proves nothing. */
  readonly isWhole: boolean;
}

/** Values that are looked at in one call. */
const valuesMax = 500;
const depthMax = 8;

export function argumentShape(given: JsonObject): ArgumentShape {
  const types = new Map<string, Set<ArgumentType>>();
  let [left, isWhole] = [valuesMax, true];
  const below = (object: JsonObject, path: string, depth: number): void => {
    for (const name of Object.keys(object)) walk(object[name] ?? null, path === '' ? written(name) : `${path}.${written(name)}`, depth);
  };
  const walk = (value: JsonValue, path: string, depth: number): void => {
    if (left-- <= 0 || path.length > processLimits.text) {
      isWhole = false;
      return;
    }
    const known = types.get(path) ?? new Set();
    types.set(path, known.add(typeOf(value)));
    const isContainer = isJsonArray(value) || isJsonObject(value);
    if (isContainer && depth >= depthMax) isWhole = false;
    else if (isJsonArray(value)) for (const item of value) walk(item, `${path}[]`, depth + 1);
    else if (isJsonObject(value)) below(value, path, depth + 1);
  };
  below(given, '', 1);
  return { types, isWhole };
}

function typeOf(value: JsonValue): ArgumentType {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'number';
}

const plainName = /^[\w$-]+$/;
const topName = /^(?:[\w$-]+|"(?:[^"\\]|\\.)*")$/;

/** A name with other characters is quoted, so a dot in it divides no path. */
function written(name: string): string {
  return plainName.test(name) ? name : JSON.stringify(name.slice(0, processLimits.text + 1));
}

/** True for a member of the arguments themselves. */
export function isTopPath(path: string): boolean {
  return topName.test(path);
}
