/** Tool definitions as SDKs write them: flat, nested under `function`, Gemini's declarations, or bare names. */
import type { ToolDefinition } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { jsonOf, parseText, isPlaceholder } from './parsing.ts';
import { parsePythonObject } from './python-literal.ts';
import { isCutShort } from './truncation.ts';
import { schemaOfZod } from './zod-schema.ts';

/** More tools than this are not offered to one model in earnest. */
export const definitionsMax = 1_000;

/** The definitions in a list, a JSON text of a list, or a list of JSON texts. Items that are not definitions are left out. */
export function readDefinitions(raw: AttributeValue | undefined): readonly ToolDefinition[] {
  if (raw === undefined || raw === null) return [];
  let value = jsonOf(raw);
  if (typeof value === 'string') value = parseText(value);
  const list = isJsonArray(value) ? value : [value];
  return list.slice(0, definitionsMax).flatMap(readDefinition);
}

/** Names in one text: `find_order, refund_order`. */
const NAMES = /^[\w.-]{1,128}(?:, ?[\w.-]{1,128})+$/;

const schemaKeys = [
  'inputSchema',
  'input_schema',
  'parameters',
  'parameters_json_schema',
  'parametersJsonSchema',
  'json_schema',
  'inputs',
] as const;

/** The text form of an object has no name: `<FunctionTool object at 0x7f…>`. */
const OBJECT_TEXT = /^<[^]*>$/;

const OBJECT = /^[A-Z]\w{0,100}\(\w{1,100}=/;

function readDefinition(item: JsonValue): readonly ToolDefinition[] {
  if (typeof item === 'string') {
    // The text form of an object of Python's: `Tool(name='t', description='…', parameters={…})`.
    if (OBJECT.test(item)) return readDefinition(parsePythonObject(item) ?? null);
    // A text that an SDK's limit truncated does not name a tool.
    if (NAMES.test(item))
      return item
        .split(',')
        .slice(0, definitionsMax)
        .map((name) => ({ name: name.trim() }));
    if (!/^\s*[[{]/.test(item)) return item === '' || OBJECT_TEXT.test(item) || isPlaceholder(item) ? [] : [{ name: item }];
    const parsed = parseJson(item);
    return isJsonArray(parsed)
      ? parsed.slice(0, definitionsMax).flatMap((one) => (isJsonObject(one) ? readDefinition(one) : []))
      : parsed === undefined
        ? []
        : readDefinition(parsed);
  }
  if (!isJsonObject(item)) return [];
  const declarations = member(item, 'functionDeclarations') ?? member(item, 'function_declarations');
  if (isJsonArray(declarations)) return declarations.flatMap(readDefinition);
  // Bedrock: `{tools: [{toolSpec: {name, inputSchema: {json}}}]}`.
  const listed = member(item, 'tools');
  if (isJsonArray(listed) && member(item, 'name') === undefined) return listed.flatMap(readDefinition);
  const nested = member(item, 'function') ?? member(item, 'toolSpec');
  const from: JsonObject = isJsonObject(nested) ? nested : item;
  const written = member(from, 'name');
  const isOpen = opensTools(member(item, 'type'), written);
  const name = typeof written === 'string' && written !== '' ? written : isOpen ? openName(item) : undefined;
  if (name === undefined) return [];
  const description = member(from, 'description');
  const raw = schemaKeys.map((key) => member(from, key)).find((value) => value !== undefined && value !== null);
  const given = typeof raw === 'string' ? (parseJson(raw) ?? raw) : raw;
  const framed = isJsonObject(given) && Object.keys(given).length === 1 ? member(given, 'json') : undefined;
  const plain = isJsonObject(framed) ? framed : given;
  const schema = schemaOfZod(plain) ?? schemaOfProperties(plain) ?? plain;
  const isCut = [description, schema].some((value) => typeof value === 'string' && isCutShort(value));
  return [
    {
      name,
      ...(typeof description === 'string' && !isCutShort(description) ? { description } : {}),
      ...(schema === undefined || (typeof schema === 'string' && isCut) ? {} : { inputSchema: schema }),
      ...(member(from, 'strict') === true || member(item, 'strict') === true ? { strict: true as const } : {}),
      ...(isOpen ? { open: true as const } : {}),
      ...(isCut ? { truncated: true } : {}),
    },
  ];
}

/** The schema around bare properties: `{"title": {"type": "string"}}`. Undefined for any other value, and for a schema. */
export function schemaOfProperties(value: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(value) || isJsonObject(member(value, 'properties'))) return undefined;
  const properties = Object.values(value);
  const isMap = properties.length > 0 && properties.every((one) => isJsonObject(one) && typeof member(one, 'type') === 'string');
  return isMap ? { type: 'object', properties: value } : undefined;
}

/**
 * Types of API entries that represent tools without listing them: `{type: 'mcp', server_label}`, `{type: 'tool_search_tool_regex_20251119', name}`.
 */
const OPEN = /^(?:mcp(?:_toolset|_server)?|tool_search\w{0,60})$/;

function opensTools(type: JsonValue | undefined, name: JsonValue | undefined): boolean {
  return (typeof type === 'string' && OPEN.test(type)) || (typeof name === 'string' && name.startsWith('tool_search'));
}

function openName(item: JsonObject): string {
  const named = ['server_label', 'mcp_server_name', 'type'].map((key) => member(item, key)).find((value) => typeof value === 'string');
  return String(named);
}

/** Comparing each with each is quick only up to this number. */
const comparedMax = 32;

function namesDiffer(list: readonly ToolDefinition[]): boolean {
  return list.length <= comparedMax && list.every(({ name }, at) => list.findIndex((other) => other.name === name) === at);
}

/** One list out of several: the first that names a tool counts, later ones fill in what it lacks. */
export function unitedDefinitions(lists: readonly (readonly ToolDefinition[])[]): readonly ToolDefinition[] {
  const [only] = lists;
  // Mostly every request of an agent offers the same tools, and repeats the same list.
  if (only !== undefined && lists.every((list) => list === only) && namesDiffer(only)) return only;
  const byName = new Map<string, ToolDefinition>();
  for (const definition of lists.flat()) {
    const known = byName.get(definition.name);
    byName.set(definition.name, known === undefined ? definition : { ...definition, ...known });
  }
  return [...byName.values()];
}
