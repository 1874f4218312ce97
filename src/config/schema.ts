/** The JSON Schema of the configuration, from its sections and the schemas of evaluators, and the rows of the reference. */
import { ownMembers } from './diagnostic.ts';
import type { AnyEvaluator, JsonSchema } from '../../evaluators/evaluator.ts';
import { sections } from './sections/index.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member, objectAt } from '../model/json.ts';

export function configSchema(members: readonly AnyEvaluator[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of tracejury',
    ...sections(members).schema,
  };
}

/** The schema of a member of an object, or of an item of a list, that `schema` describes. */
export function memberSchema(schema: JsonObject, part: string | number): JsonObject | undefined {
  if (typeof part === 'number') return objectOf(member(schema, 'items'));
  const properties = objectOf(member(schema, 'properties'));
  return objectOf(properties && member(properties, part)) ?? objectOf(member(schema, 'additionalProperties'));
}

/**
 * Merges the parts of `allOf` whose `if` matches the value. When none matches, because the deciding member is misspelt, it merges all parts.
 */
export function appliedSchema(schema: JsonObject, value: JsonValue): JsonObject {
  const parts = member(schema, 'allOf');
  if (!isJsonObject(value) || !Array.isArray(parts)) return schema;
  const given = parts.filter(isJsonObject);
  const matching = given.filter((part) => hasConstants(objectOf(member(part, 'if')) ?? {}, value));
  const properties = { ...objectOf(member(schema, 'properties')) };
  for (const part of matching.length > 0 ? matching : given) {
    for (const [name, more] of Object.entries(objectOf(member(objectOf(member(part, 'then')) ?? {}, 'properties')) ?? {}))
      properties[name] = merged(properties[name], more);
  }
  return { ...schema, properties };
}

/** Omits absent sections and unused evaluators, except their names: the compilation of the whole schema takes many times as long. */
export function schemaInUse(schema: JsonObject, value: JsonValue): JsonObject {
  const written = isJsonObject(value) ? value : {};
  const sections = Object.entries(objectOf(member(schema, 'properties')) ?? {}).map(([name, section]): [string, JsonValue] => {
    const own = member(written, name);
    if (own === undefined) return [name, true];
    return [name, name === 'evaluators' && isJsonObject(section) ? entriesInUse(section, own) : section];
  });
  return { ...schema, properties: Object.fromEntries(sections) };
}

function entriesInUse(list: JsonObject, value: JsonValue): JsonObject {
  const entry = objectOf(member(list, 'items'));
  const parts = entry && member(entry, 'allOf');
  if (!isJsonArray(parts)) return list;
  const entries = isJsonArray(value) ? value.filter(isJsonObject) : [];
  const used = parts.filter(isJsonObject).filter((part) => {
    const condition = objectOf(member(part, 'if')) ?? {};
    return entries.some((one) => hasConstants(condition, one));
  });
  return { ...list, items: { ...entry, allOf: used } };
}

function hasConstants(condition: JsonObject, value: JsonObject): boolean {
  return Object.entries(objectOf(member(condition, 'properties')) ?? {}).every(
    ([name, below]) => isJsonObject(below) && member(below, 'const') === member(value, name),
  );
}

/** Members of both; those of `other` win. */
function merged(one: JsonValue | undefined, other: JsonValue): JsonValue {
  if (!isJsonObject(one) || !isJsonObject(other)) return other;
  return { ...one, ...other, properties: { ...objectOf(member(one, 'properties')), ...objectOf(member(other, 'properties')) } };
}

/** Fills in defaults at all levels. An absent mapping without a default stays absent. */
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
    // Null is a value: a threshold may be null.
    const given = written === undefined && below !== undefined ? member(below, 'default') : written;
    if (given !== undefined) filled.push([name, below === undefined ? given : withDefaults(below, given)]);
  }
  return ownMembers(filled);
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** A key of the reference page with type, default, range and meaning. */
export interface ReferenceRow {
  /** `keep.runs`, `[].name`, `*.model`: `[]` is any item, `*` any name. */
  readonly key: string;
  /** The parts of the key, with `*` for items and names. */
  readonly path: readonly string[];
  readonly type: string;
  /** In the form of the file. */
  readonly preset: string | undefined;
  readonly required: boolean;
  /** `true` when a new value takes effect after a restart. */
  readonly needsRestart: boolean;
  readonly meaning: string;
}

/** Omits deeper keys. */
const depthMax = 8;

export function referenceRows(schema: JsonObject, path: readonly string[] = [], key = ''): readonly ReferenceRow[] {
  if (path.length > depthMax || member(schema, 'x-as') !== undefined) return [];
  const required = member(schema, 'required');
  const rows: ReferenceRow[] = [];
  for (const [name, below] of Object.entries(objectAt(schema, 'properties'))) {
    if (!isJsonObject(below)) continue;
    const at = key === '' ? name : `${key}.${name}`;
    rows.push(rowOf({ key: at, path: [...path, name], schema: below, required: isJsonArray(required) && required.includes(name) }));
    rows.push(...referenceRows(below, [...path, name], at));
  }
  const items = member(schema, 'items');
  if (isJsonObject(items)) rows.push(...referenceRows(items, [...path, '*'], `${key}[]`));
  const any = member(schema, 'additionalProperties');
  if (isJsonObject(any)) rows.push(...referenceRows(any, [...path, '*'], key === '' ? '*' : `${key}.*`));
  return rows;
}

export function rowOf(of: {
  readonly key: string;
  readonly path: readonly string[];
  readonly schema: JsonObject;
  readonly required: boolean;
}): ReferenceRow {
  const preset = member(of.schema, 'default');
  const description = member(of.schema, 'description');
  return {
    key: of.key,
    path: of.path,
    type: typeText(of.schema),
    preset:
      preset === undefined || isEmptyObject(preset) ? undefined : typeof preset === 'string' && preset !== '' ? preset : jsonText(preset),
    required: of.required,
    needsRestart: member(of.schema, 'x-restart') === true,
    meaning: typeof description === 'string' ? description : '',
  };
}

const typeNames: { readonly [type: string]: string } = {
  string: 'text',
  integer: 'whole number',
  array: 'list',
  object: 'mapping',
  boolean: 'true or false',
};

function typeText(schema: JsonObject): string {
  const quantity = objectAt(schema, 'x-quantity');
  const kind = member(quantity, 'kind');
  if (kind !== undefined)
    return `${kind === 'bytes' ? 'size' : 'duration'}, ${String(member(quantity, 'minimum'))} to ${String(member(quantity, 'maximum'))}`;
  const as = member(schema, 'x-as');
  if (typeof as === 'string') return as;
  if (member(schema, 'x-address') === true) return 'host:port';
  if (member(schema, 'x-url') === true) return 'URL';
  if (member(schema, 'x-pattern') === true || member(schema, 'format') === 're2') return 'regular expression';
  const options = member(schema, 'enum');
  if (isJsonArray(options)) return options.map((option) => `\`${String(option)}\``).join(', ');
  return `${plainType(schema)}${unitText(schema)}${rangeText(schema)}`;
}

function plainType(schema: JsonObject): string {
  const type = member(schema, 'type');
  const types = isJsonArray(type) ? type : type === undefined ? [] : [type];
  const items = member(schema, 'items');
  const names = types.map((name) => {
    if (name === 'array' && isJsonObject(items) && types.length === 1 && member(items, 'properties') === undefined)
      return `list of ${typeText(items)}`;
    return typeNames[String(name)] ?? String(name);
  });
  return names.length === 0 ? 'see the schema' : names.join(' or ');
}

function unitText(schema: JsonObject): string {
  const unit = member(schema, 'x-unit');
  return typeof unit === 'string' ? ` (${unit})` : '';
}

function rangeText(schema: JsonObject): string {
  const [minimum, maximum] = [member(schema, 'minimum'), member(schema, 'maximum')];
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `, from ${String(minimum)}`;
  return minimum === undefined ? `, to ${String(maximum)}` : `, ${String(minimum)} to ${String(maximum)}`;
}

function isEmptyObject(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
