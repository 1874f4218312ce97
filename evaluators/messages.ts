/**
 * Reads a list of messages as the OpenAI chat API writes them: calls in the order of the messages, each with the result that belongs
 * to it. Flat calls `{id, name, args}`, the older `function_call` and the role `function` are read too.
 */
import type { ToolCall, TraceMessage } from '../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, jsonText, member, parseJson } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Fault } from './expectation.ts';

export interface ReadMessages {
  readonly messages: readonly TraceMessage[];
  readonly toolCalls: readonly ToolCall[];
  /** Results that answer none of the calls. */
  readonly orphanResults: number;
  /** Texts beside calls. */
  readonly reasoningSteps: readonly string[];
  /** The text of the last assistant message without calls. */
  readonly finalResponse: string | undefined;
  readonly faults: readonly Fault[];
}

/** Longer conversations, and ones with more calls, are refused: to find the call that a result answers, calls are searched one by one. */
const messagesMax = 5_000;
const callsMax = 5_000;

/** A call while its result is looked for. */
interface Asked {
  readonly call: ToolCall;
  /** Place of the message that asks for it. */
  readonly at: number;
  answer?: Told;
}

interface Told {
  readonly at: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly result: JsonValue;
  readonly sign: 'is_error' | 'result_status' | undefined;
}

export function readMessages(value: JsonValue): ReadMessages {
  const faults: Fault[] = [];
  const asked: Asked[] = [];
  const told: Told[] = [];
  const list = isJsonArray(value) && value.length <= messagesMax ? value : [];
  if (!isJsonArray(value)) faults.push({ path: [], problem: 'must be a list of messages' });
  else if (value.length > messagesMax) faults.push({ path: [], problem: `has more than ${messagesMax} messages` });
  const messages = list.flatMap((one, at): readonly TraceMessage[] => {
    if (!isJsonObject(one) || typeof one['role'] !== 'string') {
      faults.push({ path: isJsonObject(one) ? [at, 'role'] : [at], problem: isJsonObject(one) ? 'must be a text' : 'must be a message with a role' });
      return [];
    }
    const first = asked.length;
    const calls = one['role'] === 'assistant' ? callsOf(one, at, callsMax - first, faults) : [];
    asked.push(...calls.map((call) => ({ call, at })));
    if (one['role'] === 'tool' || one['role'] === 'function') told.push(toldOf(one, at));
    const text = textOf(member(one, 'content'));
    return [{ role: one['role'], ...(text === undefined ? {} : { text }), calls: calls.map((_, nth) => first + nth) }];
  });
  const orphanResults = told.filter((result) => !answered(asked, result)).length;
  const assistant = messages.filter(({ role }) => role === 'assistant');
  return {
    messages,
    toolCalls: asked.map(withAnswer),
    orphanResults,
    reasoningSteps: assistant.flatMap(({ text, calls }) => (calls.length > 0 && text !== undefined && text.trim() !== '' ? [text] : [])),
    finalResponse: assistant.findLast(({ calls }) => calls.length === 0)?.text,
    faults,
  };
}

/** The text of a content: as it is, or the text parts of a list together. Undefined: there is none. */
function textOf(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!isJsonArray(content)) return undefined;
  const texts = content.flatMap((part) => {
    const text = isJsonObject(part) ? member(part, 'text') : part;
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join('');
}

function callsOf(message: JsonObject, at: number, max: number, faults: Fault[]): readonly ToolCall[] {
  const listed = member(message, 'tool_calls');
  const older = member(message, 'function_call');
  const given = isJsonArray(listed) ? listed.slice(0, max) : isJsonObject(older) ? [older] : [];
  if (listed !== undefined && listed !== null && !isJsonArray(listed)) faults.push({ path: [at, 'tool_calls'], problem: 'must be a list' });
  if (isJsonArray(listed) && listed.length > max) faults.push({ path: [at, 'tool_calls'], problem: `makes more than ${callsMax} calls with those before it` });
  return given.flatMap((one, nth) => {
    const call = isJsonObject(one) ? callOf(one, at) : undefined;
    if (call === undefined) faults.push({ path: [at, 'tool_calls', nth], problem: 'must be a call with a name' });
    return call === undefined ? [] : [call];
  });
}

function callOf(given: JsonObject, turn: number): ToolCall | undefined {
  const inner = member(given, 'function');
  const told = isJsonObject(inner) ? inner : given;
  const [id, name] = [member(given, 'id'), member(told, 'name')];
  if (typeof name !== 'string') return undefined;
  return { name, ...(typeof id === 'string' && id !== '' ? { id } : {}), ...sentArguments(member(told, 'arguments') ?? member(told, 'args')), executed: false, turn };
}

/** No text and the word null are no arguments; what is not an object is kept as text. */
function sentArguments(sent: JsonValue | undefined): Pick<ToolCall, 'arguments' | 'argumentsText'> {
  if (isJsonObject(sent)) return { arguments: sent };
  if (sent === undefined || sent === null) return { arguments: {} };
  const text = typeof sent === 'string' ? sent : jsonText(sent);
  const value = text.trim() === '' ? null : parseJson(text);
  if (value === null) return { arguments: {} };
  return isJsonObject(value) ? { arguments: value } : { arguments: null, argumentsText: text };
}

function toldOf(message: JsonObject, at: number): Told {
  const [id, name, content] = [member(message, 'tool_call_id'), member(message, 'name'), member(message, 'content')];
  const sign = member(message, 'is_error') === true ? 'is_error' : member(message, 'status') === 'error' ? 'result_status' : undefined;
  return { at, id: typeof id === 'string' && id !== '' ? id : undefined, name: typeof name === 'string' ? name : undefined, result: textOf(content) ?? content ?? null, sign };
}

/** False: no call is there that it answers. A later answer with the same id replaces an earlier one. */
function answered(asked: readonly Asked[], told: Told): boolean {
  const found = told.id === undefined ? unanswered(asked, told) : withId(asked, told.id, told.at);
  if (found !== undefined) found.answer = told;
  return found !== undefined;
}

/** The latest call before the answer, else the first after it: an id may be used again in a later turn. */
function withId(asked: readonly Asked[], id: string, at: number): Asked | undefined {
  return asked.findLast((one) => one.call.id === id && one.at < at) ?? asked.find((one) => one.call.id === id);
}

function unanswered(asked: readonly Asked[], { at, name }: Told): Asked | undefined {
  return asked.find((one) => one.answer === undefined && one.at < at && (name === undefined || one.call.name === name));
}

function withAnswer({ call, answer }: Asked): ToolCall {
  if (answer === undefined) return call;
  const { result, sign } = answer;
  return { ...call, executed: true, result, ...(sign === undefined ? {} : { error: { message: typeof result === 'string' ? result : jsonText(result), sign } }) };
}
