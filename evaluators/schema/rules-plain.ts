/** Keywords that look at one value and not into it: numbers, texts, and lists of what is allowed. */
import { isJsonArray, type JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from '../matching/equality.ts';
import { patternSize, searchedTextMax } from './pattern-size.ts';
import { fail, leaveOut, spend, type Check, type Checking, type SchemaRule } from './rule.ts';

export const tooLongToSearch = `a text is longer than the ${searchedTextMax} characters that a pattern is searched in`;
/** Characters of a text, times the size of the pattern, that are searched in one step. */
const searchedPerStep = 20_000;
/** Characters of a text that are counted in one step. */
const countedPerStep = 1_000;
/** Quotients as near to a whole number as this are one: 0.3 is a multiple of 0.1. */
const multipleTolerance = 1e-10;

/** A double is near enough for types and ranges. */
export function asDouble(value: JsonValue): JsonValue {
  return typeof value === 'bigint' ? Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value))) : value;
}

function limit(keyword: string, sign: string, holds: (value: number, limit: number) => boolean): SchemaRule {
  return {
    keyword,
    on: 'number',
    check(operand) {
      const bound = Number(operand);
      return (value, place, checking) => {
        if (!holds(Number(asDouble(value)), bound))
          fail(checking, { keyword, place, params: { comparison: sign, limit: bound }, message: `must be ${sign} ${bound}` });
      };
    },
  };
}

const multipleOf: SchemaRule = {
  keyword: 'multipleOf',
  on: 'number',
  check(operand) {
    const unit = Number(operand);
    return (value, place, checking) => {
      const times = Number(asDouble(value)) / unit;
      if (!(Math.abs(Math.round(times) - times) <= multipleTolerance))
        fail(checking, { keyword: 'multipleOf', place, params: { multipleOf: unit }, message: `must be multiple of ${unit}` });
    };
  },
};

function length(keyword: string, says: string, holds: (length: number, limit: number) => boolean): SchemaRule {
  return {
    keyword,
    on: 'string',
    check(operand) {
      const bound = Number(operand);
      return (value, place, checking) => {
        if (!holds(points(String(value), checking), bound))
          fail(checking, { keyword, place, params: { limit: bound }, message: `must NOT have ${says} than ${bound} characters` });
      };
    },
  };
}

/** Code points, without a list of them. */
function points(text: string, checking: Checking): number {
  spend(checking, Math.floor(text.length / countedPerStep));
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

const pattern: SchemaRule = {
  keyword: 'pattern',
  on: 'string',
  check(operand, _schema, compiling) {
    const source = String(operand);
    const matches = searching(compiling.pattern(source));
    return (value, place, checking) => {
      const text = String(value);
      if (text.length > searchedTextMax) leaveOut(checking, tooLongToSearch);
      else if (!matches(text, checking))
        fail(checking, { keyword: 'pattern', place, params: { pattern: source }, message: `must match pattern "${source}"` });
    };
  },
};

/** A search that counts what it costs. */
export function searching({
  source,
  test,
}: {
  readonly source: string;
  readonly test: (text: string) => boolean;
}): (text: string, checking: Checking) => boolean {
  const size = patternSize(source);
  return (text, checking) => {
    spend(checking, 1 + Math.floor((text.length * size) / searchedPerStep));
    return test(text);
  };
}

const oneOfList: SchemaRule = {
  keyword: 'enum',
  on: 'any',
  check: (operand) => listed('enum', isJsonArray(operand) ? operand : []),
};

const constant: SchemaRule = {
  keyword: 'const',
  on: 'any',
  check: (operand) => listed('const', [operand]),
};

/** Values are compared exactly, so that two long ids are not equal because a double cannot tell them apart. */
function listed(keyword: string, values: readonly JsonValue[]): Check {
  return (value, place, checking) => {
    spend(checking, Math.ceil(values.length / 8));
    if (!values.some((one) => jsonEqual(one, value)))
      fail(checking, { keyword, place, params: {}, message: `must pass "${keyword}" keyword validation` });
  };
}

/** In the order in which their failures are told. */
export const plainRules: readonly SchemaRule[] = [
  limit('maximum', '<=', (value, bound) => value <= bound),
  limit('minimum', '>=', (value, bound) => value >= bound),
  limit('exclusiveMaximum', '<', (value, bound) => value < bound),
  limit('exclusiveMinimum', '>', (value, bound) => value > bound),
  multipleOf,
  length('maxLength', 'more', (count, bound) => count <= bound),
  length('minLength', 'fewer', (count, bound) => count >= bound),
  pattern,
];

/** These come after the combinations of schemas, and before all others. */
export const allowedRules: readonly SchemaRule[] = [oneOfList, constant];
