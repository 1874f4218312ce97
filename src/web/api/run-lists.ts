/** The long lists in the answer about one run, with as many entries as the request wants. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import type { StoredRun } from '../../model/store/store.ts';

/** The content of a run with the first of its tool calls, and how many are left out. */
export function contentWithCalls(run: StoredRun, most: number | undefined): JsonObject {
  if (run.content === undefined) return {};
  const calls = toolCallsOf(run);
  if (most === undefined || calls.length <= most) return { ...run.content, tool_calls_left_out: 0 };
  return { ...run.content, tool_calls: calls.slice(0, most), tool_calls_left_out: calls.length - most };
}

/** Parts of a verdict's details, at most: all failed ones, then the first that passed. `parts_left_out` counts the others. */
export function detailsWithParts(details: JsonObject, most: number | undefined): JsonObject {
  const parts = member(details, 'parts') ?? null;
  if (most === undefined || !isJsonArray(parts) || parts.length <= most) return details;
  const failures = parts.filter((part) => !hasPassed(part)).length;
  let room = Math.max(0, most - failures);
  const kept = parts.filter((part) => !hasPassed(part) || room-- > 0);
  const before = member(details, 'parts_left_out') ?? null;
  const leftOut = isJsonObject(before) ? before : {};
  return {
    ...details,
    parts: kept,
    parts_left_out: { failed: numberOf(leftOut['failed']), passed: numberOf(leftOut['passed']) + parts.length - kept.length },
  };
}

export function toolCallsOf({ content = {} }: StoredRun): readonly JsonValue[] {
  const calls = member(content, 'tool_calls') ?? null;
  return isJsonArray(calls) ? calls : [];
}

function hasPassed(part: JsonValue): boolean {
  return isJsonObject(part) && part['passed'] === true;
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
