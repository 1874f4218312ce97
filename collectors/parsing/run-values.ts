/** A run's input and output as frameworks dump them: plain text, messages, or an object with a telling member. */
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { lastText, readMessages } from './messages.ts';
import { jsonOf, parseContainer, isPlaceholder, unquotedText } from './parsing.ts';
import { isProperties } from './schema-evidence.ts';
import { isUnfinished } from './truncation.ts';

/** `value`: the words of the user or the agent. `dump`: something around them that cannot be taken apart; better than nothing. */
export interface RunValue {
  readonly value?: string;
  readonly dump?: string;
}

const inputMembers = ['task', 'input', 'query', 'question', 'prompt', 'user_input', 'user_message', 'user_msg', 'message'] as const;
const outputMembers = ['raw', 'output', 'final_output', 'response', 'answer', 'result', 'text', 'content', '_value'] as const;

export function runInput(raw: AttributeValue | undefined): RunValue {
  return runValue(raw, 'user', inputMembers);
}

export function runOutput(raw: AttributeValue | undefined): RunValue {
  return runValue(raw, 'assistant', outputMembers);
}

/** The text form of an object of Python's, such as `StopEvent(result=…)`. */
const PYTHON_OBJECT = /^[A-Z]\w*\(/;

function runValue(raw: AttributeValue | undefined, role: 'user' | 'assistant', members: readonly string[]): RunValue {
  if (raw === undefined || raw === null || raw === '' || raw === 'null' || isPlaceholder(raw)) return {};
  const json = jsonOf(raw);
  if (typeof json === 'string') {
    const container = onlyText(parseContainer(unquotedText(json) ?? json));
    if (typeof container === 'string') return { value: container };
    // The parameters of an agent are not its input.
    if (isProperties(container)) return {};
    if (container !== undefined) return { ...said(container, role, members), dump: json };
    // The remainder of a truncated value is neither the user's question nor the agent's answer.
    if (isUnfinished(json)) return {};
    return PYTHON_OBJECT.test(json) ? { dump: json } : { value: json };
  }
  const only = onlyText(json);
  if (typeof only === 'string') return { value: only };
  if (isJsonObject(json) || isJsonArray(json)) return { ...said(json, role, members), dump: jsonText(json) };
  return { value: String(json) };
}

/** A list of one text equals the text. */
function onlyText<T extends JsonValue | undefined>(value: T): T | string {
  return isJsonArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value;
}

/** The name of a run is not its question. */
const NAME = /(?:^|[_-]|[a-z](?=[A-Z]))(?:name|id)$/i;

/** Frames nest a few times at most. */
const framesMax = 4;

function said(value: JsonObject | readonly JsonValue[], role: 'user' | 'assistant', members: readonly string[], depth = 0): RunValue {
  if (looksLikeMessages(value)) {
    const text = lastText(readMessages(value, role), role);
    if (text !== undefined) return { value: text };
  }
  if (!isJsonObject(value)) return {};
  const framed = depth < framesMax ? insideFrame(value) : undefined;
  if (typeof framed === 'string') return { value: framed };
  if (isJsonObject(framed) || isJsonArray(framed)) return said(framed, role, members, depth + 1);
  for (const key of members) {
    const inner = member(value, key);
    if (typeof inner === 'string') return { value: inner };
    if (isJsonArray(inner) || isJsonObject(inner)) {
      const deeper = looksLikeMessages(inner) ? lastText(readMessages(inner, role), role) : undefined;
      if (deeper !== undefined) return { value: deeper };
    }
  }
  return role === 'user' ? onlyArgument(value) : {};
}

/** A traced function with one argument has just that as its input; options with their defaults may be beside it. */
function onlyArgument(value: JsonObject): RunValue {
  const given = Object.entries(value).filter(([, argument]) => isGiven(argument));
  const [key = '', only] = given[0] ?? [];
  return given.length === 1 && typeof only === 'string' && !NAME.test(key) ? { value: only } : {};
}

function isGiven(value: JsonValue): boolean {
  if (isJsonArray(value)) return value.length > 0;
  return isJsonObject(value) ? Object.keys(value).length > 0 : value !== null && value !== '';
}

/** Unwraps the frame that SDKs put around the arguments and results of a traced function. */
function insideFrame(object: JsonObject): JsonValue | undefined {
  const args = member(object, 'args');
  if (isJsonArray(args) && isJsonObject(member(object, 'kwargs'))) return args.length > 0 ? args[0] : member(object, 'kwargs');
  if (isJsonArray(args) && args.length === 1 && typeof args[0] === 'string') return args[0];
  return member(object, 'inputs') ?? member(object, 'input_args') ?? member(object, 'outputs');
}

function looksLikeMessages(value: JsonValue): boolean {
  if (isJsonObject(value)) {
    const inner = member(value, 'messages') ?? member(value, 'contents');
    return isMessage(value) || (isJsonArray(inner) && looksLikeMessages(inner));
  }
  if (!isJsonArray(value)) return false;
  return value.some((item) => isMessage(item) || (isJsonArray(item) && (isRolePair(item) || item.some(isMessage))));
}

function isRolePair(item: readonly JsonValue[]): boolean {
  return (
    item.length === 2 &&
    typeof item[0] === 'string' &&
    ['system', 'user', 'human', 'assistant', 'ai'].includes(item[0]) &&
    typeof item[1] === 'string'
  );
}

function isMessage(item: JsonValue): boolean {
  if (!isJsonObject(item)) return false;
  if (typeof member(item, 'role') === 'string') return true;
  const type = member(item, 'type');
  return (
    (member(item, 'lc') !== undefined && isJsonObject(member(item, 'kwargs'))) ||
    (typeof type === 'string' && ['human', 'ai', 'HumanMessage', 'AIMessage'].includes(type))
  );
}
