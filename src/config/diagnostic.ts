/** Faults of a configuration, at most one for each place. They never contain a secret. */
import { JuryError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';

export interface ConfigFault {
  readonly file: string;
  /** Line number from 1; 0 for a fault without a line. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** `closing.settle`, `evaluators[2].use`; empty for a fault of the whole file. */
  readonly key: string;
  readonly problem: string;
  readonly todo: string;
  /** The line itself, secrets masked. */
  readonly source: string;
}

/** A fault without its line: the path in the value, and whether the key or the value is wrong. */
export interface Finding {
  readonly path: Path;
  readonly at: 'key' | 'value';
  readonly problem: string;
  readonly todo: string;
}

export function finding(path: Path, at: Finding['at'], problem: string, todo: string): Finding {
  return { path, at, problem, todo };
}

export type Path = readonly (string | number)[];

/** CONFIG_INVALID with every fault. */
export class ConfigError extends JuryError {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const first = faults[0];
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    super('CONFIG_INVALID', first === undefined ? '' : `${first.file}:${first.line}:${first.column} ${first.key}: ${first.problem}${more}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Writes a path as `evaluators[2].sample.rate` and quotes names that are not plain words. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** For values that the schema may have refused: gives an empty object for any other value. */
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

/** Makes an object without a prototype: `__proto__` is a legal name in foreign data. */
export function ownMembers(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const object = Object.create(null) as { [key: string]: JsonValue };
  for (const [name, value] of entries) object[name] = value;
  return object;
}

/** The object with this member, in the place of another one of the name. */
export function withMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  return ownMembers([...Object.entries(object).map(([name, item]) => [name, name === key ? value : item] as const), [key, value]]);
}
