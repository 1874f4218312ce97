/** What a tool's own result says about failure, read as text conventions have it. */
import type { JsonValue } from '../../src/model/json.ts';

/** No visible character: no-break and ideographic spaces are blank, a zero-width space is not. */
export function isBlank(result: JsonValue): boolean {
  return result === null || (typeof result === 'string' && result.trim() === '');
}
