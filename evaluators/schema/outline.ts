/**
 * Faults at the top level of arguments: members that are missing, that no schema knows, or whose type is wrong. It needs no compiled
 * schema, so it is there for every call of a run, however much work the whole checks of the others take. The whole check finds the same,
 * and more.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { SchemaProblem, Work } from '../evaluator.ts';

const problemsMax = 50;
/** Keywords that may know further members. */
const otherMembers = [
  'patternProperties',
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
] as const;

/** Sure problems. It ends without a word when the steps do. */
export function outlineProblems(
  schema: JsonValue,
  value: JsonObject,
  { strict, work }: { readonly strict: boolean; readonly work: Work },
): readonly SchemaProblem[] {
  if (!isJsonObject(schema)) return [];
  const problems: SchemaProblem[] = [];
  const add = (name: string, keyword: string, params: JsonObject, message: string): void =>
    void problems.push({ path: [name], keyword, params, message });
  const goesOn = (): boolean => work.steps-- > 0 && problems.length < problemsMax;
  for (const name of requiredNames(schema)) {
    if (!goesOn()) return problems;
    if (!Object.hasOwn(value, name)) add(name, 'required', { missingProperty: name }, `must have required property '${name}'`);
  }
  const properties = member(schema, 'properties');
  if (!isJsonObject(properties)) return problems;
  const isClosed =
    (strict || member(schema, 'additionalProperties') === false) && !otherMembers.some((keyword) => Object.hasOwn(schema, keyword));
  // No list of the names: there may be a hundred thousand.
  for (const name in value) {
    if (!goesOn()) return problems;
    if (!Object.hasOwn(value, name)) continue;
    const expected = member(properties, name);
    if (expected === undefined && isClosed)
      add(name, 'additionalProperties', { additionalProperty: name }, 'must NOT have additional properties');
    const type = expected === undefined ? undefined : plainType(expected);
    if (type !== undefined && !hasType(value[name] ?? null, type)) add(name, 'type', { type }, `must be ${type}`);
  }
  return problems;
}

function requiredNames(schema: JsonObject): readonly string[] {
  const names = member(schema, 'required');
  return isJsonArray(names) && names.every((name) => typeof name === 'string') ? names : [];
}

const tests: { readonly [type: string]: (value: JsonValue) => boolean } = {
  string: (value) => typeof value === 'string',
  // Whole numbers are left to the whole check.
  integer: (value) => typeof value === 'number' || typeof value === 'bigint',
  number: (value) => typeof value === 'number' || typeof value === 'bigint',
  boolean: (value) => typeof value === 'boolean',
  array: isJsonArray,
  object: isJsonObject,
  null: (value) => value === null,
};

/** One type and no null besides; undefined: something else. */
function plainType(schema: JsonValue): string | undefined {
  const type = isJsonObject(schema) && member(schema, 'nullable') !== true ? member(schema, 'type') : undefined;
  const word = typeof type === 'string' ? type.toLowerCase() : '';
  return Object.hasOwn(tests, word) ? word : undefined;
}

function hasType(value: JsonValue, type: string): boolean {
  return tests[type]?.(value) ?? true;
}

const combinators = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas'] as const;
const branchLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);
const branches: ReadonlySet<string> = new Set(['if', 'then', 'else', 'not']);
const maps: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const children: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalItems', 'contains', 'additionalProperties']);
/** Beyond this depth the schema is over the limits of the compiler anyway. */
const depthMax = 60;

/** Strict validity: a schema that lists properties admits no others, even when it allows additional ones. */
export function closedSchema(schema: JsonValue, isBranch = false, depth = 0): JsonValue {
  if (!isJsonObject(schema) || depth > depthMax) return schema;
  const inner = Object.fromEntries(Object.keys(schema).map((key) => [key, closedMember(key, schema[key] ?? null, depth)]));
  return isJsonObject(member(schema, 'properties')) && !isBranch ? closed(inner) : inner;
}

function closedMember(key: string, value: JsonValue, depth: number): JsonValue {
  if (branchLists.has(key) && isJsonArray(value)) return value.map((item) => closedSchema(item, true, depth + 1));
  if (branches.has(key)) return closedSchema(value, true, depth + 1);
  if (maps.has(key) && isJsonObject(value))
    return Object.fromEntries(
      Object.keys(value).map((name) => [name, closedSchema(value[name] ?? null, key === 'dependentSchemas', depth + 1)]),
    );
  if (children.has(key))
    return isJsonArray(value) ? value.map((item) => closedSchema(item, false, depth + 1)) : closedSchema(value, false, depth + 1);
  return value;
}

/** Beside combinators the branches may declare properties too: then only what none of them knows is refused. */
function closed(schema: JsonObject): JsonObject {
  const combined = combinators.some((key) => Object.hasOwn(schema, key));
  if (!combined) return { ...schema, additionalProperties: false };
  const { additionalProperties: _replaced, ...rest } = schema;
  return { ...rest, unevaluatedProperties: false };
}
