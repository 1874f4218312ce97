/** The reference conversation of `expect.messages`: roles, and the calls that each message asks for. Texts play no part. */
import type { ExpectedMessage } from '../src/model/expectation.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Fault } from './expectation.ts';
import { readMessages } from './messages.ts';

export function readExpectedMessages(value: JsonValue, path: Fault['path'], faults: Fault[]): readonly ExpectedMessage[] {
  const { messages, toolCalls, faults: found } = readMessages(value);
  faults.push(...found.map((fault) => ({ ...fault, path: [...path, ...fault.path] })));
  return messages.map(({ role, calls }, at) => ({
    role,
    toolCalls: calls.flatMap((index) => {
      const call = toolCalls[index];
      if (call === undefined) return [];
      if (call.arguments === null) faults.push({ path: [...path, at, 'tool_calls'], problem: 'has arguments that are not a JSON object' });
      return [{ name: call.name, arguments: call.arguments ?? {} }];
    }),
  }));
}
