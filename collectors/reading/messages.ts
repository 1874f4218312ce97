/**
 * Conversations as SDKs write them, in one shape. Understood: OpenAI chat and Responses items, the GenAI conventions' parts, Anthropic
 * blocks, Gemini contents, Genkit's and the AI SDK's content parts, LangChain messages and `[role, text]` pairs.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { AskedCall, Message, ToldResult } from '../collector.ts';
import { jsonOf, parseText } from './parsing.ts';
import { isPlaceholder } from './placeholders.ts';
import { reasoningIn } from './reasoning.ts';
import { isCutContainer } from './truncation.ts';
import { readArguments, readResult } from './values.ts';

/** A conversation longer than this is cut at its beginning: what counts for a run stands at the end. */
export const messagesMax = 10_000;

interface Draft {
  role: Message['role'];
  texts: string[];
  reasoning: string[];
  asked: AskedCall[];
  told: ToldResult[];
}

/** The messages of a conversation; empty when the value is none. `role` is taken for messages that name none. */
export function readMessages(raw: AttributeValue | undefined, role: Message['role'] = 'user'): readonly Message[] {
  if (raw === undefined || raw === null) return [];
  let value = jsonOf(raw);
  if (typeof value === 'string') value = parseText(value);
  if (typeof value === 'string') return value === '' || isPlaceholder(value) || isCutContainer(value) ? [] : [{ role, text: value, asked: [], told: [] }];
  if (isJsonObject(value)) {
    const inner = member(value, 'messages') ?? member(value, 'contents');
    if (isJsonArray(inner)) value = inner;
  }
  const list = isJsonArray(value) ? value : [value];
  if (isPair(list)) return [readMessage(list, role)].filter((message) => message !== undefined);
  if (list.length > 0 && list.every((item) => isJsonArray(item) && !isPair(item))) return list.flatMap((inner) => readMessages(inner, role));
  return messagesIn(list, role);
}

/** The messages that a list of objects holds, one each. */
export function messagesIn(list: readonly JsonValue[], role: Message['role']): readonly Message[] {
  return list.slice(-messagesMax).flatMap((item) => readMessage(item, role) ?? []);
}

/** The text that a person would read in the messages' last one with text. */
export function lastText(messages: readonly Message[], role: Message['role']): string | undefined {
  return messages.findLast((message) => message.role === role && message.text !== undefined && message.text !== '')?.text;
}

export function systemText(messages: readonly Message[]): string | undefined {
  return messages.find((message) => message.role === 'system')?.text;
}

function isPair(item: JsonValue): item is readonly [string, string] {
  return isJsonArray(item) && item.length === 2 && typeof item[0] === 'string' && typeof item[1] === 'string' && roleOf(item[0]) !== undefined;
}

function readMessage(item: JsonValue, fallback: Message['role']): Message | undefined {
  if (isPair(item)) return { role: roleOf(item[0]) ?? fallback, text: item[1], asked: [], told: [] };
  if (typeof item === 'string') return { role: fallback, text: item, asked: [], told: [] };
  if (!isJsonObject(item)) return undefined;
  const message = unwrapped(item);
  const draft: Draft = { role: roleOfMessage(message) ?? fallback, texts: [], reasoning: [], asked: [], told: [] };
  readItem(message, draft);
  const toolCalls = member(message, 'tool_calls') ?? member(message, 'toolCalls');
  if (isJsonArray(toolCalls)) for (const call of toolCalls) pushCall(call, draft);
  if (draft.told.length > 0 && draft.texts.length === 0 && draft.role !== 'assistant') draft.role = 'tool';
  return finished(draft);
}

/** LangChain's constructor and dictionary forms, and the frames of choices and candidates around a message. */
function unwrapped(item: JsonObject): JsonObject {
  const kwargs = member(item, 'kwargs');
  if (member(item, 'lc') !== undefined && isJsonObject(kwargs)) {
    const id = member(item, 'id');
    const name = isJsonArray(id) ? id.at(-1) : undefined;
    return typeof name === 'string' ? { type: name, ...kwargs } : kwargs;
  }
  const data = member(item, 'data');
  const type = member(item, 'type');
  if (isJsonObject(data) && typeof type === 'string' && roleOf(type) !== undefined) return { ...data, type };
  const message = member(item, 'message');
  if (isJsonObject(message)) return unwrapped(message);
  return item;
}

const roles: { readonly [name: string]: Message['role'] } = {
  system: 'system', developer: 'system', systemmessage: 'system',
  user: 'user', human: 'user', humanmessage: 'user',
  assistant: 'assistant', ai: 'assistant', model: 'assistant', aimessage: 'assistant', aimessagechunk: 'assistant', reasoning: 'assistant',
  tool: 'tool', function: 'tool', toolmessage: 'tool',
};

function roleOf(name: string): Message['role'] | undefined {
  const known = name.toLowerCase();
  return Object.hasOwn(roles, known) ? roles[known] : undefined;
}

function roleOfMessage(message: JsonObject): Message['role'] | undefined {
  const role = member(message, 'role');
  if (typeof role === 'string') return roleOf(role);
  const type = member(message, 'type');
  if (type === 'function_call' || type === 'reasoning') return 'assistant';
  if (type === 'function_call_output') return 'tool';
  return typeof type === 'string' ? roleOf(type) : undefined;
}

/** One message, item, block or part. The kinds are told apart by their members, for dialects share the shapes. */
function readItem(item: JsonObject, draft: Draft): void {
  const type = member(item, 'type');
  if (isCall(item, type)) return pushCall(item, draft);
  if (isResult(item, type, draft.role)) return pushResult(item, draft);
  const thought = reasoningIn(item, type);
  if (thought !== undefined) {
    draft.reasoning.push(...thought.texts);
    if (thought.isAll) return;
  }
  const text = member(item, 'text');
  if (typeof text === 'string') draft.texts.push(text);
  const parts = member(item, 'parts') ?? member(item, 'content');
  if (typeof parts === 'string') draft.texts.push(parts);
  else if (isJsonArray(parts)) for (const part of parts) readPart(part, draft);
  else if (isJsonObject(parts)) readItem(parts, draft);
}

function readPart(part: JsonValue, draft: Draft): void {
  if (typeof part === 'string') draft.texts.push(part);
  else if (isJsonObject(part)) readItem(part, draft);
}


function isCall(item: JsonObject, type: JsonValue | undefined): boolean {
  return (
    type === 'tool_call' || type === 'tool-call' || isJsonObject(member(item, 'tool_call')) || type === 'function_call' || type === 'tool_use' || type === 'tool_call_request' ||
    isJsonObject(member(item, 'functionCall')) || isJsonObject(member(item, 'function_call')) || isJsonObject(member(item, 'toolUse')) ||
    isJsonObject(member(item, 'toolRequest'))
  );
}

function isResult(item: JsonObject, type: JsonValue | undefined, role: Message['role']): boolean {
  return (
    type === 'tool_call_response' || type === 'tool-result' || isJsonObject(member(item, 'tool_call_result')) || type === 'function_call_output' || type === 'tool_result' ||
    isJsonObject(member(item, 'functionResponse')) || isJsonObject(member(item, 'function_response')) || isJsonObject(member(item, 'toolResult')) ||
    isJsonObject(member(item, 'toolResponse')) ||
    (role === 'tool' && hasOwnResult(item))
  );
}

/** A message of role tool is itself the result, unless its content is a list of result parts. Without content it still says that there was one. */
function hasOwnResult(item: JsonObject): boolean {
  const content = member(item, 'content') ?? member(item, 'parts');
  if (content === undefined) return typeof (member(item, 'tool_call_id') ?? member(item, 'id')) === 'string';
  return !isJsonArray(content) || !content.some((part) => isJsonObject(part) && isResult(part, member(part, 'type'), 'user'));
}

function pushCall(item: JsonValue, draft: Draft): void {
  if (!isJsonObject(item)) return;
  const inner = [member(item, 'functionCall'), member(item, 'function_call'), member(item, 'toolUse'), member(item, 'toolRequest'), member(item, 'tool_call'), member(item, 'function')].find((value) => isJsonObject(value)) ?? {};
  const from = { ...item, ...inner };
  const name = firstText(from, ['name', 'toolName', 'tool_name']);
  if (name === undefined) return;
  const id = firstText(item, ['call_id', 'id', 'toolCallId', 'tool_call_id', 'tool_use_id']) ?? firstText(from, ['id', 'toolUseId', 'toolCallId', 'ref']);
  const given = ['arguments', 'args', 'input', 'parameters'].find((key) => Object.hasOwn(from, key));
  draft.asked.push({ name, ...(id === undefined ? {} : { id }), ...(given === undefined ? {} : readArguments(from[given])) });
}

function pushResult(item: JsonObject, draft: Draft): void {
  const inner: JsonObject = [member(item, 'functionResponse'), member(item, 'function_response'), member(item, 'toolResult'), member(item, 'toolResponse'), member(item, 'tool_call_result')].find((value) => isJsonObject(value)) ?? {};
  const origin = member(inner, 'origin');
  const from = { ...item, ...(isJsonObject(origin) ? origin : {}), ...inner };
  const id = firstText(from, ['tool_call_id', 'call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'id', 'ref']);
  const name = firstText(from, ['name', 'toolName', 'tool_name']);
  const key = ['response', 'result', 'output', 'content'].find((candidate) => Object.hasOwn(from, candidate));
  const isGemini = isJsonObject(member(item, 'functionResponse')) || isJsonObject(member(item, 'function_response'));
  const read = key === undefined ? undefined : readResult(isGemini ? geminiOutput(from[key] ?? null) : typedOutput(from[key] ?? null));
  const isError = read?.failed === true || member(from, 'is_error') === true || member(from, 'isError') === true || member(from, 'status') === 'error' || member(inner, 'error') === true;
  draft.told.push({ ...(read?.result === undefined ? {} : { result: read.result }), ...(read?.resultPart === undefined ? {} : { resultPart: read.resultPart }), ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }), ...(isError ? { isError } : {}) });
}

/** The AI SDK writes `{type: 'text' | 'json' | 'error-text', value}`. */
function typedOutput(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'value') || !Object.hasOwn(value, 'type')) return value;
  const type = value['type'];
  if (type === 'error-text' || type === 'error-json') return { content: value['value'] ?? null, isError: true };
  return type === 'text' || type === 'json' || type === 'content' ? (value['value'] ?? null) : value;
}

/** Gemini wants an object as a function's response; SDKs put a plain value under `result` or `output`. */
function geminiOutput(value: JsonValue): JsonValue {
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  return isJsonObject(value) && keys.length === 1 && (keys[0] === 'result' || keys[0] === 'output') ? (value[keys[0]] ?? null) : value;
}

function firstText(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = member(object, key);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function finished(draft: Draft): Message {
  const texts = draft.texts.filter((text) => !isPlaceholder(text));
  return {
    role: draft.role,
    ...(texts.length > 0 ? { text: texts.join('') } : {}),
    ...(draft.reasoning.length > 0 ? { reasoning: draft.reasoning.join('\n') } : {}),
    asked: draft.asked,
    told: draft.told,
  };
}
