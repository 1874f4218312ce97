/** Values without the frames that SDKs put around every value. */
import { isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { jsonOf, parseContainer, parseText } from './parsing.ts';

/** The value in `{"type": "json", "value": …}`, `[{"json": …}]` and the like. */
export function unwrapped(raw: AttributeValue | undefined): AttributeValue | undefined {
  if (raw === undefined) return undefined;
  const json = jsonOf(raw);
  const value = typeof json === 'string' ? parseText(json) : json;
  if (isJsonArray(value)) {
    const [only, ...others] = value;
    const inner = isJsonObject(only) && others.length === 0 && Object.keys(only).length === 1 ? member(only, 'json') : undefined;
    return inner === undefined ? raw : inner;
  }
  if (!isJsonObject(value)) return raw;
  const keys = Object.keys(value);
  // LangSmith's frame around what a function returns.
  if (keys.length === 1 && keys[0] === 'outputs') return member(value, 'outputs') ?? null;
  // The members that a framework keeps beside the output are left out where there is none.
  if (keys.length === 1 && keys[0] === 'output') return member(value, 'output') ?? null;
  const isTyped = keys.length === 2 && Object.hasOwn(value, 'type') && Object.hasOwn(value, 'value');
  return isTyped ? (member(value, 'value') ?? null) : raw;
}

/** The content of the one message that represents a tool's arguments or its result. */
export function onlyContent(raw: AttributeValue): AttributeValue {
  const value = typeof raw === 'string' ? parseContainer(raw) : raw;
  const [only, ...others] = isJsonArray(value) ? value : [];
  if (!isJsonObject(only) || others.length > 0 || typeof member(only, 'role') !== 'string') return raw;
  if (Object.hasOwn(only, 'content')) return member(only, 'content') ?? null;
  const parts = member(only, 'parts');
  const [part, ...more] = isJsonArray(parts) ? parts : [];
  const text = isJsonObject(part) && more.length === 0 && member(part, 'type') === 'text' ? member(part, 'content') : undefined;
  return typeof text === 'string' ? text : raw;
}
