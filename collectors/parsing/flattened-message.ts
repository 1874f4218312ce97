/** One message of a list that was flattened into attribute keys, as OpenInference and those who follow it write it. */
import { isJsonArray, member, parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { objectOf, textIn } from './members.ts';

/** The message in OpenAI's form. */
export function flattenedMessage(item: JsonObject): JsonValue {
  const message = objectOf(member(item, 'message'));
  const functions = member(item, 'function');
  if (isJsonArray(functions))
    return {
      role: 'tool',
      content: functions.map((text) => ({ type: 'tool_result', ...objectOf(typeof text === 'string' ? parseJson(text) : text) })),
    };
  const contents = member(message, 'contents');
  const calls = member(message, 'tool_calls');
  const role = textIn(message, 'role') ?? '';
  if (isPlain(message, role)) return message;
  return {
    ...message,
    role: role === 'tool-call' ? 'assistant' : role === 'tool-response' ? 'user' : role,
    ...(member(message, 'content') === undefined && isJsonArray(contents)
      ? { content: contents.map((part) => member(objectOf(part), 'message_content') ?? null) }
      : {}),
    ...(role === 'tool-response' ? { role: 'tool', content: [] } : {}),
    tool_calls: isJsonArray(calls) ? calls.map((call) => member(objectOf(call), 'tool_call') ?? null) : [],
  };
}

/** It is in OpenAI's form already. */
function isPlain(message: JsonObject, role: string): boolean {
  return (
    role !== '' &&
    role !== 'tool-call' &&
    role !== 'tool-response' &&
    !Object.hasOwn(message, 'contents') &&
    !Object.hasOwn(message, 'tool_calls') &&
    !Object.hasOwn(message, 'toolCalls')
  );
}
