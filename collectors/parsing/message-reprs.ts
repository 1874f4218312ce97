/** Messages in the text form of Python objects, as SDKs write them that serialise with `str`: `ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[…])`. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { parsePythonDump, parsePythonObject } from './python-literal.ts';

const OBJECT = /^[A-Z]\w{0,100}\(/;

/** The message that such a text holds, in the members that JSON would have; undefined for any other text, and for any other object. */
export function messageInRepr(text: string): JsonObject | undefined {
  const object = OBJECT.test(text) ? parsePythonObject(text) : undefined;
  if (object === undefined) return undefined;
  const message = plainObject(object);
  const type = member(message, 'type');
  const isMessage = typeof member(message, 'role') === 'string' || (typeof type === 'string' && /Message(?:Chunk)?$/.test(type));
  return isMessage ? message : undefined;
}

/** The named arguments of a request, where messages among them are objects: `{'messages': [ChatMessage(…)], 'tools': [Tool(…)]}`. */
export function requestInRepr(text: string): JsonObject | undefined {
  const request = text.startsWith("{'") && text.includes('Message(') ? parsePythonDump(text) : undefined;
  return isJsonObject(request) ? Object.fromEntries(Object.entries(request).map(([name, value]) => [name, below(value)])) : undefined;
}

/** Objects below the message: their members without a leading underline, calls and results as the conventions call them. */
export function plainObject(object: JsonObject): JsonObject {
  const members = Object.fromEntries(Object.entries(object).map(([key, value]) => [key.replace(/^_/, ''), below(value)]));
  const { type, ...rest } = members;
  if (typeof type !== 'string') return members;
  if (/^Text(?:Content|Block|Part)$/.test(type)) return { type: 'text', ...rest };
  if (/^ToolCall(?:Block|Part)?$/.test(type)) return { type: 'tool_call', ...rest };
  return /^Tool(?:Call)?Result$/.test(type) ? { tool_call_result: rest } : members;
}

/** A dictionary is the application's data and stays unchanged; only an object of a class has a type. */
function below(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(below);
  return isJsonObject(value) && typeof member(value, 'type') === 'string' && /^[A-Z]/.test(String(member(value, 'type')))
    ? plainObject(value)
    : value;
}
