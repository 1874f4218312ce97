/** What a tool's own result says about failure, read as text conventions have it. */
import { isJsonArray, isJsonObject, member, parseJson } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import { balancedEnd } from './brackets.ts';

/** No visible character: no-break and ideographic spaces are blank, a zero-width space is not. */
export function isBlank(result: JsonValue): boolean {
  return result === null || (typeof result === 'string' && result.trim() === '');
}

/** What stands under `error` in a result that is an object, or a text that begins with one; undefined when it means no error. */
export function errorField(result: JsonValue): JsonValue | undefined {
  const object = typeof result === 'string' ? leadingObject(result) : result;
  if (!isJsonObject(object)) return undefined;
  const error = member(object, 'error');
  return error === undefined || meansNoError(error) ? undefined : error;
}

/** The object that a text begins with; what follows it (a stack trace, say) plays no part. */
function leadingObject(text: string): JsonObject | undefined {
  const start = text.trimStart();
  if (!start.startsWith('{')) return undefined;
  const end = balancedEnd(start, 0);
  const value = end === undefined ? undefined : parseJson(start.slice(0, end));
  return isJsonObject(value) ? value : undefined;
}

function meansNoError(error: JsonValue): boolean {
  return error === null || error === false || error === 0 || error === '' || (isJsonArray(error) && error.length === 0);
}
