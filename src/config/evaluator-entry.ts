/** An entry of `evaluators` in its long form. */
import type { EvaluatorEntry } from '../../evaluators/configured.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';

export function entryOf(entry: JsonValue): JsonObject {
  if (typeof entry === 'string') return { use: entry };
  return isJsonObject(entry) ? entry : {};
}

/** What concerns the evaluator itself. */
export function evaluatorEntry(written: JsonObject): EvaluatorEntry {
  const [use, name] = [member(written, 'use'), member(written, 'name')];
  const rest = (['options', 'expect', 'threshold', 'on_empty', 'include_explanation', 'judge'] as const).flatMap((key) => {
    const value = member(written, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return { use: typeof use === 'string' ? use : '', ...(typeof name === 'string' ? { name } : {}), ...Object.fromEntries(rest) };
}
