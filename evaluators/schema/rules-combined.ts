/** Keywords that put schemas together: references, all, any, one, none, and conditions. */
import { isJsonArray, type JsonValue } from '../../src/model/json.ts';
import {
  addGaps,
  addSeen,
  fail,
  freshSeen,
  leaveOut,
  trial,
  withShare,
  type Check,
  type Checking,
  type Failure,
  type Place,
  type SchemaRule,
  type Seen,
  type Trial,
} from './rule.ts';

const reference: SchemaRule = {
  keyword: '$ref',
  on: 'any',
  check: (operand, _schema, compiling) => compiling.reference(String(operand)),
};

const not: SchemaRule = {
  keyword: 'not',
  on: 'any',
  check(operand, _schema, compiling) {
    const inner = compiling.node(operand);
    return (value, place, checking) => {
      const { failures, gaps } = trial(inner, value, place, checking, undefined);
      if (failures.length > 0) return;
      if (gaps.length > 0) addGaps(checking, gaps);
      else fail(checking, { keyword: 'not', place, params: {}, message: 'must NOT be valid' });
    };
  },
};

const anyOf: SchemaRule = {
  keyword: 'anyOf',
  on: 'any',
  check(operand, _schema, compiling) {
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
      // What a branch that may hold has evaluated is open too.
      if (open.length > 0 && (!passes || seen !== undefined)) addGaps(checking, open);
      else if (!passes)
        report(checking, reportedOnce(refusals, { keyword: 'anyOf', place, params: {}, message: 'must match a schema in anyOf' }));
    };
  },
};

const oneOf: SchemaRule = {
  keyword: 'oneOf',
  on: 'any',
  check(operand, _schema, compiling) {
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
  },
};

const allOf: SchemaRule = {
  keyword: 'allOf',
  on: 'any',
  check(operand, _schema, compiling) {
    const branches = nodes(operand, compiling.node);
    return (value, place, checking, seen) => {
      for (const [at, branch] of branches.entries())
        withShare(checking, branches.length - at, () => branch(value, place, checking, seen), seen);
    };
  },
};

const condition: SchemaRule = {
  keyword: 'if',
  on: 'any',
  check(operand, { then: yes, else: no }, compiling) {
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
  },
};

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
 * A value that no branch takes is told of once. Every branch refuses its type: a wrong type. One branch takes the type: that branch's
 * failures, since it is the one that was meant. Otherwise the keyword alone.
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

/** What the normaliser puts in the place of a part that cannot be applied: the reason why. */
function unapplied(keyword: 'unapplied' | 'unappliedText', on: SchemaRule['on']): SchemaRule {
  return { keyword, on, check: (operand) => (_value, _place, checking, seen) => leaveOut(checking, String(operand), seen) };
}

/** In the order in which their failures are told. */
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
