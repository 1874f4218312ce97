/**
 * JSON Schemas of tools, compiled with ajv behind guards: they come over the network, written by many generators, and one that
 * is faulty must neither fail the calls of its tool nor cost more than it is worth.
 */
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { CompiledSchema, Pattern, SchemaProblem } from './evaluator.ts';
import { jsonEqual } from './matching/equality.ts';
import { normalisedSchema } from './schema-normaliser.ts';
import { inlinedReferences, stepKeyword } from './schema-references.ts';

/** Characters of a schema as JSON text; above it no code is generated. */
export const schemaTextMax = 65_536;
/** Problems told of one value. */
const problemsMax = 50;
/** Times that one value may enter subschemas that are reached by reference: recursion through several branches doubles with each level. */
const stepsMax = 2_000;
/** References that may have to be dropped before a schema compiles. */
const dropsMax = 16;

/** Undefined: the schema is beyond the limits, or cannot be compiled even without its faulty parts. */
export function compileSchema(schema: JsonValue, pattern: (source: string) => Pattern): CompiledSchema | undefined {
  const normalised = normalisedSchema(schema, pattern);
  if (normalised === undefined) return undefined;
  const compiled = compiledWithoutLostReferences(inlinedReferences(normalised.schema), normalised.draft, pattern);
  if (compiled === undefined) return undefined;
  return { problems: (value) => problemsOf(compiled, value), faults: [...normalised.faults, ...compiled.faults] };
}

interface Compiled extends Engine {
  readonly faults: readonly string[];
}

function compiledWithoutLostReferences(schema: JsonObject | boolean, draft: '2020-12' | 'draft-07', pattern: (source: string) => Pattern): Compiled | undefined {
  const faults: string[] = [];
  let current = schema;
  for (let attempt = 0; attempt <= dropsMax; attempt++) {
    const outcome = compiledOnce(current, draft, pattern);
    if ('validate' in outcome) return { ...outcome, faults };
    if (outcome.missing === undefined) return undefined;
    faults.push(`$ref ${outcome.missing} leads nowhere`);
    current = withoutReference(current, outcome.missing);
  }
  return undefined;
}

interface Engine {
  readonly validate: ValidateFunction;
  readonly restart: () => void;
}

class OutOfSteps extends Error {}

/** A fresh ajv for each schema: whoever drops the function drops all of it. */
function compiledOnce(schema: JsonObject | boolean, draft: '2020-12' | 'draft-07', pattern: (source: string) => Pattern): Engine | { readonly missing: string | undefined } {
  const preferred = draft === 'draft-07' ? [Ajv, Ajv2020] : [Ajv2020, Ajv];
  let missing: string | undefined;
  let steps = 0;
  for (const Draft of preferred) {
    try {
      const ajv = new Draft(ajvOptions(pattern));
      ajv.addKeyword({ keyword: stepKeyword, schemaType: 'boolean', validate: counted });
      for (const keyword of ['enum', 'const'] as const) ajv.removeKeyword(keyword);
      ajv.addKeyword({ keyword: 'enum', schemaType: 'array', validate: (listed: readonly JsonValue[], value: JsonValue) => listed.some((one) => jsonEqual(one, value)) });
      ajv.addKeyword({ keyword: 'const', validate: (wanted: JsonValue, value: JsonValue) => jsonEqual(wanted, value) });
      return { validate: ajv.compile(schema), restart: () => void (steps = 0) };
    } catch (error) {
      missing ??= missingReference(error);
    }
  }
  return { missing };

  function counted(): true {
    if (++steps > stepsMax) throw new OutOfSteps();
    return true;
  }
}

function ajvOptions(pattern: (source: string) => Pattern): Options {
  const regExp = (source: string): { test: (text: string) => boolean; toString: () => string } => ({ test: pattern(source).test, toString: () => source });
  return {
    strict: false,
    allErrors: true,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    logger: false,
    inlineRefs: false,
    ownProperties: true,
    multipleOfPrecision: 10,
    code: { regExp: Object.assign(regExp, { code: 'pattern' }) },
  };
}

function missingReference(error: unknown): string | undefined {
  const found = typeof error === 'object' && error !== null && 'missingRef' in error ? error.missingRef : undefined;
  return typeof found === 'string' ? found : undefined;
}

function withoutReference(schema: JsonObject | boolean, reference: string): JsonObject | boolean {
  return typeof schema === 'boolean' ? schema : (stripped(schema, reference) as JsonObject);
}

function stripped(value: JsonValue, reference: string): JsonValue {
  if (isJsonArray(value)) return value.map((item) => stripped(item, reference));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key, item]) => !(key === '$ref' && typeof item === 'string' && reference.endsWith(item)));
  return Object.fromEntries(kept.map(([key, item]) => [key, stripped(item, reference)]));
}

function problemsOf({ validate, restart }: Engine, value: JsonValue): readonly SchemaProblem[] | undefined {
  restart();
  try {
    if (validate(withoutBigints(value))) return [];
  } catch (error) {
    if (error instanceof OutOfSteps || error instanceof RangeError) return undefined;
    throw error;
  }
  return withoutBranches(validate.errors ?? []).slice(0, problemsMax).map(problemOf);
}

/** ajv knows no bigint; a double is near enough for types and ranges. */
function withoutBigints(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(value)));
  if (isJsonArray(value)) return value.map(withoutBigints);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutBigints(item)]));
}

type Failure = ErrorObject<string, JsonObject>;

/**
 * A failed anyOf or oneOf is told once. Every branch refuses the type of the value: a wrong type. One branch takes the type: that
 * branch's failures, since it is the one that was meant. Otherwise the keyword alone.
 */
function withoutBranches(errors: readonly ErrorObject[]): readonly Failure[] {
  let left: readonly Failure[] = errors.filter((error) => error.keyword !== 'if');
  for (const union of left.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf')) if (left.includes(union)) left = toldOnce(left, union);
  return left.filter((error, at, all) => all.findIndex((other) => other.keyword === error.keyword && other.instancePath === error.instancePath && nameOf(other) === nameOf(error)) === at);
}

function toldOnce(failures: readonly Failure[], union: Failure): readonly Failure[] {
  const end = failures.indexOf(union);
  const inner = failures.slice(0, end).filter((error) => branchOf(error, union) !== undefined);
  const refusing = inner.filter((error) => error.keyword === 'type' && error.instancePath === union.instancePath);
  const refused = new Set(refusing.map((error) => branchOf(error, union)));
  const open = new Set(inner.map((error) => branchOf(error, union)).filter((branch) => !refused.has(branch)));
  const told =
    inner.length > 0 && open.size === 0
      ? [{ ...union, keyword: 'type', message: `must be ${[...new Set(refusing.map((error) => String(error.params['type'])))].join(' or ')}` }]
      : open.size === 1
        ? inner.filter((error) => open.has(branchOf(error, union)))
        : [union];
  return failures.flatMap((error) => (error === union ? told : inner.includes(error) ? [] : [error]));
}

/** Which branch of a union a failure is in; undefined when it is elsewhere. Behind a reference paths begin anew, so all such are one. */
function branchOf(error: Failure, union: Failure): string | undefined {
  if (!error.instancePath.startsWith(union.instancePath)) return undefined;
  const prefix = `${union.schemaPath}/`;
  if (error.schemaPath.startsWith(prefix)) return error.schemaPath.slice(prefix.length).split('/')[0];
  return error.schemaPath.startsWith(union.schemaPath.slice(0, union.schemaPath.lastIndexOf('/'))) ? undefined : 'reference';
}

function problemOf(error: Failure): SchemaProblem {
  const named = nameOf(error);
  return {
    path: [...pointerSteps(error.instancePath), ...(named === undefined ? [] : [named])],
    keyword: error.keyword,
    params: error.params,
    message: error.message ?? `fails ${error.keyword}`,
  };
}

/** The member that a keyword complains about when the value itself is the object around it. */
function nameOf(error: ErrorObject): string | undefined {
  for (const key of ['missingProperty', 'additionalProperty', 'unevaluatedProperty'] as const) {
    const name = member(error.params as JsonObject, key);
    if (typeof name === 'string') return name;
  }
  return error.propertyName;
}

/** The steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
