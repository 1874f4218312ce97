/** The first step of a run that went wrong, and the later ones. Tool calls are in the order of their start. */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';
import type { StoredRun, StoredVerdict } from '../model/store/store.ts';

/** Later steps that are named. */
export const laterFailuresMax = 20;

export interface FailedStep {
  /** Position among the tool calls of the run, from 0. */
  readonly call: number;
  readonly tool: string;
  readonly spanId: string | undefined;
  /** Names of the failed verdicts about the call; empty when only the call itself failed. */
  readonly evaluators: readonly string[];
}

export interface FirstFailure extends FailedStep {
  readonly later: readonly FailedStep[];
  readonly laterLeftOut: number;
}

/** `undefined` when no call failed, or the store has no content of the run. */
export function firstFailure({ content, verdicts }: Pick<StoredRun, 'content' | 'verdicts'>): FirstFailure | undefined {
  const given = content === undefined ? null : (member(content, 'tool_calls') ?? null);
  const calls = isJsonArray(given) ? given.map((call) => (isJsonObject(call) ? call : {})) : [];
  const byCall = evaluatorsByCall(
    verdicts.filter(({ verdict }) => verdict === 'fail'),
    calls,
  );
  const steps = calls.flatMap((call, at): readonly FailedStep[] => {
    const evaluators = [...(byCall.get(at) ?? [])];
    if (evaluators.length === 0 && call['outcome'] !== 'failed') return [];
    return [{ call: at, tool: textOf(call['name']) ?? '', spanId: textOf(call['span_id']), evaluators }];
  });
  const [first, ...later] = steps;
  return first === undefined
    ? undefined
    : { ...first, later: later.slice(0, laterFailuresMax), laterLeftOut: Math.max(0, later.length - laterFailuresMax) };
}

function evaluatorsByCall(failed: readonly StoredVerdict[], calls: readonly JsonObject[]): ReadonlyMap<number, ReadonlySet<string>> {
  const bySpan = new Map(calls.flatMap((call, at) => (typeof call['span_id'] === 'string' ? [[call['span_id'], at] as const] : [])));
  const found = new Map<number, Set<string>>();
  for (const { name, evidence, details } of failed) {
    const parts = failedCalls(details);
    const named = evidence.flatMap((span) => bySpan.get(span) ?? []);
    // A verdict whose evidence is the whole run does not say which call went wrong.
    const isOfAll = calls.length > 1 && new Set(named).size === calls.length;
    for (const at of parts.length > 0 ? parts : isOfAll ? [] : named) found.set(at, (found.get(at) ?? new Set<string>()).add(name));
  }
  return found;
}

/** Positions of the calls among the failed parts. */
function failedCalls(details: JsonObject): readonly number[] {
  const parts = member(details, 'parts') ?? null;
  return (isJsonArray(parts) ? parts : []).flatMap((part) => {
    if (!isJsonObject(part) || part['of'] !== undefined || part['passed'] !== false) return [];
    return typeof part['index'] === 'number' ? [part['index']] : [];
  });
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
