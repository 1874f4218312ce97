/** Pydantic AI's message objects, dumped unchanged: a request or a response with parts, each with its `part_kind`. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** The same messages with roles; others unchanged. */
export function withRoles(list: readonly JsonValue[]): readonly JsonValue[] {
  // One form writes all messages of a list, so the first shows it.
  return list[0] !== undefined && partsOf(list[0]) !== undefined ? list.flatMap(messagesOf) : list;
}

function partsOf(item: JsonValue): readonly JsonValue[] | undefined {
  const parts = isJsonObject(item) ? member(item, 'parts') : undefined;
  const first = isJsonArray(parts) ? parts[0] : undefined;
  return isJsonArray(parts) && isJsonObject(first) && typeof member(first, 'part_kind') === 'string' ? parts : undefined;
}

function messagesOf(item: JsonValue): readonly JsonValue[] {
  const parts = (partsOf(item) ?? []).filter(isJsonObject);
  if (!isJsonObject(item) || parts.length === 0) return [item];
  const instructions = member(item, 'instructions');
  const asked = parts.flatMap(requestPart);
  const answer = parts.filter((part) => ['text', 'tool-call'].includes(kindOf(part)));
  return [
    ...(typeof instructions === 'string' && instructions !== '' ? [{ role: 'system', content: instructions }] : []),
    ...asked,
    ...(answer.length === 0 ? [] : [{ role: 'assistant', content: textOf(answer), tool_calls: answer.flatMap(toolCall) }]),
  ];
}

function kindOf(part: JsonObject): string {
  const kind = member(part, 'part_kind');
  return typeof kind === 'string' ? kind : '';
}

function requestPart(part: JsonObject): readonly JsonObject[] {
  const content = member(part, 'content') ?? null;
  const result = { role: 'tool', content, tool_call_id: member(part, 'tool_call_id') ?? null, name: member(part, 'tool_name') ?? null };
  switch (kindOf(part)) {
    case 'system-prompt':
      return [{ role: 'system', content }];
    case 'user-prompt':
      return [{ role: 'user', content }];
    case 'tool-return':
      return [result];
    case 'retry-prompt':
      return [typeof result.name === 'string' ? { ...result, status: 'error' } : { role: 'user', content }];
    default:
      return [];
  }
}

function textOf(parts: readonly JsonObject[]): string {
  return parts.flatMap((part) => (kindOf(part) === 'text' ? [member(part, 'content') ?? ''] : [])).join('');
}

function toolCall(part: JsonObject): readonly JsonObject[] {
  if (kindOf(part) !== 'tool-call') return [];
  const [id, name, args] = ['tool_call_id', 'tool_name', 'args'].map((key) => member(part, key) ?? null);
  return [{ type: 'function', id: id ?? null, function: { name: name ?? null, arguments: args ?? null } }];
}
