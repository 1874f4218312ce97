/** The value at a path of the output satisfies a condition. A path without a match fails every operator except not_exists. */
import { unreachable } from '../src/model/ids.ts';
import {
  isJsonArray,
  isJsonObject,
  jsonDepthMax,
  jsonText,
  nestsTooDeep,
  parseJson,
  plainText,
  type JsonValue,
} from '../src/model/json.ts';
import { skipped, type Skipped } from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import type { EvaluationContext } from './evaluator.ts';
import { jsonEqual } from './matching/equality.ts';
import { readJsonPath, atPath, isDefinite, lengthOf, ordered, pathStepsMax, type JsonPath } from './matching/json-path.ts';
import { withoutFence } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { rule, choice, option, required, type OptionsOf } from './configuration/define.ts';

type Order = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte';

const options = {
  path: required(
    {
      type: 'string',
      format: 'json-path',
      maxLength: 1000,
      description:
        'A JSONPath; the `$` may be left out. Known are child (`.a`, `["a"]`), index (`[0]`, `[-1]`), slice (`[1:3]`), wildcard (`*`), recursive descent (`..a`), filter (`[?(@.a == 1 && !@.b)]` with == != < <= > >= && || !) and `length()` at the end. A path that can find several values gives a list. Required.',
    },
    '$',
  ),
  operator: choice(
    [
      ...(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'exists', 'not_exists', 'contains', 'matches'] as const),
      ...(['length_eq', 'length_ne', 'length_gt', 'length_gte', 'length_lt', 'length_lte'] as const),
    ],
    'Comparison of the found values with the value. Numbers, texts and booleans have an order among their own kind. in and not_in want a list. contains: an item of a list, a key of an object or a part of a text. matches: a regular expression, searched anywhere. length_…: the length of a list, object or text.',
    'exists',
  ),
  value: option<JsonValue>({ description: 'The value to compare with. Required except for exists and not_exists.' }, null),
  ...targetOptions,
};

type Options = OptionsOf<typeof options>;
type Operator = Options['operator'];

export const jsonPath = rule({
  id: 'json_path',
  version: 3,
  summary: 'The output has the wanted value at a JSONPath.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options,
  conditions: {
    if: { required: ['operator'], properties: { operator: { not: { enum: ['exists', 'not_exists'] } } } },
    then: { required: ['value'] },
    allOf: [
      {
        if: { required: ['operator'], properties: { operator: { const: 'matches' } } },
        then: { properties: { value: { type: 'string', format: 're2' } } },
      },
    ],
  },
  source: 'Sentinel AI jsonPath, reading text outputs, with null as a value and more operators',
  evaluate({ trace }, options, context) {
    const read = readJsonPath(options.path);
    if (read.kind === 'broken')
      return { kind: 'failed', error: 'broken_path', explanation: `The path ${quoted(options.path)} ${read.problem}.` };
    return checked(trace, options, (value) => finding(read.path, value, options, context));
  },
});

/** Limit of UTF-16 units of the value in the details. */
const excerptMax = 500;

function finding(path: JsonPath, output: JsonValue, options: Options, context: EvaluationContext): Finding | Skipped {
  const { operator, value } = options;
  const root = typeof output === 'string' ? (parseJson(withoutFence(output)) ?? output) : output;
  if (typeof root === 'string' && /^[[{]/.test(withoutFence(root).trimStart()) && nestsTooDeep(withoutFence(root)))
    return skipped('too_large', `The output nests deeper than the ${jsonDepthMax} levels that are read.`);
  // A missing output must not satisfy a check of a field.
  const found = output === null ? ({ kind: 'missing' } as const) : atPath(path, root);
  if (found.kind === 'too_much')
    return skipped('too_large', `The path ${quoted(options.path)} looks at more than ${pathStepsMax} values of the output.`);
  const about = { operator, value, found: found.kind === 'found' };
  if (found.kind === 'missing') {
    const passed = operator === 'not_exists' && output !== null;
    return {
      score: rational(passed ? 1 : 0),
      says: output === null ? 'is null, so there is nothing to look into' : `has nothing at ${quoted(options.path)}`,
      details: about,
    };
  }
  if (operator === 'matches' && typeof found.value === 'string' && found.value.length > searchedTextMax)
    return skipped('too_large', `The text at ${quoted(options.path)} is longer than the ${searchedTextMax} characters that are searched.`);
  const exists = isDefinite(path) || path.isLength || !isJsonArray(found.value) || found.value.length > 0;
  const passed =
    operator === 'exists' || operator === 'not_exists' ? exists === (operator === 'exists') : holds(operator, found.value, value, context);
  const text = jsonText(found.value);
  return {
    score: rational(passed ? 1 : 0),
    says: `has ${quoted(plainText(found.value))} at ${quoted(options.path)}${passed ? '' : `, which is not ${wanted(operator, value)}`}`,
    details: { ...about, actual: text.length <= excerptMax ? found.value : `${text.slice(0, excerptMax)}…` },
  };
}

function wanted(operator: Operator, value: JsonValue): string {
  return operator === 'exists' || operator === 'not_exists' ? `what ${operator} wants` : `${operator} ${quoted(plainText(value))}`;
}

function holds(
  operator: Exclude<Operator, 'exists' | 'not_exists'>,
  actual: JsonValue,
  value: JsonValue,
  context: EvaluationContext,
): boolean {
  switch (operator) {
    case 'in':
      return isJsonArray(value) && value.some((one) => jsonEqual(one, actual));
    case 'not_in':
      return isJsonArray(value) && !value.some((one) => jsonEqual(one, actual));
    case 'contains':
      return contains(actual, value);
    case 'matches':
      return typeof value === 'string' && typeof actual !== 'object' && context.pattern(value).test(plainText(actual));
    case 'length_eq':
    case 'length_ne':
    case 'length_gt':
    case 'length_gte':
    case 'length_lt':
    case 'length_lte': {
      const length = lengthOf(actual);
      return length !== undefined && compares(withoutPrefix(operator), length, value);
    }
    default:
      return compares(operator, actual, value);
  }
}

function withoutPrefix(operator: `length_${Order}`): Order {
  return operator.slice('length_'.length) as Order;
}

function compares(operator: Order, actual: JsonValue, value: JsonValue): boolean {
  if (operator === 'eq' || operator === 'ne') return jsonEqual(actual, value) === (operator === 'eq');
  const order = ordered(actual, value);
  if (order === undefined) return false;
  switch (operator) {
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    default:
      return unreachable(operator);
  }
}

function contains(actual: JsonValue, value: JsonValue): boolean {
  if (isJsonArray(actual)) return actual.some((one) => jsonEqual(one, value));
  if (typeof value !== 'string') return false;
  return isJsonObject(actual) ? Object.hasOwn(actual, value) : typeof actual === 'string' && actual.includes(value);
}
