/** Turns a stored verdict into the verdict that it was written from. */
import { parseSpanId } from '../model/ids.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import type { StoredVerdict } from '../model/store/store.ts';
import type { PartVerdict, Verdict } from '../model/verdict.ts';
import { present } from '../model/present.ts';

export function verdictOfStored(
  { verdict, score = 0, label, explanation, reason = '', evidence, details }: StoredVerdict,
  threshold: number | null,
): Verdict {
  if (verdict === 'error') return { kind: 'failed', error: reason, explanation, details };
  // The store holds only reasons that it was given.
  if (verdict === 'skipped')
    return { kind: 'skipped', reason: reason as Extract<Verdict, { kind: 'skipped' }>['reason'], explanation, details };
  const parts = member(details, 'parts');
  return {
    kind: 'scored',
    score,
    threshold,
    passed: verdict === 'raw' ? null : verdict === 'pass',
    label,
    explanation,
    evidence: evidence.flatMap((id) => parseSpanId(id) ?? []),
    parts: parts !== undefined && isJsonArray(parts) ? parts.flatMap(partOf) : [],
    details,
  };
}

const partKinds = ['retriever', 'sub_agent', 'model_call'] as const;

function partOf(written: JsonValue): readonly PartVerdict[] {
  if (!isJsonObject(written)) return [];
  const text = (key: string): string | undefined => textAt(written, key);
  const [spanId, callId] = [parseSpanId(text('span_id') ?? ''), text('call_id')];
  const of = partKinds.find((kind) => kind === text('of'));
  return [
    present({
      of,
      index: Number(member(written, 'index')),
      tool: text('tool') ?? '',
      callId,
      spanId,
      score: Number(member(written, 'score')),
      passed: member(written, 'passed') === true,
      explanation: text('explanation') ?? '',
    }),
  ];
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}
