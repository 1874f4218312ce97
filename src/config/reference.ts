/** The rows of the reference: every key below a schema, with type, default, range and meaning. */
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../model/json.ts';

export interface ReferenceRow {
  /** `keep.runs`, `[].name`, `*.model`: `[]` stands for an item, `*` for any name. */
  readonly key: string;
  /** The same in parts; `*` for items and names. */
  readonly path: readonly string[];
  readonly type: string;
  /** As it would be written; undefined: none. */
  readonly preset: string | undefined;
  readonly required: boolean;
  /** A new value holds only after a restart. */
  readonly needsRestart: boolean;
  readonly meaning: string;
}

/** Deeper keys are left to the schema. */
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

function objectAt(schema: JsonObject, key: string): JsonObject {
  const below = member(schema, key);
  return isJsonObject(below) ? below : {};
}

function isEmptyObject(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
