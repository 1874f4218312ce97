/** Keywords that put schemas together: references, all, any, one, none, and conditions. */
import { isJsonArray } from '../src/model/json.ts';
import type { JsonValue } from '../src/model/json.ts';
import { addSeen, fail, freshSeen, type Check, type Checking, type Failure, type Place, type SchemaRule, type Seen } from './schema-rule.ts';

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
      if (failuresOf(inner, value, place, checking, undefined).length === 0) fail(checking, { keyword: 'not', place, params: {}, message: 'must NOT be valid' });
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
      let passes = false;
      for (const branch of branches) {
        const failures = tried(branch, value, place, checking, seen);
        if (failures.length > 0) refusals.push(failures);
        else passes = true;
        if (passes && seen === undefined) return;
      }
      if (!passes) tell(checking, toldOnce(refusals, { keyword: 'anyOf', place, params: {}, message: 'must match a schema in anyOf' }));
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
      for (const [at, branch] of branches.entries()) {
        const failures = tried(branch, value, place, checking, seen);
        if (failures.length > 0) refusals.push(failures);
        else passing.push(at);
        if (passing.length > 1) break;
      }
      if (passing.length === 1) return;
      const failed: Failure = { keyword: 'oneOf', place, params: { passingSchemas: passing.length === 0 ? null : passing }, message: 'must match exactly one schema in oneOf' };
      tell(checking, passing.length === 0 ? toldOnce(refusals, failed) : [failed]);
    };
  },
};

const allOf: SchemaRule = {
  keyword: 'allOf',
  on: 'any',
  check(operand, _schema, compiling) {
    const branches = nodes(operand, compiling.node);
    return (value, place, checking, seen) => {
      for (const branch of branches) branch(value, place, checking, seen);
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
      const holds = tried(asked, value, place, checking, seen).length === 0;
      (holds ? whenTrue : whenFalse)?.(value, place, checking, seen);
    };
  },
};

function nodes(operand: JsonValue, node: (schema: JsonValue) => Check): readonly Check[] {
  return (isJsonArray(operand) ? operand : []).map(node);
}

/** The failures of a schema, not yet told. */
export function failuresOf(check: Check, value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined): readonly Failure[] {
  const before = checking.failures.length;
  check(value, place, checking, seen);
  return checking.failures.splice(before);
}

/** As `failuresOf`; what a schema has seen counts when the value passes it. */
export function tried(check: Check, value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined): readonly Failure[] {
  const own = seen === undefined ? undefined : freshSeen();
  const failures = failuresOf(check, value, place, checking, own);
  if (failures.length === 0 && seen !== undefined && own !== undefined) addSeen(seen, own);
  return failures;
}

export function tell(checking: Checking, failures: readonly Failure[]): void {
  for (const failure of failures) checking.failures.push(failure);
}

/**
 * A value that no branch takes is told of once. Every branch refuses its type: a wrong type. One branch takes the type: that branch's
 * failures, since it is the one that was meant. Otherwise the keyword alone.
 */
function toldOnce(refusals: readonly (readonly Failure[])[], union: Failure): readonly Failure[] {
  const refusing = refusals.map((failures) => failures.filter(({ keyword, place }) => keyword === 'type' && place === union.place));
  const open = refusals.filter((_, at) => refusing[at]?.length === 0);
  if (open.length > 0) return open.length === 1 ? (open[0] ?? []) : [union];
  const types = [...new Set(refusing.flat().map(({ params }) => String(params['type'])))];
  return types.length === 0 ? [union] : [{ ...union, keyword: 'type', params: { type: types.join(' or ') }, message: `must be ${types.join(' or ')}` }];
}

/** In the order in which their failures are told. */
export const combinedRules: readonly SchemaRule[] = [reference, not, anyOf, oneOf, allOf, condition];
