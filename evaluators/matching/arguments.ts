/**
 * Compares the arguments of a call with the expected ones. Modes describe the expectation: `subset` means that the expected members are a subset of
 * the sent ones. Only the top level follows the mode; nested values compare as a whole.
 */
import { type JsonObject, type JsonValue, isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { Option } from '../configuration/define.ts';
import type { JsonSchema } from '../evaluator.ts';
import { canonicalText, jsonEqual, type TextTolerance } from './equality.ts';

export type ArgumentMode = 'exact' | 'subset' | 'superset' | 'ignore';

/** A comparison by a program. Not called for arguments that are not an object. */
export type ArgumentMatcher = (expected: JsonObject, actual: JsonObject) => boolean;

export interface ArgumentRule extends TextTolerance {
  readonly mode: ArgumentMode;
  /** Overrides the other members. */
  readonly matcher?: ArgumentMatcher;
  /** The only compared paths, dotted, in any mode. */
  readonly fields?: readonly string[];
}

export interface ArgumentOptions extends ArgumentRule {
  /** By tool: a mode, a matcher, or the differing members of a rule. */
  readonly overrides: { readonly [tool: string]: ArgumentMode | ArgumentMatcher | Partial<ArgumentRule> };
}

export const argumentDefaults: ArgumentOptions = { mode: 'exact', trimStrings: false, caseInsensitive: false, overrides: {} };

const ruleProperties: JsonObject = {
  mode: {
    enum: ['exact', 'subset', 'superset', 'ignore'],
    description: 'exact: the same members. subset: at least the expected ones. superset: no others than the expected ones. ignore: any.',
  },
  trim_strings: { type: 'boolean', description: 'White space around texts does not count.' },
  case_insensitive: { type: 'boolean', description: 'Upper and lower case of texts do not count.' },
  fields: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    minItems: 1,
    maxItems: 100,
    description: 'Compare only these paths, written with dots.',
  },
};

const argumentOptionsSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  description: 'Comparison of arguments.',
  properties: {
    ...ruleProperties,
    overrides: {
      type: 'object',
      maxProperties: 1000,
      description: 'By tool name: a mode, or a separate rule.',
      additionalProperties: {
        anyOf: [
          { enum: ['exact', 'subset', 'superset', 'ignore'] },
          { type: 'object', additionalProperties: false, properties: ruleProperties },
        ],
      },
    },
  },
};

/** The option for the comparison of arguments. A program may pass functions as rules. */
export function argumentOptions(preset = argumentDefaults): Option<ArgumentOptions> {
  return { schema: argumentOptionsSchema, preset, functions: ['matcher', 'overrides.*', 'overrides.*.matcher'] };
}

/** Canonical texts of arguments, for many comparisons. */
export interface PreparedArguments {
  /** `undefined` when the arguments are not an object. */
  readonly members: ReadonlyMap<string, string> | undefined;
}

/** The rule of a tool: its override on top of the default. */
export function argumentRule(options: ArgumentOptions, tool: string): ArgumentRule {
  const override = Object.hasOwn(options.overrides, tool) ? options.overrides[tool] : undefined;
  if (override === undefined) return options;
  // The common matcher does not apply to a tool with its own rule.
  const { matcher: _common, ...rest } = options;
  if (typeof override === 'function') return { ...rest, matcher: override };
  return typeof override === 'string' ? { ...rest, mode: override } : { ...rest, ...override };
}

export function preparedArguments(value: JsonObject | null, rule: ArgumentRule): PreparedArguments {
  if (value === null) return { members: undefined };
  const selected = selectedArguments(value, rule);
  const members = new Map<string, string>();
  for (const key of Object.keys(selected)) members.set(key, canonicalText(selected[key] ?? null, rule));
  return { members };
}

/** The compared arguments: all, or the values at the rule's paths, under those paths. */
export function selectedArguments(value: JsonObject, { fields }: ArgumentRule): JsonObject {
  if (fields === undefined) return value;
  return Object.fromEntries(
    fields.flatMap((field) => {
      const at = valueAt(value, field);
      return at === undefined ? [] : [[field, at] as const];
    }),
  );
}

/** Requires the same rule for both sides. Arguments that are not an object match only an expectation without arguments. */
export function argumentsMatch(expected: PreparedArguments, actual: PreparedArguments, rule: ArgumentRule): boolean {
  if (rule.mode === 'ignore' && rule.fields === undefined) return true;
  if (expected.members === undefined) return false;
  if (actual.members === undefined) return rule.mode === 'subset' && expected.members.size === 0;
  if (rule.fields !== undefined || rule.mode === 'exact')
    return expected.members.size === actual.members.size && contains(actual.members, expected.members);
  return rule.mode === 'subset' ? contains(actual.members, expected.members) : contains(expected.members, actual.members);
}

/** As `argumentsMatch`, for a pair that is compared once. */
export function argumentsAgree(expected: JsonObject | null, actual: JsonObject | null, rule: ArgumentRule): boolean {
  if (rule.matcher !== undefined) return expected !== null && actual !== null && matcherSays(rule.matcher, expected, actual);
  if (rule.mode === 'ignore' && rule.fields === undefined) return true;
  if (expected === null) return false;
  const wanted = selectedArguments(expected, rule);
  if (actual === null) return rule.mode === 'subset' && Object.keys(wanted).length === 0;
  const sent = selectedArguments(actual, rule);
  if (rule.fields !== undefined || rule.mode === 'exact') return jsonEqual(wanted, sent, rule);
  return rule.mode === 'subset' ? hasMembers(sent, wanted, rule) : hasMembers(wanted, sent, rule);
}

function matcherSays(matcher: ArgumentMatcher, expected: JsonObject, actual: JsonObject): boolean {
  const said: unknown = matcher(expected, actual);
  if (typeof said !== 'boolean') throw new TypeError('a matcher must give true or false');
  return said;
}

/** The first differing member in words; `undefined` when the arguments match. */
export function argumentDifference(
  expected: PreparedArguments,
  actual: PreparedArguments,
  rule: ArgumentRule,
): { readonly path: string; readonly problem: 'missing' | 'unexpected' | 'different' | 'not_an_object' } | undefined {
  if (argumentsMatch(expected, actual, rule)) return undefined;
  if (expected.members === undefined || actual.members === undefined) return { path: '', problem: 'not_an_object' };
  for (const [key, text] of expected.members) {
    const sent = actual.members.get(key);
    if (sent === undefined) {
      if (rule.mode !== 'superset' || rule.fields !== undefined) return { path: key, problem: 'missing' };
    } else if (sent !== text) return { path: key, problem: 'different' };
  }
  for (const key of actual.members.keys()) if (!expected.members.has(key)) return { path: key, problem: 'unexpected' };
  return undefined;
}

function contains(whole: ReadonlyMap<string, string>, part: ReadonlyMap<string, string>): boolean {
  for (const [key, text] of part) if (whole.get(key) !== text) return false;
  return true;
}

function hasMembers(whole: JsonObject, part: JsonObject, rule: ArgumentRule): boolean {
  return Object.keys(part).every((key) => Object.hasOwn(whole, key) && jsonEqual(part[key] ?? null, whole[key] ?? null, rule));
}

/** A member with the literal name wins over the path. */
function valueAt(value: JsonObject, path: string): JsonValue | undefined {
  return Object.hasOwn(value, path) ? value[path] : valueAtSteps(value, path.split('.'));
}

/** Descends by member names and list indices. */
export function valueAtSteps(value: JsonValue, steps: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const step of steps) at = isJsonArray(at) ? at[Number(step)] : isJsonObject(at) ? member(at, step) : undefined;
  return at;
}
