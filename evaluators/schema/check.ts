/**
 * JSON Schemas of tools, compiled behind guards: a faulty schema neither fails the calls of its tool nor costs more than it is worth. Every
 * schema becomes a list of closures, a few for each keyword. No code is generated, so that a schema costs no more than its length; the cost
 * of a value is counted in steps.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Pattern, CheckedValue, CompiledSchema, SchemaProblem, Work } from '../evaluator.ts';
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
  tooMuchWork,
  type Failure,
} from './rule.ts';
import { combinedRules, allowedRules, asDouble, plainRules, tooLongToSearch } from './rules-values.ts';
import { listRules, objectRules } from './rules-members.ts';
import { normalisedSchema } from './normaliser.ts';
import { percentDecoded } from '../../src/model/percent-decoded.ts';

/** Schemas entered in each other; values are nested no deeper than 128, so only what recurses in place comes near. */
const depthMax = 500;
/** References that lead nowhere and are named; the others are left out all the same. */
const lostNamedMax = 16;

const groups = ['any', 'number', 'string', 'array', 'object'] as const;
type Group = (typeof groups)[number];

const rules: readonly SchemaRule[] = [...combinedRules, ...allowedRules, ...plainRules, ...listRules, ...objectRules];

interface SchemaCheck {
  readonly check: Check;
  /** References that lead nowhere. */
  readonly lost: readonly string[];
}

function schemaCheck(root: JsonObject | boolean, draft: Draft, pattern: (source: string) => Pattern): SchemaCheck {
  const known = new Map<JsonObject, Check>();
  /** Compiled one after the other, so that a long chain of references does not recurse deeply. */
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

function lostReference(name: string): string {
  return `$ref ${name.slice(0, referenceCharsMax)} leads nowhere`;
}

/** The schema that a local reference leads to. */
function targetOf(root: JsonValue, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let at: JsonValue | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const key = percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = at === undefined ? undefined : isJsonObject(at) ? member(at, key) : isJsonArray(at) ? at[Number(key)] : undefined;
  }
  return at !== undefined && (isJsonObject(at) || typeof at === 'boolean') ? at : undefined;
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

/** Characters of a schema as JSON text; a larger one is not used. */
export const schemaTextMax = 65_536;
/** Problems reported of one value. */
const problemsMax = 50;
/** Gaps reported of one value. */
const gapsMax = 20;
/** Steps of checking one value: some thousandths of a second for most schemas, and some hundredths for the worst. */
const valueStepsMax = 20_000;

/** Undefined: the schema is beyond the limits. */
export function compileSchema(schema: JsonValue, pattern: (source: string) => Pattern): CompiledSchema | undefined {
  const normalised = normalisedSchema(schema, pattern);
  if (normalised === undefined) return undefined;
  const { check, lost } = schemaCheck(normalised.schema, normalised.draft, pattern);
  return {
    check: (value, work = { steps: Infinity }) => checkedValue(check, value, work),
    problems(value, work) {
      const { problems, isWhole } = pass(check, value, work ?? { steps: Infinity }, false);
      return isWhole ? reported(problems) : undefined;
    },
    faults: [...normalised.faults, ...lost.map(lostReference)],
    steps: normalised.steps,
  };
}

/** True when the gap in a check means that the value is too large. Otherwise a part of the schema cannot be applied. */
export function isSizeGap(gap: string): boolean {
  return gap === tooMuchWork || gap === tooLongToSearch;
}

interface Pass {
  readonly problems: readonly Failure[];
  readonly gaps: readonly string[];
  /** False when the steps ended before. */
  readonly isWhole: boolean;
}

/**
 * A value that takes too many steps is checked once more, each part with a share of the steps. So the check finds what is wrong in the
 * other parts.
 */
function checkedValue(check: Check, value: JsonValue, work: Work): CheckedValue {
  const first = pass(check, value, work, false);
  if (first.isWhole) return { problems: reported(first.problems), gaps: eachOnce(first.gaps) };
  const second = pass(check, value, work, true);
  return {
    problems: reported([...first.problems, ...second.problems]),
    gaps: eachOnce([...second.gaps, tooMuchWork]),
  };
}

function eachOnce(gaps: readonly string[]): readonly string[] {
  return gaps.length === 0 ? gaps : [...new Set(gaps)].slice(0, gapsMax);
}

function pass(check: Check, value: JsonValue, work: Work, sharing: boolean): Pass {
  const steps = Math.max(0, Math.min(valueStepsMax, work.steps));
  const checking: Checking = { steps, depth: 0, failures: [], gaps: [], sharing };
  let isWhole = true;
  try {
    check(value, undefined, checking, undefined);
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    isWhole = false;
  }
  work.steps -= isWhole ? steps - checking.steps : steps;
  return { problems: checking.failures, gaps: checking.gaps, isWhole };
}

/** Each problem once, however many parts of the schema come to it. */
function reported(failures: readonly Failure[]): readonly SchemaProblem[] {
  if (failures.length === 0) return [];
  const once = new Map<string, SchemaProblem>();
  for (const { keyword, place, name, params, message } of failures) {
    const path = [...stepsTo(place), ...(name === undefined ? [] : [name])];
    const key = JSON.stringify([keyword, path]);
    if (!once.has(key)) once.set(key, { path, keyword, params, message });
    if (once.size === problemsMax) break;
  }
  return [...once.values()];
}

function stepsTo(place: Place): readonly string[] {
  const steps: string[] = [];
  for (let at = place; at !== undefined; at = at.above) steps.push(at.step);
  return steps.reverse();
}

/** The steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
