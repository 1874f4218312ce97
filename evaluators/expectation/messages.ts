/**
 * Reads a list of messages as the OpenAI chat API writes them. Calls keep the order of the messages, and each gets its result. Flat calls
 * `{id, name, args}`, the older `function_call` and the role `function` are read too.
 */
import type { ToolCall, TraceMessage } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, jsonText, member, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Fault, JsonSchema } from '../evaluator.ts';
import type { ExpectedMessage, ExpectedToolCall } from '../../src/model/expectation.ts';

export interface ReadMessages {
  readonly messages: readonly TraceMessage[];
  readonly toolCalls: readonly ToolCall[];
  /** Results without a call. */
  readonly orphanResults: number;
  /** Texts beside calls. */
  readonly reasoningSteps: readonly string[];
  /** The text of the last assistant message without calls. */
  readonly finalResponse: string | undefined;
  readonly faults: readonly Fault[];
}

/** Limits of messages and calls, as matching results to calls is a linear search. */
const messagesMax = 5_000;
const callsMax = 5_000;

/** A call that waits for its result. */
interface PendingCall {
  readonly call: ToolCall;
  /** Index of the message that requests it. */
  readonly at: number;
  answer?: ToolAnswer;
}

interface ToolAnswer {
  readonly at: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly result: JsonValue;
  readonly sign: 'is_error' | 'result_status' | undefined;
}

export function readMessages(value: JsonValue): ReadMessages {
  const faults: Fault[] = [];
  const pending: PendingCall[] = [];
  const answers: ToolAnswer[] = [];
  const messages: TraceMessage[] = [];
  for (const [at, one] of listed(value, faults).entries()) {
    const role = isJsonObject(one) ? member(one, 'role') : undefined;
    if (!isJsonObject(one) || typeof role !== 'string') {
      faults.push({
        path: isJsonObject(one) ? [at, 'role'] : [at],
        problem: isJsonObject(one) ? 'must be a text' : 'must be a message with a role',
      });
      continue;
    }
    const text = textOf(member(one, 'content'));
    const calls = role === 'assistant' ? requestedBy(one, at, pending, faults) : noCalls;
    if (role === 'tool' || role === 'function') answers.push(answerOf(one, at));
    messages.push(text === undefined ? { role, calls } : { role, text, calls });
  }
  const orphanResults = withAnswers(pending, answers);
  const assistant = messages.filter(({ role }) => role === 'assistant');
  return {
    messages,
    toolCalls: pending.map(withAnswer),
    orphanResults,
    reasoningSteps: assistant.flatMap(({ text, calls }) => (calls.length > 0 && text !== undefined && text.trim() !== '' ? [text] : [])),
    finalResponse: assistant.findLast(({ calls }) => calls.length === 0)?.text,
    faults,
  };
}

const noCalls: readonly number[] = [];

function listed(value: JsonValue, faults: Fault[]): readonly JsonValue[] {
  if (isJsonArray(value) && value.length <= messagesMax) return value;
  faults.push({ path: [], problem: isJsonArray(value) ? `has more than ${messagesMax} messages` : 'must be a list of messages' });
  return [];
}

/** The text of a content, or of the text parts of a list; `undefined` when there is none. */
function textOf(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!isJsonArray(content)) return undefined;
  const texts = content.flatMap((part) => {
    const text = isJsonObject(part) ? member(part, 'text') : part;
    return typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join('');
}

/** Appends the calls of a message and returns their indices. */
function requestedBy(message: JsonObject, at: number, pending: PendingCall[], faults: Fault[]): readonly number[] {
  const given = givenCalls(message, at, callsMax - pending.length, faults);
  const calls: number[] = [];
  for (const [nth, one] of given.entries()) {
    const call = isJsonObject(one) ? callOf(one, at) : undefined;
    if (call === undefined) faults.push({ path: [at, 'tool_calls', nth], problem: 'must be a call with a name' });
    else calls.push(pending.push({ call, at }) - 1);
  }
  return calls;
}

function givenCalls(message: JsonObject, at: number, max: number, faults: Fault[]): readonly JsonValue[] {
  const list = member(message, 'tool_calls');
  if (isJsonArray(list)) {
    if (list.length > max) faults.push({ path: [at, 'tool_calls'], problem: `makes more than ${callsMax} calls with those before it` });
    return list.length > max ? list.slice(0, max) : list;
  }
  if (list !== undefined && list !== null) faults.push({ path: [at, 'tool_calls'], problem: 'must be a list' });
  const older = member(message, 'function_call');
  return isJsonObject(older) ? [older] : [];
}

function callOf(given: JsonObject, turn: number): ToolCall | undefined {
  const inner = member(given, 'function');
  const described = isJsonObject(inner) ? inner : given;
  const name = member(described, 'name');
  if (typeof name !== 'string') return undefined;
  const id = member(given, 'id');
  const sent = sentArguments(member(described, 'arguments') ?? member(described, 'args'));
  return typeof id === 'string' && id !== '' ? { name, id, ...sent, executed: false, turn } : { name, ...sent, executed: false, turn };
}

/** Empty text and `null` mean no arguments; other values that are not objects stay text. */
function sentArguments(sent: JsonValue | undefined): Pick<ToolCall, 'arguments' | 'argumentsText'> {
  if (isJsonObject(sent)) return { arguments: sent };
  if (sent === undefined || sent === null) return { arguments: {} };
  const text = typeof sent === 'string' ? sent : jsonText(sent);
  const value = text.trim() === '' ? null : parseJson(text);
  if (value === null) return { arguments: {} };
  return isJsonObject(value) ? { arguments: value } : { arguments: null, argumentsText: text };
}

function answerOf(message: JsonObject, at: number): ToolAnswer {
  const id = member(message, 'tool_call_id');
  const name = member(message, 'name');
  const content = member(message, 'content');
  const sign = member(message, 'is_error') === true ? 'is_error' : member(message, 'status') === 'error' ? 'result_status' : undefined;
  return {
    at,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' ? name : undefined,
    result: textOf(content) ?? content ?? null,
    sign,
  };
}

/** Assigns answers to calls; a later answer with the same id wins. Returns the number of answers without a call. */
function withAnswers(pending: readonly PendingCall[], answers: readonly ToolAnswer[]): number {
  const byId = Map.groupBy(pending, ({ call }) => call.id);
  let orphans = 0;
  for (const answer of answers) {
    const found = answer.id === undefined ? unanswered(pending, answer) : latest(byId.get(answer.id) ?? [], answer.at);
    if (found === undefined) orphans++;
    else found.answer = answer;
  }
  return orphans;
}

/** The latest call before the answer, else the first after it, as ids may repeat in later turns. */
function latest(pending: readonly PendingCall[], at: number): PendingCall | undefined {
  return pending.findLast((one) => one.at < at) ?? pending[0];
}

function unanswered(pending: readonly PendingCall[], { at, name }: ToolAnswer): PendingCall | undefined {
  return pending.find((one) => one.answer === undefined && one.at < at && (name === undefined || one.call.name === name));
}

function withAnswer({ call, answer }: PendingCall): ToolCall {
  if (answer === undefined) return call;
  const { result, sign } = answer;
  return {
    ...call,
    executed: true,
    result,
    ...(sign === undefined ? {} : { error: { message: typeof result === 'string' ? result : jsonText(result), sign } }),
  };
}

/** Schema of `expect.messages`. */
export const expectedMessagesSchema: JsonSchema = {
  type: 'array',
  maxItems: 5000,
  description:
    'Messages as the OpenAI chat API writes them: roles, tool_calls with names and arguments, and messages of the role tool with what the calls returned.',
  items: { type: 'object', required: ['role'], properties: { role: { type: 'string' } } },
};

export function readExpectedMessages(value: JsonValue, path: Fault['path'], faults: Fault[]): readonly ExpectedMessage[] {
  const { messages, toolCalls, faults: found } = readMessages(value);
  for (const fault of found) faults.push({ ...fault, path: [...path, ...fault.path] });
  return messages.map(({ role, calls }, at) => {
    // The calls of a message are adjacent, in its order.
    const asked = calls.length === 0 ? [] : toolCalls.slice(calls[0], (calls.at(-1) ?? -1) + 1);
    if (asked.some((call) => call.arguments === null))
      faults.push({ path: [...path, at, 'tool_calls'], problem: 'has arguments that are not a JSON object' });
    const written = writtenCalls(value, at);
    return { role, toolCalls: asked.map((call, nth) => expectedCall(call, written[nth])) };
  });
}

/** The calls of all messages, in order. */
export function callsOfMessages(messages: readonly ExpectedMessage[]): readonly ExpectedToolCall[] {
  return messages.flatMap(({ toolCalls }) => toolCalls);
}

function writtenCalls(value: JsonValue, at: number): readonly JsonValue[] {
  const message = isJsonArray(value) ? value[at] : undefined;
  const calls = isJsonObject(message) ? member(message, 'tool_calls') : undefined;
  return isJsonArray(calls) ? calls : [];
}

/** The result is in a message of the role `tool`, or in the call under `result`. */
function expectedCall({ name, arguments: sent, executed, result: returned }: ToolCall, written: JsonValue | undefined): ExpectedToolCall {
  const result = executed ? returned : isJsonObject(written) ? member(written, 'result') : undefined;
  return { name, arguments: sent ?? {}, ...(result === undefined ? {} : { result }) };
}
