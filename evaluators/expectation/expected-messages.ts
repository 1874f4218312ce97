/** The reference conversation of `expect.messages`: roles, and the calls that each message asks for, with the results that it tells of them. Other texts play no part. */
import type { ToolCall } from '../../src/model/agent-trace.ts';
import type { ExpectedMessage, ExpectedToolCall } from '../../src/model/expectation.ts';
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import type { JsonSchema, Fault } from '../evaluator.ts';
import { readMessages } from './messages.ts';

/** What `expect.messages` may hold. */
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
    // One message's calls stand together, in its order.
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

/** A message of the role `tool` tells the result, or else the call itself under `result`. */
function expectedCall({ name, arguments: sent, executed, result: told }: ToolCall, written: JsonValue | undefined): ExpectedToolCall {
  const result = executed ? told : isJsonObject(written) ? member(written, 'result') : undefined;
  return { name, arguments: sent ?? {}, ...(result === undefined ? {} : { result }) };
}
