/** What is wrong with a configuration, one fault a place, all of them at once. Nothing here ever holds a secret's value. */
import { JuryError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';

export interface ConfigFault {
  readonly file: string;
  /** From 1; 0 where there is no text with lines. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** `closing.settle`, `evaluators[2].use`; empty when it concerns the file as a whole. */
  readonly key: string;
  readonly problem: string;
  readonly todo: string;
  /** The line itself, secrets masked. */
  readonly source: string;
}

/** The place of a fault before it has a file and a line: a JSON pointer's parts, and whether the key or its value is meant. */
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

/** `evaluators[2].sample.rate`; names that are no plain words are quoted. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

// Members of a configuration's value, for code that copes with parts that the schema has refused: what is not there is empty.

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
