/** The schema of a tool's arguments under any key, distinguished from arguments. */
import { isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import { textAttribute, type AttributeValue, type Span } from '../../src/model/span.ts';
import type { KeyEvidence } from './key-evidence.ts';
import { parseContainer } from './parsing.ts';
import { schemaOfZod } from './zod-schema.ts';

/** The schema of the arguments has a separate name, or is where others write the arguments. */
export function schemaOf(span: Span, { keys }: KeyEvidence): JsonValue | undefined {
  for (const key of [...(keys.inputSchema ?? []), ...(keys.toolParameters ?? [])]) {
    const value = parseContainer(textAttribute(span, key) ?? '');
    if (isSchema(value) && !isOfAttributes(value)) return value;
    const zod = schemaOfZod(value);
    if (zod !== undefined) return zod;
  }
  return undefined;
}

function isSchema(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && isJsonObject(member(value, 'properties')) && typeof member(value, 'type') === 'string';
}

/** A schema of the attributes of the span, as Logfire writes one: their names have dots, and those of arguments have none. */
function isOfAttributes(schema: JsonValue | undefined): boolean {
  const properties = isJsonObject(schema) ? member(schema, 'properties') : undefined;
  return isJsonObject(properties) && Object.keys(properties).some((name) => name.includes('.'));
}

/** The properties of a schema without the rest of it say the types of arguments too, and no argument. */
export function isNoSchema(raw: AttributeValue): boolean {
  const value = typeof raw === 'string' ? parseContainer(raw) : undefined;
  return !isSchema(value) && !isProperties(value) && schemaOfZod(value) === undefined;
}

/** True for names of arguments, each with the type of its schema. */
export function isProperties(value: JsonValue | undefined): boolean {
  const members = isJsonObject(value) ? Object.values(value) : [];
  return members.length > 0 && members.every((one) => isJsonObject(one) && schemaTypes.has(member(one, 'type')));
}

const schemaTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']);
