/** Evidence, in the keys of a span, of the tools that a model or an agent may use. */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { textAttribute, type Span } from '../../src/model/span.ts';
import type { ToolDefinition } from '../../src/model/agent-trace.ts';
import { readDefinitions } from './definitions.ts';
import { unflattened } from './flattened.ts';
import type { KeyEvidence } from './key-evidence.ts';
import { parseContainer } from './parsing.ts';
import { isToolName } from './tool-classes.ts';

/** The first list whose tools have schemas, else the first list. */
export function definitionsOf(span: Span, evidence: KeyEvidence): readonly ToolDefinition[] {
  let best: readonly ToolDefinition[] = [];
  for (const list of definitionLists(span, evidence)) {
    const found = list.filter(isNamedTool);
    if (found.length > 0 && !found.some(isBare)) return found;
    if (best.length === 0) best = found;
  }
  return best;
}

function* definitionLists(span: Span, { keys, lists }: KeyEvidence): Iterable<readonly ToolDefinition[]> {
  for (const list of lists.definitions ?? []) yield readDefinitions(unflattened(span, list).map(withSchema));
  for (const key of keys.definitions ?? []) yield readDefinitions(span.attribute(key));
  // The shape shows definitions under a key with any name.
  for (const list of lists.others ?? []) yield readDefinitions(unflattened(span, list).filter(isDefinitionText));
  for (const key of [...(keys.parameters ?? []), ...(keys.toolParameters ?? [])]) {
    const parameters = parseContainer(textAttribute(span, key) ?? '');
    for (const name of isJsonObject(parameters) ? ['tools', 'function_tools', 'functions'] : [])
      yield readDefinitions(member(parameters as JsonObject, name));
  }
  // The request, or the answer of an API that repeats it.
  for (const key of [...(keys.inputMessages ?? []), ...(keys.input ?? []), ...(keys.output ?? [])]) {
    const text = textAttribute(span, key) ?? '';
    const body = text.includes('"tools"') ? parseContainer(text) : undefined;
    if (isJsonObject(body)) yield toolsIn(body);
  }
}

function isDefinitionText(item: JsonValue): boolean {
  return typeof item === 'string' && DEFINITION.test(item);
}

const DEFINITION = /^\s*\{\s*"(?:type": ?"function"|function": ?\{)/;

/** Among the members of a request, or among the options beside its messages. */
function toolsIn(body: JsonObject): readonly ToolDefinition[] {
  const options = member(body, 'kwargs');
  const found = readDefinitions(member(body, 'tools'));
  return found.length > 0 || !isJsonObject(options) ? found : readDefinitions(member(options, 'tools'));
}

/** A tool takes something: where one list leaves the schemas out, another may have them. */
export function isBare({ inputSchema }: ToolDefinition): boolean {
  return inputSchema === undefined;
}

/** The text form of an object does not name a tool: `<FunctionTool object>`. */
const OBJECT_TEXT = /\{[^{}]*\}|<[^<>]*>|%s/;

function isNamedTool({ name }: ToolDefinition): boolean {
  return isToolName(name) && !OBJECT_TEXT.test(name);
}

/** A definition's arguments are their schema. */
function withSchema(item: JsonValue): JsonValue {
  const tool = isJsonObject(item) ? member(item, 'tool') : undefined;
  const whole = isJsonObject(item)
    ? (member(item, 'tool_json_schema') ?? (isJsonObject(tool) ? member(tool, 'json_schema') : undefined))
    : undefined;
  if (typeof whole === 'string') return parseContainer(whole) ?? item;
  const written = isJsonObject(item) ? member(item, 'arguments') : undefined;
  const schema = typeof written === 'string' ? parseContainer(written) : written;
  return isJsonObject(item) && isJsonObject(schema) && isJsonObject(member(schema, 'properties')) ? { ...item, parameters: schema } : item;
}
