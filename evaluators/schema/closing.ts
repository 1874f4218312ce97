/** Strict validity: a schema that lists properties admits no others, whatever it says about additional ones. */
import { isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

const combinators = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas'] as const;
const branchLists: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf']);
const branches: ReadonlySet<string> = new Set(['if', 'then', 'else', 'not']);
const maps: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const children: ReadonlySet<string> = new Set(['items', 'prefixItems', 'additionalItems', 'contains', 'additionalProperties']);
/** Beyond this depth the schema is over the limits of the compiler anyway. */
const depthMax = 60;

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
