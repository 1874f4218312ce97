/** Which part of an output is compared: the whole, the value at a path, or the values at several. */
import { isJsonArray, isJsonObject, member, parseJson, type JsonValue } from '../../src/model/json.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { option } from '../configuration/option-table.ts';
import type { Fault } from '../evaluator.ts';
import { withoutFence } from './texts.ts';
import { quoted } from '../explain/explanation.ts';

export type OutputKey = string | readonly string[];

const path = { type: 'string', minLength: 1, maxLength: 1000 } as const;
const description =
  'What of the output is compared: `*` for all, a path such as `items[0].name`, or a list of paths. A text that holds JSON is read first.';

export const outputKey = option<OutputKey>(
  { ...path, type: ['string', 'array'], minItems: 1, maxItems: 100, items: path, description },
  '*',
);
export const singleOutputKey = option<string>({ ...path, description }, '*');

export interface Picked {
  /** Undefined: nothing is at the path. Of several paths those with a value. */
  readonly value: JsonValue | undefined;
  readonly missing: readonly string[];
}

export function picked(value: JsonValue, key: OutputKey): Picked {
  if (key === '*') return { value, missing: [] };
  const whole = parsed(value);
  if (typeof key === 'string') {
    const found = valueAt(whole, key);
    return { value: found, missing: found === undefined ? [key] : [] };
  }
  const entries = key.map((path) => [path, valueAt(whole, path)] as const);
  return {
    value: Object.fromEntries(entries.flatMap(([path, found]) => (found === undefined ? [] : [[path, found] as const]))),
    missing: entries.flatMap(([path, found]) => (found === undefined ? [path] : [])),
  };
}

/** The expected side: with one path a value that is no object stands for itself. Undefined: it says nothing about a path. */
export function pickedExpectation(expected: JsonValue, key: OutputKey): JsonValue | undefined {
  if (key === '*') return expected;
  const whole = parsed(expected);
  if (!isJsonObject(whole) && !isJsonArray(whole)) return typeof key === 'string' ? expected : undefined;
  const { value, missing } = picked(whole, key);
  return missing.length === 0 ? value : undefined;
}

/** An expected output that has nothing at a key could never be met, nor missed. */
export function outputKeyFaults(
  { output }: Expectation,
  { targetOutputKey: key }: { readonly targetOutputKey: OutputKey },
): readonly Fault[] {
  if (output === undefined || pickedExpectation(output, key) !== undefined) return [];
  const whole = parsed(output);
  const missing = isJsonObject(whole) || isJsonArray(whole) ? picked(whole, key).missing : [key].flat();
  return [{ path: ['output'], problem: `has nothing at ${missing.map(quoted).join(', ')}, which options.target_output_key names` }];
}

function parsed(value: JsonValue): JsonValue {
  return typeof value === 'string' ? (parseJson(withoutFence(value)) ?? value) : value;
}

/** A member whose name is the whole path wins over the path that it spells. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (isJsonObject(value) && Object.hasOwn(value, path)) return value[path];
  let at: JsonValue | undefined = value;
  for (const step of path.split(/[.[]/)) {
    if (step === '') continue;
    const index = /^(\d+)\]$/.exec(step)?.[1];
    if (index !== undefined && isJsonArray(at)) at = at[Number(index)];
    else if (isJsonObject(at)) at = member(at, step.endsWith(']') ? step.slice(0, -1) : step);
    else return undefined;
  }
  return at;
}
