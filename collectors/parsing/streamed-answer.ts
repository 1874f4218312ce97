/** Answers that SDKs dump as the list of chunks in which the chat API streamed them. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** The whole answer with its only choice, its usage and its model; undefined: the list holds something else. */
export function answerOfChunks(list: readonly JsonValue[]): JsonObject | undefined {
  const chunks = list.filter(isJsonObject);
  const deltas = chunks.map(deltaIn);
  if (chunks.length !== list.length || !deltas.some(isJsonObject)) return undefined;
  const content: string[] = [];
  const calls = new Map<JsonValue, JsonObject>();
  for (const delta of deltas.filter(isJsonObject)) {
    const text = member(delta, 'content');
    if (typeof text === 'string') content.push(text);
    const parts = member(delta, 'tool_calls');
    for (const part of isJsonArray(parts) ? parts.filter(isJsonObject) : []) {
      const index = member(part, 'index') ?? 0;
      calls.set(index, joinedCall(calls.get(index), part));
    }
  }
  const last = (name: string): JsonValue =>
    chunks.map((chunk) => member(chunk, name)).findLast((one) => one !== undefined && one !== null) ?? null;
  const message = { role: 'assistant', content: content.join(''), ...(calls.size === 0 ? {} : { tool_calls: [...calls.values()] }) };
  return { choices: [{ message }], usage: last('usage'), model: last('model') };
}

function deltaIn(chunk: JsonObject): JsonValue | undefined {
  const choices = member(chunk, 'choices');
  const [choice] = isJsonArray(choices) ? choices : [];
  return isJsonObject(choice) ? member(choice, 'delta') : undefined;
}

/** The first part of a call has its id and name; each has a piece of its arguments. */
function joinedCall(before: JsonObject | undefined, part: JsonObject): JsonObject {
  const named = member(part, 'function');
  const given = isJsonObject(named) ? named : {};
  if (before === undefined) return { id: member(part, 'id') ?? null, type: 'function', function: { ...given, arguments: textIn(given) } };
  const known = member(before, 'function') as JsonObject;
  return { ...before, function: { ...known, arguments: `${textIn(known)}${textIn(given)}` } };
}

function textIn(call: JsonObject): string {
  const text = member(call, 'arguments');
  return typeof text === 'string' ? text : '';
}
