/** The reference conversation of `expect.messages`: roles, and the calls that each message asks for. Texts play no part. */
import type { ToolCall } from '../src/model/agent-trace.ts';
import type { ExpectedMessage, ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Fault } from './expectation.ts';
import { readMessages } from './messages.ts';

export function readExpectedMessages(value: JsonValue, path: Fault['path'], faults: Fault[]): readonly ExpectedMessage[] {
  const { messages, toolCalls, faults: found } = readMessages(value);
  for (const fault of found) faults.push({ ...fault, path: [...path, ...fault.path] });
  return messages.map(({ role, calls }, at) => {
    // One message's calls stand together, in its order.
    const asked = calls.length === 0 ? [] : toolCalls.slice(calls[0], (calls.at(-1) ?? -1) + 1);
    if (asked.some((call) => call.arguments === null)) faults.push({ path: [...path, at, 'tool_calls'], problem: 'has arguments that are not a JSON object' });
    return { role, toolCalls: asked.map(expectedCall) };
  });
}

function expectedCall({ name, arguments: sent }: ToolCall): ExpectedToolCall {
  return { name, arguments: sent ?? {} };
}
