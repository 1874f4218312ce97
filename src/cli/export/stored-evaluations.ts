/** Verdicts that a store has of judges, as they were when they were reached; rules are looked up again. */
import type { EvaluatorConfig } from '../../config/config.ts';
import type { Run, SessionSoFar } from '../../model/agent-trace.ts';
import { parseSpanId } from '../../model/ids.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { targetKey } from '../../model/evaluation-key.ts';
import type { Evaluation, PartVerdict, Verdict } from '../../model/verdict.ts';
import type { StoredVerdict } from '../../model/store/store.ts';

export function storedEvaluations(run: Run, verdicts: readonly StoredVerdict[], plan: readonly EvaluatorConfig[]): readonly Evaluation[] {
  return verdicts.flatMap((stored) => {
    const planned = plan.find(({ configured }) => configured.name === stored.name);
    if (planned === undefined || planned.configured.kind === 'rule') return [];
    const { tenant, traceId, spanId } = run;
    return [
      {
        key: targetKey(member(stored.details, 'session') === undefined ? run : { ...run, session: asStored(stored) }, stored.name),
        run: { tenant, traceId, spanId },
        evaluator: stored.evaluator,
        evaluatorKind: planned.configured.kind,
        evaluatorVersion: stored.version,
        optionsHash: '',
        revision: stored.revision,
        completeness: run.completeness,
        verdict: verdictOf(stored, planned.configured.threshold),
        sampleProbability: stored.sampleProbability,
      },
    ];
  });
}

/** What is told of a session once it was judged. */
export function asStored({ revision }: Pick<StoredVerdict, 'revision'>): SessionSoFar {
  return { revision, turns: 0, leftOut: 0 };
}

function verdictOf(
  { verdict, score = 0, label, explanation, reason = '', evidence, details }: StoredVerdict,
  threshold: number | null,
): Verdict {
  if (verdict === 'error') return { kind: 'failed', error: reason, explanation, details };
  // The word comes out of a store that wrote it.
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

function partOf(written: JsonValue): readonly PartVerdict[] {
  if (!isJsonObject(written)) return [];
  const text = (key: string): string | undefined => textAt(written, key);
  const [spanId, callId] = [parseSpanId(text('span_id') ?? ''), text('call_id')];
  return [
    {
      index: Number(member(written, 'index')),
      tool: text('tool') ?? '',
      ...(callId === undefined ? {} : { callId }),
      ...(spanId === undefined ? {} : { spanId }),
      score: Number(member(written, 'score')),
      passed: member(written, 'passed') === true,
      explanation: text('explanation') ?? '',
    },
  ];
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}
