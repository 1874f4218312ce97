/** Keywords that look at a whole value, and those that put schemas together: references, all, any, one, none and conditions. */
import { isJsonArray, type JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from '../matching/equality.ts';
import { patternSize, searchedTextMax } from './pattern-size.ts';
import {
  bound,
  countBounds,
  fail,
  leaveOut,
  schemaRule,
  spend,
  type Check,
  type Checking,
  type SchemaRule,
  addGaps,
  addSeen,
  freshSeen,
  trial,
  withShare,
  type Failure,
  type Place,
  type Seen,
  type Trial,
} from './rule.ts';

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

function limit(keyword: string, comparison: string, holds: (value: number, limit: number) => boolean): SchemaRule {
  const fault = (most: number) => ({ params: { comparison, limit: most }, message: `must be ${comparison} ${most}` });
  return bound('number', keyword, (value) => Number(asDouble(value)), holds, fault);
}

const multipleOf = schemaRule('number', 'multipleOf', (operand) => {
  const unit = Number(operand);
  return (value, place, checking) => {
    const times = Number(asDouble(value)) / unit;
    if (!(Math.abs(Math.round(times) - times) <= multipleTolerance))
      fail(checking, { keyword: 'multipleOf', place, params: { multipleOf: unit }, message: `must be multiple of ${unit}` });
  };
});

/** Code points, without a list of them. */
function characterCount(value: JsonValue, checking: Checking): number {
  const text = String(value);
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

const pattern = schemaRule('string', 'pattern', (operand, _schema, compiling) => {
  const source = String(operand);
  const matches = searching(compiling.pattern(source));
  return (value, place, checking) => {
    const text = String(value);
    if (text.length > searchedTextMax) leaveOut(checking, tooLongToSearch);
    else if (!matches(text, checking))
      fail(checking, { keyword: 'pattern', place, params: { pattern: source }, message: `must match pattern "${source}"` });
  };
});

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

const oneOfList = schemaRule('any', 'enum', (operand) => listed('enum', isJsonArray(operand) ? operand : []));

const constant = schemaRule('any', 'const', (operand) => listed('const', [operand]));

/** Values are compared exactly, so that two long ids do not count as equal because they are the same double. */
function listed(keyword: string, values: readonly JsonValue[]): Check {
  return (value, place, checking) => {
    spend(checking, Math.ceil(values.length / 8));
    if (!values.some((one) => jsonEqual(one, value)))
      fail(checking, { keyword, place, params: {}, message: `must pass "${keyword}" keyword validation` });
  };
}

/** In the order in which their failures are reported. */
export const plainRules: readonly SchemaRule[] = [
  limit('maximum', '<=', (value, bound) => value <= bound),
  limit('minimum', '>=', (value, bound) => value >= bound),
  limit('exclusiveMaximum', '<', (value, bound) => value < bound),
  limit('exclusiveMinimum', '>', (value, bound) => value > bound),
  multipleOf,
  ...countBounds('string', 'Length', 'characters', characterCount),
  pattern,
];

/** These come after the combinations of schemas, and before all others. */
export const allowedRules: readonly SchemaRule[] = [oneOfList, constant];

const reference = schemaRule('any', '$ref', (operand, _schema, compiling) => compiling.reference(String(operand)));

const not = schemaRule('any', 'not', (operand, _schema, compiling) => {
  const inner = compiling.node(operand);
  return (value, place, checking) => {
    const { failures, gaps } = trial(inner, value, place, checking, undefined);
    if (failures.length > 0) return;
    if (gaps.length > 0) addGaps(checking, gaps);
    else fail(checking, { keyword: 'not', place, params: {}, message: 'must NOT be valid' });
  };
});

const anyOf = schemaRule('any', 'anyOf', (operand, _schema, compiling) => {
  const branches = nodes(operand, compiling.node);
  return (value, place, checking, seen) => {
    const refusals: (readonly Failure[])[] = [];
    const open: string[] = [];
    let passes = false;
    for (const branch of branches) {
      const { failures, gaps } = tried(branch, value, place, checking, seen);
      if (failures.length > 0) refusals.push(failures);
      else if (gaps.length > 0) open.push(...gaps);
      else passes = true;
      if (passes && seen === undefined) return;
    }
    // The members that a branch with gaps has evaluated are uncertain too.
    if (open.length > 0 && (!passes || seen !== undefined)) addGaps(checking, open);
    else if (!passes)
      report(checking, reportedOnce(refusals, { keyword: 'anyOf', place, params: {}, message: 'must match a schema in anyOf' }));
  };
});

const oneOf = schemaRule('any', 'oneOf', (operand, _schema, compiling) => {
  const branches = nodes(operand, compiling.node);
  return (value, place, checking, seen) => {
    const refusals: (readonly Failure[])[] = [];
    const passing: number[] = [];
    const open: string[] = [];
    for (const [at, branch] of branches.entries()) {
      const { failures, gaps } = tried(branch, value, place, checking, seen);
      if (failures.length > 0) refusals.push(failures);
      else if (gaps.length > 0) open.push(...gaps);
      else passing.push(at);
      if (passing.length > 1) break;
    }
    if (passing.length < 2 && open.length > 0) return addGaps(checking, open);
    if (passing.length === 1) return;
    const failed: Failure = {
      keyword: 'oneOf',
      place,
      params: { passingSchemas: passing.length === 0 ? null : passing },
      message: 'must match exactly one schema in oneOf',
    };
    report(checking, passing.length === 0 ? reportedOnce(refusals, failed) : [failed]);
  };
});

const allOf = schemaRule('any', 'allOf', (operand, _schema, compiling) => {
  const branches = nodes(operand, compiling.node);
  return (value, place, checking, seen) => {
    for (const [at, branch] of branches.entries())
      withShare(checking, branches.length - at, () => branch(value, place, checking, seen), seen);
  };
});

const condition = schemaRule('any', 'if', (operand, { then: yes, else: no }, compiling) => {
  const asked = compiling.node(operand);
  const [whenTrue, whenFalse] = [yes, no].map((schema) => (schema === undefined ? undefined : compiling.node(schema)));
  return (value, place, checking, seen) => {
    if (whenTrue === undefined && whenFalse === undefined) return;
    const { failures, gaps } = tried(asked, value, place, checking, seen);
    if (failures.length === 0 && gaps.length > 0) {
      addGaps(checking, gaps);
      if (seen !== undefined) leaveOut(checking, gaps[0] ?? '', seen);
    } else (failures.length === 0 ? whenTrue : whenFalse)?.(value, place, checking, seen);
  };
});

function nodes(operand: JsonValue, node: (schema: JsonValue) => Check): readonly Check[] {
  return (isJsonArray(operand) ? operand : []).map(node);
}

/** As `trial`; what a schema has seen counts when the value passes it, or may. */
export function tried(check: Check, value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined): Trial {
  const own = seen === undefined ? undefined : freshSeen();
  const found = trial(check, value, place, checking, own);
  if (found.failures.length === 0 && seen !== undefined && own !== undefined) addSeen(seen, own);
  return found;
}

export function report(checking: Checking, failures: readonly Failure[]): void {
  for (const failure of failures) checking.failures.push(failure);
}

/**
 * A value that no branch takes is reported once. When every branch refuses its type, the failure is a wrong type. When one branch takes the type,
 * that branch's failures are reported, since it is the one that was meant. Otherwise only the keyword is.
 */
function reportedOnce(refusals: readonly (readonly Failure[])[], union: Failure): readonly Failure[] {
  const refusing = refusals.map((failures) => failures.filter(({ keyword, place }) => keyword === 'type' && place === union.place));
  const open = refusals.filter((_, at) => refusing[at]?.length === 0);
  if (open.length > 0) return open.length === 1 ? (open[0] ?? []) : [union];
  const types = [...new Set(refusing.flat().map(({ params }) => String(params['type'])))];
  return types.length === 0
    ? [union]
    : [{ ...union, keyword: 'type', params: { type: types.join(' or ') }, message: `must be ${types.join(' or ')}` }];
}

/** The normaliser's replacement for a part that cannot be applied, with the reason. */
function unapplied(keyword: 'unapplied' | 'unappliedText', on: SchemaRule['on']): SchemaRule {
  return { keyword, on, check: (operand) => (_value, _place, checking, seen) => leaveOut(checking, String(operand), seen) };
}

/** In the order in which their failures are reported. */
export const combinedRules: readonly SchemaRule[] = [
  unapplied('unapplied', 'any'),
  unapplied('unappliedText', 'string'),
  reference,
  not,
  anyOf,
  oneOf,
  allOf,
  condition,
];
