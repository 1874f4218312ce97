/** The contract of a reader for test sets of other libraries, and helpers for their members. */
import { expectationNames } from '../../../evaluators/expectation/expectation.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';

export interface SetFormat {
  /** The value of `--from`. */
  readonly name: string;
  readonly summary: string;
  /** True when `read` also takes the rows of a CSV file, as objects of texts. */
  readonly isTable?: true;
  readonly read: (value: JsonValue) => ImportedSet;
}

export interface ImportedSet {
  readonly examples: readonly ImportedExample[];
  /** Faults with their place; with one, the command writes nothing. */
  readonly faults: readonly string[];
  /** Entries without a counterpart, with the reason; the command writes the others. */
  readonly leftOut: readonly string[];
}

export interface ImportedExample {
  /** Default: its number in the file. */
  readonly id?: string;
  readonly input?: JsonValue;
  readonly expect?: JsonObject;
  readonly tasks?: JsonValue;
  readonly constraints?: string;
  readonly tools?: JsonValue;
  readonly tags?: JsonValue;
  readonly split?: string;
  /** Members that only the own format has, as in files: `evaluators`, `timeout_seconds`, `review` and `origin`. */
  readonly own?: JsonObject;
  /** The other members of the entry. */
  readonly metadata?: JsonValue;
  /** The recorded run as an agent trace for `tracejury eval`. */
  readonly run?: JsonObject;
}

/** Reads a member by its snake_case name or the same in camelCase; null counts as absent. */
export function presentMember(object: JsonObject, name: string): JsonValue | undefined {
  const value = member(object, name) ?? member(object, camelCase(name));
  return value === null ? undefined : value;
}

export function presentText(object: JsonObject, name: string): string | undefined {
  const value = presentMember(object, name);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The other members without empty values; `undefined` when there are none. */
export function others(object: JsonObject, names: readonly string[]): JsonObject | undefined {
  const taken = new Set(names.flatMap((name) => [name, camelCase(name)]));
  const left = Object.entries(object).filter(([key, value]) => !taken.has(key) && !isEmpty(value));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** The object without `undefined` members; `undefined` when it is empty. */
export function filled(members: { readonly [key: string]: JsonValue | undefined }): JsonObject | undefined {
  const entries = Object.entries(members).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The value itself when it is a list, or the first member that is one. */
export function listIn(value: JsonValue, names: readonly string[]): readonly JsonValue[] | undefined {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  return names.map((name) => presentMember(value, name)).find(isJsonArray);
}

/** As `listIn`; an object with the member `of` is the only entry, as a file of JSON lines may have one line. */
export function entriesIn(value: JsonValue, names: readonly string[], of: string): readonly JsonValue[] | undefined {
  return listIn(value, names) ?? (isJsonObject(value) && presentMember(value, of) !== undefined ? [value] : undefined);
}

/** Named inputs as one: a conversation, the only text, or all of them. */
export function namedInput(inputs: JsonObject): JsonValue {
  const values = Object.values(inputs);
  const [messages, input] = [presentMember(inputs, 'messages'), presentMember(inputs, 'input')];
  if (values.length !== 1) return inputs;
  if (messages !== undefined && isJsonArray(messages)) return messages;
  return typeof values[0] === 'string' || input !== undefined ? (values[0] ?? inputs) : inputs;
}

/** Named outputs as an expectation: its own members when all names are such, else the only value as the output, or all of them. */
export function namedExpectation(outputs: JsonObject): JsonObject | undefined {
  const entries = Object.entries(outputs).filter(([, value]) => value !== null);
  const [only, ...more] = entries;
  if (only === undefined) return undefined;
  if (entries.every(([key]) => (expectationNames as readonly string[]).includes(key))) return Object.fromEntries(entries);
  return { output: more.length === 0 ? only[1] : Object.fromEntries(entries) };
}

/** Names of the members of a call in the format. */
export interface CallNames {
  readonly name: string;
  readonly arguments: string;
  readonly result?: string;
}

/** Reads a list of tool calls; a text is the name of a tool. */
export function callsIn(
  value: JsonValue | undefined,
  where: string,
  names: CallNames,
  faults: string[],
): readonly JsonObject[] | undefined {
  if (value === undefined) return undefined;
  if (!isJsonArray(value)) {
    faults.push(`${where} is not a list of tool calls`);
    return undefined;
  }
  return value.flatMap((given, at) => {
    const call = typeof given === 'string' ? { [names.name]: given } : given;
    const name = isJsonObject(call) ? presentText(call, names.name) : undefined;
    if (!isJsonObject(call) || name === undefined) {
      faults.push(`${where}[${at}] has no ${names.name}`);
      return [];
    }
    const sent = presentMember(call, names.arguments);
    if (sent !== undefined && !isJsonObject(sent)) faults.push(`${where}[${at}].${names.arguments} is not an object`);
    const result = names.result === undefined ? undefined : presentMember(call, names.result);
    return [filled({ name, arguments: isJsonObject(sent) ? sent : undefined, result }) ?? {}];
  });
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (isJsonArray(value) && value.length === 0) || (isJsonObject(value) && Object.keys(value).length === 0);
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
