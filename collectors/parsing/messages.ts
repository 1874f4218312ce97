/**
 * Conversations as SDKs write them, in one shape. Understood: OpenAI chat and Responses items, the GenAI conventions' parts, Anthropic
 * blocks, Gemini contents, Genkit's and the AI SDK's content parts, LangChain messages and `[role, text]` pairs.
 */
import type { Mutable } from '../../src/model/mutable.ts';
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { RepeatedTexts, RequestedCall, Message, ReportedResult } from '../collector.ts';
import { messageInRepr } from './message-reprs.ts';
import { withRoles } from './part-kinds.ts';
import { jsonOf, parseContainer, parseText, isPlaceholder, textOfParts } from './parsing.ts';
import { isMarkedProviders, providerPart, type ProviderPart } from './provider-tools.ts';
import { reasoningIn, spoken } from './reasoning.ts';
import { isUnfinished } from './truncation.ts';
import { addArguments, eachText, repeatedArguments, repeatedResult } from './values.ts';

/** A conversation longer than this loses its beginning: the part that counts for a run is at the end. */
export const messagesMax = 10_000;

/** Lists begin with their first item: most messages have none of most. */
interface Draft {
  role: Message['role'];
  /** It has some text, if only a placeholder. */
  hasText: boolean;
  text: string | undefined;
  reasoning: string | undefined;
  requested: RequestedCall[] | undefined;
  results: ReportedResult[] | undefined;
  readonly texts: RepeatedTexts;
}

const noCalls: readonly RequestedCall[] = [];
const noResults: readonly ReportedResult[] = [];
const noMessages: readonly Message[] = [];

/** The messages of a conversation; empty when the value is none. `role` is taken for messages that name none. */
export function readMessages(
  raw: AttributeValue | undefined,
  role: Message['role'] = 'user',
  texts: RepeatedTexts = eachText,
): readonly Message[] {
  if (raw === undefined || raw === null) return [];
  let value = jsonOf(raw);
  if (typeof value === 'string') value = parseText(value);
  if (typeof value === 'string') return value === '' || isPlaceholder(value) || isUnfinished(value) ? [] : [said(role, value)];
  if (isJsonObject(value)) {
    const inner = member(value, 'messages') ?? member(value, 'contents');
    if (isJsonArray(inner)) value = inner;
  }
  const list = withRoles(isJsonArray(value) ? value : [value]);
  if (isPair(list)) return [readMessage(list, role, texts)].filter((message) => message !== undefined);
  if (list.length > 0 && list.every((item) => isJsonArray(item) && !isPair(item)))
    return list.flatMap((inner) => readMessages(inner, role, texts));
  return messagesIn(list, role, texts);
}

/** The messages that a list of objects holds, one each. */
export function messagesIn(list: readonly JsonValue[], role: Message['role'], texts: RepeatedTexts = eachText): readonly Message[] {
  if (list.length === 1) {
    const only = readMessage(list[0], role, texts);
    return only === undefined ? noMessages : [only];
  }
  const found: Message[] = [];
  for (let at = Math.max(0, list.length - messagesMax); at < list.length; at++) {
    const message = readMessage(list[at], role, texts);
    if (message !== undefined) found.push(message);
  }
  return found;
}

/** The text that a person would read in the messages' last one with text. */
export function lastText(messages: readonly Message[], role: Message['role']): string | undefined {
  return messages.findLast((message) => message.role === role && message.text !== undefined && message.text !== '')?.text;
}

export function systemText(messages: readonly Message[]): string | undefined {
  return messages.find((message) => message.role === 'system')?.text;
}

/** The messages after the last one of another role: in a whole conversation, the answer. */
export function answerIn(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'assistant') + 1);
}

function isPair(item: JsonValue | undefined): item is readonly [string, string] {
  return (
    isJsonArray(item) && item.length === 2 && typeof item[0] === 'string' && typeof item[1] === 'string' && roleOf(item[0]) !== undefined
  );
}

function readMessage(item: JsonValue | undefined, fallback: Message['role'], texts: RepeatedTexts): Message | undefined {
  if (isPair(item)) return said(roleOf(item[0]) ?? fallback, item[1]);
  if (typeof item === 'string') {
    const written = messageInRepr(item) ?? (NAMED_ROLE.test(item) ? parseContainer(item) : undefined);
    return written === undefined ? said(fallback, item) : readMessage(written, fallback, texts);
  }
  if (!isJsonObject(item)) return undefined;
  const named = namedRole(item, fallback, texts);
  if (named !== undefined) return named;
  const message = withExtras(unwrapped(item));
  const draft: Draft = {
    role: roleOfMessage(message) ?? fallback,
    hasText: false,
    text: undefined,
    reasoning: undefined,
    requested: undefined,
    results: undefined,
    texts,
  };
  // Anthropic and Bedrock want results in a message of the user's, and flattened messages keep that role.
  if (draft.role === 'user' && typeof member(message, 'tool_call_id') === 'string') draft.role = 'tool';
  const asked = draft.role === 'assistant' ? callInContent(message) : undefined;
  if (asked === undefined) readItem(message, draft);
  else pushCall(asked, draft);
  const written = member(message, 'tool_calls') ?? member(message, 'toolCalls') ?? member(message, 'tool_requests') ?? namedTools(message);
  const toolCalls = typeof written === 'string' ? parseText(written) : written;
  if (isJsonArray(toolCalls)) for (const call of toolCalls) pushCall(call, draft);
  if (draft.results !== undefined && !draft.hasText && draft.role !== 'assistant') draft.role = 'tool';
  const end = draft.role === 'assistant' ? member(item, 'finish_reason') : undefined;
  return typeof end === 'string' ? { ...finished(draft), end } : finished(draft);
}

const CALL_CONTENT = /^\s*\{\s*"(?:name|arguments)"/;
const asking: ReadonlySet<unknown> = new Set(['tool_calls', 'tool_call', 'function_call']);

/** Some write a call as the content of the message that asks for it: `{"name": …, "arguments": …}`, with the call's id beside it. */
function callInContent(message: JsonObject): JsonObject | undefined {
  const written = member(message, 'content');
  const content = typeof written === 'string' && CALL_CONTENT.test(written) ? parseContainer(written) : written;
  if (!isJsonObject(content) || typeof member(content, 'name') !== 'string' || !Object.hasOwn(content, 'arguments')) return undefined;
  const id = member(message, 'tool_call_id');
  const isAsked = typeof id === 'string' || asking.has(member(message, 'finish_reason'));
  return isAsked && Object.keys(content).length === 2 ? { ...content, ...(typeof id === 'string' ? { id } : {}) } : undefined;
}

const NAMED_ROLE = /^\{ ?"(?:system|user|human|assistant|ai|tool)": ?["{[]/;
/** As `roles` below: a longer list would take a tool's result of one member for a message. */
const memberRoles: { readonly [name: string]: Message['role'] } = {
  system: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  tool: 'tool',
};

/** The role as the only member: `{"user": "…"}`. The place of an answer gives its role. Source: Monocle. */
function namedRole(item: JsonObject, fallback: Message['role'], texts: RepeatedTexts): Message | undefined {
  const name = onlyName(item);
  const content = name === undefined ? undefined : member(item, name);
  const role = name !== undefined && Object.hasOwn(memberRoles, name) ? memberRoles[name] : undefined;
  if (content === undefined || role === undefined || (role !== 'assistant' && fallback === 'assistant')) return undefined;
  const written = typeof content === 'string' && CALLS.test(content) ? (parseContainer(content) ?? content) : content;
  const calls: readonly JsonValue[] = isJsonArray(written) ? written : [written];
  if (role === 'assistant' && calls.length > 0 && calls.every((call) => isJsonObject(call) && callTypes.has(member(call, 'type'))))
    return readMessage({ role, tool_calls: calls }, role, texts);
  if (typeof content !== 'string') return undefined;
  return role === 'tool' ? { role, requested: noCalls, results: [{ ...repeatedResult(content, texts) }] } : said(role, content);
}

/** Calls in one text, as LangChain dumps them. */
const CALLS = /^\[?\{[^]*"type": ?"tool_call"/;

/** The name of the only member; undefined: there are more, or none. Most messages have more. */
function onlyName(item: JsonObject): string | undefined {
  let only: string | undefined;
  for (const name in item) {
    if (only !== undefined) return undefined;
    only = name;
  }
  return only;
}

/** LlamaIndex's message has blocks, and calls or the id of one among what the API said besides. */
function withExtras(message: JsonObject): JsonObject {
  for (const name of extras) {
    const extra = member(message, name);
    if (isJsonObject(extra) && (Object.hasOwn(extra, 'tool_calls') || Object.hasOwn(extra, 'tool_call_id')))
      return { ...extra, ...message };
  }
  return message;
}

const extras = ['additional_kwargs', 'extra'] as const;

/** Calls under the name of tools; those that a request offers have no arguments. Source: Monocle. */
function namedTools(message: JsonObject): JsonValue | undefined {
  const tools = member(message, 'tools');
  return isJsonArray(tools) && tools.every((tool) => isJsonObject(tool) && Object.hasOwn(tool, 'tool_arguments')) ? tools : undefined;
}

function said(role: Message['role'], text: string): Message {
  const { text: own, reasoning } = role === 'assistant' ? parted(text, undefined) : { text, reasoning: undefined };
  return {
    role,
    ...(own === undefined ? {} : { text: own }),
    ...(reasoning === undefined ? {} : { reasoning }),
    requested: noCalls,
    results: noResults,
  };
}

/** Models write their thoughts into the text, too. */
function parted(written: string, reasoning: string | undefined): Pick<Draft, 'text' | 'reasoning'> {
  const { text, thought } = spoken(written);
  return { text, reasoning: reasoning === undefined || thought === undefined ? (reasoning ?? thought) : `${reasoning}\n${thought}` };
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
  system: 'system',
  developer: 'system',
  systemmessage: 'system',
  user: 'user',
  human: 'user',
  humanmessage: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  aimessage: 'assistant',
  aimessagechunk: 'assistant',
  reasoning: 'assistant',
  tool: 'tool',
  function: 'tool',
  toolmessage: 'tool',
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

/** One message, item, block or part. Their members distinguish the kinds, for dialects share the shapes. */
function readItem(item: JsonObject, draft: Draft): void {
  const type = member(item, 'type');
  const framed = hasFrame(item);
  if (callTypes.has(type) || (framed && firstObject(item, callFrames) !== undefined) || (type === 'function' && isFunctionCall(item)))
    return pushCall(item, draft);
  if (isResult(item, type, framed) || (draft.role === 'tool' && hasOwnResult(item))) return pushResult(item, draft);
  const provided = providerPart(item, type);
  if (provided !== undefined) return pushProvided(provided, draft);
  const thought = reasoningIn(item, type);
  if (thought !== undefined) {
    for (const one of thought.texts) draft.reasoning = draft.reasoning === undefined ? one : `${draft.reasoning}\n${one}`;
    if (thought.isAll) return;
  }
  const text = member(item, 'text');
  if (typeof text === 'string') addText(text, draft);
  const parts = member(item, 'parts') ?? member(item, 'content') ?? member(item, 'blocks') ?? member(item, 'contents');
  if (typeof parts === 'string') addText(parts, draft);
  else if (isJsonArray(parts)) for (const part of parts) readPart(part, draft);
  else if (isJsonObject(parts)) readItem(parts, draft);
}

function readPart(part: JsonValue, draft: Draft): void {
  if (typeof part === 'string') addText(part, draft);
  else if (isJsonObject(part)) readItem(part, draft);
}

function addText(text: string, draft: Draft): void {
  draft.hasText = true;
  if (isPlaceholder(text)) return;
  const said = text.startsWith('[{"type":"text"') ? plainText(text) : text;
  draft.text = draft.text === undefined ? said : draft.text + said;
}

/** Some write the parts of a text as one text: `[{"type":"text","text":"You help."}]`. */
function plainText(text: string): string {
  const parts = parseText(text);
  const joined = isJsonArray(parts) ? textOfParts(parts)?.result : undefined;
  return typeof joined === 'string' ? joined : text;
}

const callTypes: ReadonlySet<unknown> = new Set(['tool_call', 'tool-call', 'function_call', 'tool_use', 'tool_call_request']);
const resultTypes: ReadonlySet<unknown> = new Set(['tool_call_response', 'tool-result', 'function_call_output', 'tool_result']);
/** Members that hold a call, and those that hold a result. */
const callFrames = ['functionCall', 'function_call', 'toolUse', 'toolRequest', 'tool_call'] as const;
const resultFrames = ['functionResponse', 'function_response', 'toolResult', 'toolResponse', 'tool_call_result', 'tool_result'] as const;

const frames: ReadonlySet<string> = new Set([...callFrames, ...resultFrames]);

/** Most items have none, and few members of any kind. */
function hasFrame(item: JsonObject): boolean {
  for (const name in item) if (frames.has(name)) return true;
  return false;
}

/** OpenAI's form of a call, which has a separate list beside the content, as a part of the content. */
function isFunctionCall(item: JsonObject): boolean {
  const called = member(item, 'function');
  return isJsonObject(called) && Object.hasOwn(called, 'arguments');
}

function isResult(item: JsonObject, type: JsonValue | undefined, framed = hasFrame(item)): boolean {
  return resultTypes.has(type) || (framed && firstObject(item, resultFrames) !== undefined);
}

function firstObject(item: JsonObject, names: readonly string[]): JsonObject | undefined {
  for (const name of names) {
    const value = member(item, name);
    if (isJsonObject(value)) return value;
  }
  return undefined;
}

/** A message of role tool is itself the result, unless its content is a list of result parts. Without content it still shows that there was one. */
function hasOwnResult(item: JsonObject): boolean {
  const content = member(item, 'content') ?? member(item, 'parts');
  if (content === undefined) return typeof (member(item, 'tool_call_id') ?? member(item, 'id')) === 'string';
  return !isJsonArray(content) || !content.some((part) => isJsonObject(part) && isResult(part, member(part, 'type')));
}

function pushCall(item: JsonValue, draft: Draft): void {
  if (!isJsonObject(item)) return;
  const from: Layers = { item, inner: firstObject(item, callFrames) ?? firstObject(item, functionFrame) ?? nothing, origin: nothing };
  const name = firstText(from, names);
  if (name === undefined) return;
  const id = firstText({ item, inner: nothing, origin: nothing }, outerCallIds) ?? firstText(from, innerCallIds);
  const given = firstMember(from, argumentNames);
  const call: Mutable<RequestedCall> = id === undefined ? { name } : { name, id };
  if (given !== undefined) addArguments(repeatedArguments(given, draft.texts), call);
  if (isMarkedProviders(item)) call.byProvider = true;
  addCall(call, draft);
}

/** Some write a call as a part of the content and again in a list of calls. Some providers give several calls of an answer one id. */
function addCall(call: RequestedCall, draft: Draft): void {
  if (draft.requested === undefined) draft.requested = [call];
  else if (call.id === undefined || !draft.requested.some((other) => other.id === call.id && mayBeSame(other, call)))
    draft.requested.push(call);
}

/** Arguments that one of them lacks decide nothing. */
function mayBeSame(one: RequestedCall, other: RequestedCall): boolean {
  if (one.name !== other.name) return false;
  const [left, right] = [one.arguments ?? undefined, other.arguments ?? undefined];
  return left === undefined || right === undefined || jsonText(left, { sortKeys: true }) === jsonText(right, { sortKeys: true });
}

function pushProvided({ id, name, given, result, isError }: ProviderPart, draft: Draft): void {
  const named = id === undefined ? { name } : { name, id };
  if (given !== undefined) {
    const call: Mutable<RequestedCall> = { ...named, byProvider: true };
    addArguments(repeatedArguments(given, draft.texts), call);
    addCall(call, draft);
  }
  if (result === undefined) return;
  const read = repeatedResult(result, draft.texts);
  const told: Mutable<ReportedResult> = named;
  if (read.result !== undefined) told.result = read.result;
  if (read.resultPart !== undefined) told.resultPart = read.resultPart;
  if (isError === true) told.isError = true;
  if (draft.results === undefined) draft.results = [told];
  else draft.results.push(told);
}

const functionFrame = ['function'] as const;
const names = ['name', 'toolName', 'tool_name'] as const;
const outerCallIds = ['call_id', 'id', 'toolCallId', 'tool_call_id', 'tool_use_id', 'tool_id', 'tool_request_id'] as const;
const innerCallIds = ['id', 'toolUseId', 'toolCallId', 'ref'] as const;
const argumentNames = ['arguments', 'args', 'input', 'parameters', 'tool_arguments'] as const;
const resultIds = ['tool_call_id', 'call_id', 'toolCallId', 'tool_use_id', 'toolUseId', 'tool_request_id', 'id', 'ref'] as const;
const resultNames = ['response', 'result', 'output', 'content'] as const;

function pushResult(item: JsonObject, draft: Draft): void {
  const inner = firstObject(item, resultFrames) ?? nothing;
  const origin = member(inner, 'origin');
  const from: Layers = { item, inner, origin: isJsonObject(origin) ? origin : nothing };
  const id = firstText(from, resultIds);
  const name = firstText(from, names);
  const value = firstMember(from, resultNames) ?? textInParts(member(item, 'parts'));
  const isGemini = isJsonObject(member(item, 'functionResponse')) || isJsonObject(member(item, 'function_response'));
  const read = value === undefined ? undefined : repeatedResult(isGemini ? geminiOutput(value) : typedOutput(value), draft.texts);
  const isError =
    read?.failed === true ||
    layered(from, 'is_error') === true ||
    layered(from, 'isError') === true ||
    layered(from, 'status') === 'error' ||
    member(inner, 'error') === true;
  const result: Mutable<ReportedResult> = {};
  if (read?.result !== undefined) result.result = read.result;
  if (read?.resultPart !== undefined) result.resultPart = read.resultPart;
  if (id !== undefined) result.id = id;
  if (name !== undefined) result.name = name;
  if (isError) result.isError = true;
  if (draft.results === undefined) draft.results = [result];
  else draft.results.push(result);
}

/** The conventions' text parts of a message that is a result: `{type: 'text', content}`. */
function textInParts(parts: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonArray(parts) || parts.length === 0) return undefined;
  const texts = parts.map((part) => (isJsonObject(part) && member(part, 'type') === 'text' ? member(part, 'content') : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : undefined;
}

/** A call or result, and the contents of its frames: the innermost that has a member provides it. */
interface Layers {
  readonly inner: JsonObject;
  readonly origin: JsonObject;
  readonly item: JsonObject;
}

const nothing: JsonObject = {};

function layered({ inner, origin, item }: Layers, key: string): JsonValue | undefined {
  return Object.hasOwn(inner, key) ? inner[key] : Object.hasOwn(origin, key) ? origin[key] : member(item, key);
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

function firstText(from: Layers, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = layered(from, key);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function firstMember(from: Layers, keys: readonly string[]): JsonValue | undefined {
  for (const key of keys) {
    const value = layered(from, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function finished(draft: Draft): Message {
  const { role } = draft;
  const { text, reasoning } = role === 'assistant' && draft.text !== undefined ? parted(draft.text, draft.reasoning) : draft;
  const requested: Message['requested'] = draft.requested ?? noCalls;
  const results: Message['results'] = draft.results ?? noResults;
  if (text === undefined) return reasoning === undefined ? { role, requested, results } : { role, reasoning, requested, results };
  return reasoning === undefined ? { role, text, requested, results } : { role, text, reasoning, requested, results };
}
