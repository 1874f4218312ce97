/** When a tool's result is the output that was expected: as values where both sides hold one, else as texts. */
import { jsonText, parseJson, parseJsonContainer } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from './equality.ts';

/** A result that is null or was not carried reads as the empty text. */
export function outputEqual(expected: JsonValue, actual: JsonValue | undefined): boolean {
  const wanted = expected ?? '';
  const got = actual ?? '';
  if (typeof wanted === 'string') return textEqual(wanted, got);
  if (typeof got !== 'string') return jsonEqual(wanted, got);
  const parsed = parseJson(withoutFence(got));
  return parsed !== undefined && jsonEqual(wanted, parsed);
}

function textEqual(wanted: string, got: JsonValue): boolean {
  if (typeof got === 'string') {
    if (wanted === got) return true;
    const [one, other] = [parseJsonContainer(wanted), parseJsonContainer(got)];
    return one !== undefined && other !== undefined && jsonEqual(one, other);
  }
  if (typeof got !== 'object') return wanted === jsonText(got);
  const parsed = parseJsonContainer(withoutFence(wanted));
  return parsed !== undefined && jsonEqual(parsed, got);
}

/** The inside of a text that is one fenced code block, else the text itself. */
export function withoutFence(text: string): string {
  return /^\s*```[a-z]*\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text;
}
