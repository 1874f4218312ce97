/**
 * A normalised schema as one check: every schema in it becomes a list of closures, a few for each keyword. No code is generated, so that a
 * schema costs no more than its length, whoever wrote it; what a value costs is counted in steps.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Pattern } from '../evaluator.ts';
import {
  addSeen,
  fail,
  freshSeen,
  leaveOut,
  OutOfSteps,
  spend,
  withShare,
  type Check,
  type Checking,
  type Compiling,
  type Draft,
  type Place,
  type SchemaRule,
  type Seen,
} from './rule.ts';
import { combinedRules } from './rules-combined.ts';
import { listRules } from './rules-lists.ts';
import { objectRules } from './rules-objects.ts';
import { allowedRules, asDouble, plainRules } from './rules-plain.ts';

/** Schemas entered in each other; values are nested no deeper than 128, so only what recurses in place comes near. */
const depthMax = 500;
/** References that lead nowhere and are named; the others are left out all the same. */
const lostNamedMax = 16;

const groups = ['any', 'number', 'string', 'array', 'object'] as const;
type Group = (typeof groups)[number];

const rules: readonly SchemaRule[] = [...combinedRules, ...allowedRules, ...plainRules, ...listRules, ...objectRules];

export interface SchemaCheck {
  readonly check: Check;
  /** References that lead nowhere. */
  readonly lost: readonly string[];
}

export function schemaCheck(root: JsonObject | boolean, draft: Draft, pattern: (source: string) => Pattern): SchemaCheck {
  const known = new Map<JsonObject, Check>();
  /** Compiled one after the other, so that a long chain of references is no deep recursion. */
  const referenced = new Map<string, Check | undefined>();
  const lost = new Set<string>();
  const compiling: Compiling = { node, reference, pattern };

  function node(schema: JsonValue): Check {
    if (schema === false)
      return (_value, place, checking) =>
        fail(checking, { keyword: 'false schema', place, params: {}, message: 'boolean schema is false' });
    if (!isJsonObject(schema)) return (_value, _place, checking) => spend(checking, 1);
    const made = known.get(schema) ?? entered(checkOf(schema, draft, compiling));
    known.set(schema, made);
    return made;
  }

  function reference(name: string): Check {
    if (!referenced.has(name)) referenced.set(name, undefined);
    return (value, place, checking, seen) => {
      const target = referenced.get(name);
      if (target === undefined) leaveOut(checking, lostReference(name), seen);
      else target(value, place, checking, seen);
    };
  }

  const check = node(root);
  // The map grows while it is walked: what a reference leads to may hold references.
  for (const name of referenced.keys()) {
    const target = name === '#' ? root : targetOf(root, name);
    if (target === undefined) lost.add(name);
    else referenced.set(name, target === root ? check : node(target));
  }
  return { check, lost: [...lost].slice(0, lostNamedMax) };
}

const referenceCharsMax = 200;

export function lostReference(name: string): string {
  return `$ref ${name.slice(0, referenceCharsMax)} leads nowhere`;
}

/** The schema that a local reference leads to. */
function targetOf(root: JsonValue, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = at === undefined ? undefined : isJsonObject(at) ? member(at, key) : isJsonArray(at) ? at[Number(key)] : undefined;
  }
  return at !== undefined && (isJsonObject(at) || typeof at === 'boolean') ? at : undefined;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function entered(check: Check): Check {
  return (value, place, checking, seen) => {
    spend(checking, 1);
    if (++checking.depth > depthMax) throw new OutOfSteps();
    check(value, place, checking, seen);
    checking.depth--;
  };
}

const isOf: { readonly [group in Group]: (value: JsonValue) => boolean } = {
  number: (value) => typeof value === 'number' || typeof value === 'bigint',
  string: (value) => typeof value === 'string',
  any: () => true,
  array: isJsonArray,
  object: isJsonObject,
};

/** The failure of a lone type stands where its keywords stand, that of several types before all others. */
function checkOf(schema: JsonObject, draft: Draft, compiling: Compiling): Check {
  const own = rules.filter((rule) => Object.hasOwn(schema, rule.keyword) && (rule.draft ?? draft) === draft);
  const types = typesOf(schema);
  const typed = typeCheck(types);
  const late = types.length === 1 && own.some(({ on }) => on === types[0]) ? types[0] : undefined;
  const checks: Check[] = typed === undefined || late !== undefined ? [] : [typed];
  for (const group of groups) {
    const inGroup = own.filter(({ on }) => on === group).map((rule) => rule.check(schema[rule.keyword] ?? null, schema, compiling));
    if (inGroup.length === 0) continue;
    if (group === 'any') checks.push(...inGroup);
    else checks.push(ofGroup(isOf[group], inGroup, late === group ? typed : undefined));
  }
  const all: Check = (value, place, checking, seen) => {
    inTurn(checks, value, place, checking, seen);
  };
  return own.some(({ keyword }) => keyword.startsWith('unevaluated')) ? withSeen(all) : all;
}

function inTurn(checks: readonly Check[], value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined): void {
  if (!checking.sharing) for (const check of checks) check(value, place, checking, seen);
  else for (const [at, check] of checks.entries()) withShare(checking, checks.length - at, () => check(value, place, checking, seen), seen);
}

function ofGroup(isIn: (value: JsonValue) => boolean, checks: readonly Check[], otherwise: Check | undefined): Check {
  return (value, place, checking, seen) => {
    if (isIn(value)) inTurn(checks, value, place, checking, seen);
    else otherwise?.(value, place, checking, seen);
  };
}

/** The schemas around do not count for `unevaluated…`; what this one evaluates counts for them. */
function withSeen(check: Check): Check {
  return (value, place, checking, seen) => {
    const own = freshSeen();
    check(value, place, checking, own);
    if (seen !== undefined) addSeen(seen, own);
  };
}

function typesOf(schema: JsonObject): readonly string[] {
  const type = member(schema, 'type');
  return (type === undefined ? [] : isJsonArray(type) ? type : [type]).filter((word) => typeof word === 'string');
}

const isType: { readonly [type: string]: (value: JsonValue) => boolean } = {
  string: isOf.string,
  number: isOf.number,
  integer: (value) => Number.isInteger(asDouble(value)),
  boolean: (value) => typeof value === 'boolean',
  array: isJsonArray,
  object: isJsonObject,
  null: (value) => value === null,
};

function typeCheck(types: readonly string[]): Check | undefined {
  if (types.length === 0) return undefined;
  const tests = types.map((type) => isType[type] ?? (() => false));
  const type = types.length === 1 ? (types[0] ?? '') : types;
  return (value, place, checking) => {
    if (!tests.some((test) => test(value)))
      fail(checking, { keyword: 'type', place, params: { type }, message: `must be ${types.join(',')}` });
  };
}
