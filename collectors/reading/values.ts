/** Arguments and results as SDKs write them: JSON text, Python notation, texts in texts, and the frameworks' wrappers around them. */
import { isJsonArray, isJsonObject, jsonText, member, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { parsePythonLiteral } from './python-literal.ts';

/** Frameworks wrap at most a few times; more is somebody's own data. */
const wrappersMax = 6;

export interface ReadArguments {
  /** Null: something was sent that is not an object; `argumentsText` holds it. */
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
}

/** A result without its wrapper, and what the wrapper said. */
export interface ReadResult {
  readonly result: JsonValue;
  readonly callId?: string;
  readonly toolName?: string;
  readonly failed?: boolean;
}

/** An attribute value as a JSON value; bytes become base64. */
export function jsonOf(value: AttributeValue): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value !== 'object' || value === null || !holdsBytes(value)) return value as JsonValue;
  return isJsonArray(value) ? value.map(jsonOf) : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]));
}

function holdsBytes(value: AttributeValue): boolean {
  return typeof value === 'object' && value !== null && (value instanceof Uint8Array || Object.values(value).some(holdsBytes));
}

/** The object or list that a text holds, in JSON or in Python notation. */
export function parseContainer(text: string): JsonObject | readonly JsonValue[] | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  const value = parseJson(text) ?? parsePythonLiteral(text);
  return isJsonObject(value) || isJsonArray(value) ? value : undefined;
}

/** The value of a text that holds an object, a list or a quoted text; any other text stays as it is. */
export function parseText(text: string): JsonValue {
  const container = parseContainer(text);
  if (container !== undefined) return container;
  if (text.startsWith('"') && text.endsWith('"')) return parseJson(text) ?? text;
  return text;
}

/** A call's arguments as an object, without `{"args":[],"kwargs":{}}` and the like around them. */
export function readArguments(raw: AttributeValue | undefined): ReadArguments {
  if (raw === undefined) return {};
  let value = jsonOf(raw);
  for (let level = 0; level < wrappersMax; level++) {
    if (typeof value === 'string') {
      const parsed = value.trim() === '' ? {} : parseText(value);
      if (parsed === value) break;
      value = parsed;
    } else if (isJsonObject(value)) {
      const inner = argumentsInside(value);
      if (inner === 'nameless') return {};
      if (inner === undefined) return { arguments: value };
      value = inner.value;
    } else break;
  }
  if (isJsonObject(value)) return { arguments: value };
  return { arguments: null, argumentsText: typeof raw === 'string' ? raw : jsonText(value) };
}

/** The arguments in a frame; nameless: they were given by their places, and which is which the span does not tell. */
function argumentsInside(object: JsonObject): { readonly value: JsonValue } | 'nameless' | undefined {
  const kwargs = member(object, 'kwargs');
  if (isJsonObject(kwargs) && hasOnly(object, ['args', 'kwargs', 'sanitize_inputs_outputs'])) {
    const args = member(object, 'args');
    if (!isJsonArray(args) || args.length === 0) return { value: kwargs };
    const [only, ...others] = args;
    return only !== undefined && others.length === 0 && Object.keys(kwargs).length === 0 && mayHoldObject(only) ? { value: only } : 'nameless';
  }
  const inputText = member(object, 'input_str');
  return typeof inputText === 'string' ? { value: inputText } : undefined;
}

function mayHoldObject(value: JsonValue): boolean {
  return typeof value === 'string' ? /^\s*(?:[{"]|$)/.test(value) : isJsonObject(value);
}

/** A tool's result without the message objects that frameworks put around it. */
export function readResult(raw: AttributeValue): ReadResult {
  let found: { result: JsonValue; callId?: string; toolName?: string; failed?: boolean } = { result: jsonOf(raw) };
  for (let level = 0; level < wrappersMax; level++) {
    const value = found.result;
    const inner = typeof value === 'string' ? { result: parseText(value) } : isJsonArray(value) ? textOfParts(value) : isJsonObject(value) ? resultInside(value) : undefined;
    if (inner === undefined || inner.result === value) break;
    found = { ...found, ...inner };
  }
  return found;
}

/** The texts of `[{type: 'text', text}]` put together; undefined for any other list. */
export function textOfParts(list: readonly JsonValue[]): { readonly result: JsonValue } | undefined {
  if (list.length === 0) return undefined;
  const texts: string[] = [];
  for (const part of list) {
    if (!isJsonObject(part)) return undefined;
    const text = member(part, 'text');
    const type = member(part, 'type');
    if (typeof text !== 'string' || (type !== undefined && type !== 'text' && type !== 'output_text' && type !== 'input_text')) return undefined;
    if (type === undefined && Object.keys(part).length > 1) return undefined;
    texts.push(text);
  }
  return { result: texts.join('') };
}

type Inside = ReadResult | undefined;

/** Each frame is recognised by members that no plain result has by chance. */
const frames: readonly ((object: JsonObject) => Inside)[] = [
  // LangChain's serialised message, bare: {"lc":1,"kwargs":{"content":…,"status":…}}
  (object) => (member(object, 'lc') !== undefined && isJsonObject(member(object, 'kwargs')) ? toolMessage(member(object, 'kwargs') as JsonObject) : undefined),
  // LangChain's message dictionary: {"type":"tool","data":{"content":…}}
  (object) => (member(object, 'type') === 'tool' && isJsonObject(member(object, 'data')) ? toolMessage(member(object, 'data') as JsonObject) : undefined),
  // A tool message of any framework.
  (object) => (isToolMessage(object) ? toolMessage(object) : undefined),
  // One of the above under a single member.
  (object) => {
    const output = hasOnly(object, ['output', 'kwargs', 'tags', 'metadata']) ? member(object, 'output') : undefined;
    return isJsonObject(output) && resultInside(output) !== undefined ? { result: output } : undefined;
  },
  // Gemini's function response.
  (object) => (hasOnly(object, ['id', 'name', 'response']) && Object.hasOwn(object, 'response') && Object.hasOwn(object, 'name') ? named(object, 'response') : undefined),
  // LlamaIndex: blocks of text beside the tool's name.
  (object) => (isJsonArray(member(object, 'blocks')) && Object.hasOwn(object, 'tool_name') ? blocks(object) : undefined),
  // One text part.
  (object) => (member(object, 'type') === 'text' && typeof member(object, 'text') === 'string' && hasOnly(object, ['type', 'text', 'annotations', 'meta', '_meta']) ? { result: member(object, 'text') ?? '' } : undefined),
  // MCP's tool result, and a bare content member.
  (object) => (Object.hasOwn(object, 'content') && hasOnly(object, ['content', 'isError', 'is_error', 'structuredContent', 'meta', '_meta']) ? mcpResult(object) : undefined),
];

function resultInside(object: JsonObject): Inside {
  for (const frame of frames) {
    const inside = frame(object);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function isToolMessage(object: JsonObject): boolean {
  if (!Object.hasOwn(object, 'content')) return false;
  const kind = member(object, 'type') ?? member(object, 'role');
  return kind === 'tool' || kind === 'ToolMessage' || kind === 'tool_result' || typeof member(object, 'tool_call_id') === 'string';
}

function toolMessage(message: JsonObject): ReadResult {
  const callId = member(message, 'tool_call_id') ?? member(message, 'tool_use_id');
  const toolName = member(message, 'name');
  return {
    result: member(message, 'content') ?? null,
    ...(typeof callId === 'string' ? { callId } : {}),
    ...(typeof toolName === 'string' ? { toolName } : {}),
    ...(member(message, 'status') === 'error' || member(message, 'is_error') === true ? { failed: true } : {}),
  };
}

function named(object: JsonObject, key: string): ReadResult {
  const id = member(object, 'id');
  return { result: member(object, key) ?? null, ...(typeof id === 'string' ? { callId: id } : {}) };
}

function blocks(object: JsonObject): ReadResult {
  const list = (member(object, 'blocks') as readonly JsonValue[]).map((block) => (isJsonObject(block) ? member(block, 'text') : undefined));
  return { result: list.filter((text) => typeof text === 'string').join(''), ...(member(object, 'is_error') === true ? { failed: true } : {}) };
}

function mcpResult(object: JsonObject): ReadResult {
  const failed = member(object, 'isError') === true || member(object, 'is_error') === true;
  return { result: member(object, 'content') ?? null, ...(failed ? { failed: true } : {}) };
}

function hasOnly(object: JsonObject, allowed: readonly string[]): boolean {
  return Object.keys(object).every((key) => allowed.includes(key));
}

/** The value of a text that an SDK writes as JSON whatever the value is: `null`, `42` and `"42"` are three values. */
export function writtenValue(raw: string | undefined): JsonValue | undefined {
  const value = raw === undefined ? undefined : parseJson(raw);
  return value === undefined ? raw : value;
}

/** The text inside a quoted JSON text; any other text as it is. */
export function unquotedText(raw: string | undefined): string | undefined {
  const value = raw === undefined ? undefined : parseText(raw);
  return typeof value === 'string' ? value : raw;
}
