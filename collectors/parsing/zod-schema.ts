/**
 * JSON schemas out of serialised Zod schemas. SDKs in JavaScript keep the schema of a tool as Zod objects, and some write these unchanged: `{"def":
 * {"type": "object", "shape": …}}` of Zod 4, `{"_def": {"typeName": "ZodObject"}}` of Zod 3.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** Schemas nested deeper are reported without their contents. */
export const zodDepthMax = 16;

/** The JSON schema that a serialised Zod schema represents; `undefined` for any other value. */
export function schemaOfZod(value: JsonValue | undefined): JsonObject | undefined {
  return schemaIn(value, 0)?.schema;
}

interface Read {
  readonly schema: JsonObject;
  readonly isOptional: boolean;
}

function schemaIn(value: JsonValue | undefined, depth: number): Read | undefined {
  if (!isJsonObject(value) || depth > zodDepthMax) return undefined;
  const def = member(value, 'def') ?? member(value, '_def');
  if (!isJsonObject(def)) return undefined;
  const kind = kindOf(def);
  if (kind === undefined) return undefined;
  const inner = innerOf(def, kind, depth);
  const isOptional = kind === 'optional' || kind === 'default' || kind === 'prefault' || inner?.isOptional === true;
  const description = member(value, 'description') ?? member(def, 'description');
  return {
    schema: { ...(inner?.schema ?? bodyOf(value, def, kind, depth)), ...(typeof description === 'string' ? { description } : {}) },
    isOptional,
  };
}

/** `object` for both `{"type": "object"}` and `{"typeName": "ZodObject"}`. */
function kindOf(def: JsonObject): string | undefined {
  const name = member(def, 'typeName');
  if (typeof name === 'string' && name.startsWith('Zod')) return name.slice('Zod'.length).toLowerCase();
  const type = member(def, 'type');
  return typeof type === 'string' ? type : undefined;
}

const wrappers: ReadonlySet<string> = new Set([
  'optional',
  'default',
  'prefault',
  'nullable',
  'readonly',
  'catch',
  'nonoptional',
  'branded',
  'effects',
]);

/** The schema inside one that only makes it optional. */
function innerOf(def: JsonObject, kind: string, depth: number): Read | undefined {
  if (kind === 'pipe' || kind === 'pipeline') return schemaIn(member(def, 'in'), depth + 1);
  return wrappers.has(kind) ? schemaIn(member(def, 'innerType') ?? member(def, 'schema') ?? member(def, 'type'), depth + 1) : undefined;
}

function bodyOf(value: JsonObject, def: JsonObject, kind: string, depth: number): JsonObject {
  switch (kind) {
    case 'object':
      return objectSchema(shapeOf(value, def), depth);
    case 'array':
    case 'set': {
      const items = schemaIn(member(def, 'element') ?? member(def, 'type') ?? member(def, 'valueType'), depth + 1)?.schema;
      return { type: 'array', ...(items === undefined ? {} : { items }) };
    }
    case 'record':
    case 'map':
      return { type: 'object' };
    case 'string':
    case 'boolean':
    case 'null':
      return { type: kind };
    case 'number':
      return { type: isInteger(def) ? 'integer' : 'number' };
    case 'enum':
    case 'nativeenum':
      return { type: 'string', ...enumOf(member(def, 'entries') ?? member(def, 'values')) };
    case 'literal':
      return { enum: isJsonArray(member(def, 'values')) ? (member(def, 'values') ?? []) : [member(def, 'value') ?? null] };
    case 'union':
    case 'discriminatedunion':
      return { anyOf: optionsOf(def, depth) };
    default:
      return {};
  }
}

/** Zod 3 keeps the shape in a function, which is lost, and beside it once it was used. */
function shapeOf(value: JsonObject, def: JsonObject): JsonObject | undefined {
  const cached = member(value, '_cached');
  const shape = member(def, 'shape') ?? (isJsonObject(cached) ? member(cached, 'shape') : undefined);
  return isJsonObject(shape) ? shape : undefined;
}

function objectSchema(shape: JsonObject | undefined, depth: number): JsonObject {
  if (shape === undefined) return { type: 'object' };
  const members = Object.keys(shape).map((name) => [name, schemaIn(member(shape, name), depth + 1)] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, read]) => [name, read?.schema ?? {}])),
    required: members.flatMap(([name, read]) => (read?.isOptional === true ? [] : [name])),
  };
}

function isInteger(def: JsonObject): boolean {
  const format = member(def, 'format');
  if (typeof format === 'string') return /int/.test(format);
  const checks = member(def, 'checks');
  return isJsonArray(checks) && checks.some((check) => isJsonObject(check) && member(check, 'kind') === 'int');
}

function enumOf(values: JsonValue | undefined): JsonObject {
  if (isJsonArray(values)) return { enum: values };
  return isJsonObject(values) ? { enum: Object.values(values) } : {};
}

function optionsOf(def: JsonObject, depth: number): readonly JsonObject[] {
  const options = member(def, 'options');
  if (!isJsonArray(options)) return [];
  return options.map((option) => schemaIn(option, depth + 1)?.schema ?? {});
}
