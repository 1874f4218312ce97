/** camelCase in code, snake_case in files: names that a schema lists are translated, names that are data (tools, arguments) are not. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** References are followed this deep; a schema may refer to itself. */
const depthMax = 32;

/** The complete options, under the names of the file. */
export function snakeMembers(schema: JsonObject, value: JsonValue): JsonValue {
  return translated(schema, [schema], value, 0);
}

function translated(root: JsonObject, schemas: readonly JsonObject[], value: JsonValue, depth: number): JsonValue {
  if (depth > depthMax) return value;
  const all = schemas.flatMap((schema) => branches(root, schema, 0));
  if (isJsonArray(value)) return value.map((item) => translated(root, below(all, 'items'), item, depth + 1));
  if (!isJsonObject(value)) return value;
  // Without a prototype: `__proto__` is a legal name in foreign data.
  const written = Object.create(null) as { [key: string]: JsonValue };
  for (const [name, item] of Object.entries(value)) {
    const listed = below(below(all, 'properties'), snake(name));
    written[listed.length > 0 ? snake(name) : name] = translated(
      root,
      listed.length > 0 ? listed : below(all, 'additionalProperties'),
      item,
      depth + 1,
    );
  }
  return written;
}

/** A schema with everything that it is put together from. */
function branches(root: JsonObject, schema: JsonObject, depth: number): readonly JsonObject[] {
  if (depth > depthMax) return [];
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = member(schema, keyword);
    return isJsonArray(list) ? list.filter(isJsonObject) : [];
  });
  const reference = member(schema, '$ref');
  const target = typeof reference === 'string' ? referenced(root, reference) : undefined;
  return [schema, ...[...parts, ...(target === undefined ? [] : [target])].flatMap((part) => branches(root, part, depth + 1))];
}

function referenced(root: JsonObject, reference: string): JsonObject | undefined {
  let at: JsonValue | undefined = root;
  for (const part of reference.split('/').slice(1)) at = isJsonObject(at) ? member(at, part) : undefined;
  return reference.startsWith('#') && isJsonObject(at) ? at : undefined;
}

function below(schemas: readonly JsonObject[], name: string): readonly JsonObject[] {
  return schemas.map((schema) => member(schema, name)).filter((value) => isJsonObject(value));
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
