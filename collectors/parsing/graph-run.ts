/** A span of a LangChain graph that tells its whole conversation: the messages that it was given, and the same with all that came of them. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { SpanFacts } from '../collector.ts';
import { jsonOf, parseText } from './parsing.ts';
import { readMessages } from './messages.ts';

/** Empty for the steps inside a graph, which give back their own messages only. */
export function graphRun(input: AttributeValue | undefined, output: AttributeValue | undefined): SpanFacts {
  const [given, all] = [messagesOf(input), messagesOf(output)];
  const inputMessages = readMessages(given, 'user');
  const messages = readMessages(all, 'assistant');
  const outputMessages = messages.slice(inputMessages.length);
  const goesOn = inputMessages.every(({ role, text }, at) => messages[at]?.role === role && messages[at].text === text);
  if (inputMessages.length === 0 || !goesOn || !outputMessages.some(({ role }) => role === 'assistant')) return {};
  const agentName = all.map(agentOf).findLast((name) => name !== undefined);
  return { ...(agentName === undefined ? { role: 'workflow' } : { role: 'agent', agentName }), inputMessages, outputMessages };
}

function messagesOf(raw: AttributeValue | undefined): readonly JsonValue[] {
  const value = raw === undefined ? undefined : jsonOf(raw);
  const parsed = typeof value === 'string' ? parseText(value) : value;
  const messages = isJsonObject(parsed) ? member(parsed, 'messages') : undefined;
  return isJsonArray(messages) ? messages : [];
}

/** The agent that an assistant’s message names as its author. */
function agentOf(message: JsonValue): string | undefined {
  const id = isJsonObject(message) ? member(message, 'id') : undefined;
  const said: JsonObject | undefined = isJsonArray(id) && id.at(-1) === 'AIMessage' ? inside(message as JsonObject) : undefined;
  const name = said === undefined ? undefined : member(said, 'name');
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function inside(message: JsonObject): JsonObject | undefined {
  const kwargs = member(message, 'kwargs');
  return isJsonObject(kwargs) ? kwargs : undefined;
}
