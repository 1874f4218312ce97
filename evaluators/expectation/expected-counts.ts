/** How often tools are to be called, as `expect.tool_calls_count` writes it: `3`, `">=2"`, `[">=", 2]` or `{min: 1, max: 3}`. */
import type { ExpectedCount } from '../../src/model/expectation.ts';
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import type { JsonSchema, Fault } from '../evaluator.ts';

export type CountRange = Omit<ExpectedCount, 'name'>;

const comparators = ['=', '==', '!=', '>', '>=', '<', '<='] as const;
type Comparator = (typeof comparators)[number];

/** What one count may be besides a plain number. */
const countForms: readonly JsonSchema[] = [
  { type: 'string', pattern: '^\\s*(==?|!=|>=?|<=?)?\\s*-?\\d{1,9}\\s*$' },
  { type: 'array', minItems: 2, maxItems: 2, prefixItems: [{ enum: [...comparators] }, { type: 'integer' }] },
  { type: 'object', additionalProperties: false, minProperties: 1, properties: { min: { type: 'integer' }, max: { type: 'integer' } } },
];

/** What one count may be; `readCount` says what is wrong with one. */
export const countSchema: JsonSchema = { anyOf: [{ type: 'integer' }, ...countForms] };

/** The same where a number that nothing can have is a mistake. */
export const timesSchema: JsonSchema = { anyOf: [{ type: 'integer', minimum: 0 }, ...countForms] };

const toolsMax = 1_000;

export function readCounts(value: JsonValue, path: Fault['path'], faults: Fault[]): readonly ExpectedCount[] {
  if (!isJsonObject(value) || Object.keys(value).length > toolsMax) {
    faults.push({ path, problem: isJsonObject(value) ? `names more than ${toolsMax} tools` : 'must be an object of counts by tool name' });
    return [];
  }
  return Object.entries(value).flatMap(([name, given]) => {
    const range = readCount(given);
    if (typeof range === 'string') faults.push({ path: [...path, name], problem: range });
    return typeof range === 'string' ? [] : [{ name, ...range }];
  });
}

/** The range, or what is wrong, in words. */
export function readCount(value: JsonValue): CountRange | string {
  if (typeof value === 'number') return rangeOf('=', value);
  if (typeof value === 'string') {
    const [, comparator = '=', count] = /^\s*([=!<>]*)\s*(-?\d{1,9})\s*$/.exec(value) ?? [];
    return rangeOf(comparator === '' ? '=' : comparator, count === undefined ? NaN : Number(count));
  }
  if (isJsonArray(value) && value.length === 2) return rangeOf(value[0], value[1]);
  if (!isJsonObject(value)) return 'must be a number, a text like ">=2", a list like [">=", 2], or an object with min or max';
  const [least, most] = [member(value, 'min'), member(value, 'max')];
  const keys = Object.keys(value);
  if (keys.length === 0 || keys.some((key) => key !== 'min' && key !== 'max')) return 'must have min, max or both, and nothing else';
  if ([least, most].some((bound) => bound !== undefined && !Number.isSafeInteger(bound))) return 'must have whole numbers as min and max';
  if (typeof least === 'number' && typeof most === 'number' && least > most) return 'has a min that is greater than its max';
  return { ...(typeof least === 'number' ? { least } : {}), ...(typeof most === 'number' ? { most } : {}) };
}

export function isWithin(count: number, { least, most, not }: CountRange): boolean {
  return (least === undefined || count >= least) && (most === undefined || count <= most) && count !== not;
}

/** The range as a person reads it: `2`, `at least 1`, `1 to 3`. */
export function rangeText({ least, most, not }: CountRange): string {
  if (not !== undefined) return `any number but ${not}`;
  if (least !== undefined && most !== undefined) return least === most ? String(least) : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? 'any number' : `at most ${most}`;
}

function rangeOf(comparator: JsonValue | undefined, count: JsonValue | undefined): CountRange | string {
  if (!isComparator(comparator)) return `must compare by one of ${comparators.join(', ')}`;
  if (typeof count !== 'number' || !Number.isSafeInteger(count)) return 'must hold a whole number';
  switch (comparator) {
    case '=':
    case '==':
      return { least: count, most: count };
    case '!=':
      return { not: count };
    case '>':
      return { least: count + 1 };
    case '>=':
      return { least: count };
    case '<':
      return { most: count - 1 };
    case '<=':
      return { most: count };
  }
}

function isComparator(value: JsonValue | undefined): value is Comparator {
  return comparators.some((one) => one === value);
}
