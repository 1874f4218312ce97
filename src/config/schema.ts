/** The one JSON Schema of the configuration, put together from its sections and from the evaluators' own data. */
import type { AnyEvaluator, JsonSchema } from '../../evaluators/evaluator.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import { sections } from './sections/index.ts';

export function configSchema(members: readonly AnyEvaluator[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of tracejury',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(sections(members).map(({ key, schema }) => [key, schema])),
  };
}

/** The schema of one member of an object that follows `schema`, or of an item of such a list. */
export function memberSchema(schema: JsonObject, part: string | number): JsonObject | undefined {
  if (typeof part === 'number') return objectOf(member(schema, 'items'));
  const properties = objectOf(member(schema, 'properties'));
  return objectOf(properties && member(properties, part)) ?? objectOf(member(schema, 'additionalProperties'));
}

/**
 * The schema with those parts of its `allOf` that are for this value: `if` names constants, `then` has more to say of members. Where no part
 * is for it, because the member that decides is misspelt, any of them may be meant.
 */
export function appliedSchema(schema: JsonObject, value: JsonValue): JsonObject {
  const parts = member(schema, 'allOf');
  if (!isJsonObject(value) || !Array.isArray(parts)) return schema;
  const given = parts.filter(isJsonObject);
  const meant = given.filter((part) => hasConstants(objectOf(member(part, 'if')) ?? {}, value));
  const properties = { ...objectOf(member(schema, 'properties')) };
  for (const part of meant.length > 0 ? meant : given) {
    for (const [name, more] of Object.entries(objectOf(member(objectOf(member(part, 'then')) ?? {}, 'properties')) ?? {}))
      properties[name] = together(properties[name], more);
  }
  return { ...schema, properties };
}

function hasConstants(condition: JsonObject, value: JsonObject): boolean {
  return Object.entries(objectOf(member(condition, 'properties')) ?? {}).every(
    ([name, below]) => isJsonObject(below) && member(below, 'const') === member(value, name),
  );
}

/** Members of both; where both have one, the latter. */
function together(one: JsonValue | undefined, other: JsonValue): JsonValue {
  if (!isJsonObject(one) || !isJsonObject(other)) return other;
  return { ...one, ...other, properties: { ...objectOf(member(one, 'properties')), ...objectOf(member(other, 'properties')) } };
}

/** Fills in what is left out, all the way down. A mapping without a default of its own stays away when it is left out. */
export function withDefaults(schema: JsonObject, value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => withDefaults(memberSchema(schema, 0) ?? {}, item));
  }
  if (!isJsonObject(value)) return value;
  const names = new Set([...Object.keys(objectOf(member(schema, 'properties')) ?? {}), ...Object.keys(value)]);
  const filled: [string, JsonValue][] = [];
  for (const name of names) {
    const below = memberSchema(schema, name);
    const written = member(value, name);
    // Null is an answer: a threshold may be null.
    const given = written === undefined && below !== undefined ? member(below, 'default') : written;
    if (given !== undefined) filled.push([name, below === undefined ? given : withDefaults(below, given)]);
  }
  return ownMembers(filled);
}

/** An object without a prototype: `__proto__` is a legal name in foreign data. */
export function ownMembers(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const object = Object.create(null) as { [key: string]: JsonValue };
  for (const [name, value] of entries) object[name] = value;
  return object;
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
