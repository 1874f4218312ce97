/** What the store tells, as the API writes it: snake_case, times in RFC 3339 with microseconds, what is not known null. */
import { worstTurns } from '../../analytics/worst-turns.ts';
import { wire } from '../../model/attributes.ts';
import type { JsonObject } from '../../model/json.ts';
import { judgeTrace } from '../../model/judge-call.ts';
import { runTargetId } from '../../model/verdict.ts';
import { timeText, type Micros } from '../../model/timestamp.ts';
import type { MetricFamily } from '../../telemetry/registry.ts';
import type { IdentifiedAnnotation } from '../../model/store/annotation-store.ts';
import type { ContentGone, RunRow, StoredDecision, StoredRun, StoredVerdict, SummaryRow, ToolRow } from '../../model/store/store.ts';

export function runRowJson(row: RunRow): JsonObject {
  return {
    trace_id: row.traceId,
    span_id: row.spanId,
    tenant: row.tenant,
    agent: row.agent ?? null,
    service: row.service ?? null,
    version: row.version ?? null,
    session_id: row.sessionId ?? null,
    model: row.model ?? null,
    started_at: timeOf(row.startedAt),
    ended_at: timeOf(row.endedAt),
    completeness: row.completeness,
    status: row.status,
    revision: row.revision,
    verdicts: row.verdicts.map(shortVerdictJson),
  };
}

/** A run whose content is not kept says why instead: an empty field would look like an empty answer. */
export function runJson(run: StoredRun): JsonObject {
  const { verdicts: _short, ...row } = runRowJson(run);
  return {
    ...run.content,
    ...row,
    content_kept: run.content !== undefined,
    content_gone: run.contentGone === undefined ? null : { reason: run.contentGone, explanation: goneSentences[run.contentGone] },
    spans_kept: run.spans,
    spans_gone: run.spans > 0 ? null : spansGoneJson(run),
    part_of: run.partOf ?? null,
    verdicts: run.verdicts.map((verdict) => ({
      ...shortVerdictJson(verdict),
      explanation: verdict.explanation,
      evidence: [...verdict.evidence],
      details: verdict.details,
      sample_probability: verdict.sampleProbability,
      judge_trace: judgeTraceJson(run, verdict),
    })),
    decisions: run.decisions.map(shortDecisionJson),
    annotations: run.annotations.map(annotationJson),
  };
}

/** Where what judges were asked for it is told, by exporters that tell it. */
function judgeTraceJson(run: StoredRun, { name, revision, details }: StoredVerdict): JsonObject | null {
  if (details['judge_requests'] === undefined) return null;
  const session = details['session'] === undefined ? undefined : run.sessionId;
  const target =
    session === undefined
      ? ({ targetKind: 'run', targetId: runTargetId(run) } as const)
      : ({ targetKind: 'session', targetId: session } as const);
  const { traceId, spanId } = judgeTrace({ tenant: run.tenant, ...target, name }, revision);
  return { trace_id: traceId, span_id: spanId };
}

function annotationJson({ id, toolCall, name, by, kind, label, score, passed, explanation, at }: IdentifiedAnnotation): JsonObject {
  return {
    id,
    tool_call: toolCall ?? null,
    name,
    by,
    kind,
    label: label ?? null,
    score: score ?? null,
    passed: passed ?? null,
    explanation,
    at: timeOf(at),
  };
}

const goneSentences: { readonly [reason in ContentGone]: string } = {
  switched_off: 'The configuration keeps no content (store.content is none).',
  sampled_out: 'Nothing failed in this run, and it is not in the sample (store.content, store.content_sample).',
  overload: 'The service had too much to do when the run was scored, and wrote no content (tracejury_stress_shed_total).',
  too_large: 'It is larger than what is kept of a run.',
  expired: 'It was older than store.keep.content.',
  unknown: 'An earlier release let it go.',
};

/** Why no spans of its trace are kept. */
export function spansGoneJson({ contentGone }: StoredRun): { readonly reason: string; readonly explanation: string } {
  if (contentGone !== undefined) return { reason: contentGone, explanation: goneSentences[contentGone] };
  return {
    reason: 'not_stored',
    explanation:
      'They are stored when all runs of the trace have closed; a trace that is too large, or that came before the store could keep up, is left out.',
  };
}

function shortVerdictJson({ name, evaluator, version, revision, verdict, score, label, reason }: StoredVerdict): JsonObject {
  return {
    name,
    evaluator,
    version,
    revision,
    status: statusOf(verdict),
    score: score ?? null,
    label,
    passed: verdict === 'pass' ? true : verdict === 'fail' ? false : null,
    reason: reason ?? null,
  };
}

function statusOf(verdict: StoredVerdict['verdict']): 'scored' | 'skipped' | 'failed' {
  return verdict === 'skipped' ? 'skipped' : verdict === 'error' ? 'failed' : 'scored';
}

/** A verdict on the whole session, which stands with its last turn, is none on that turn. */
export function worstTurnsJson(turns: readonly RunRow[]): readonly JsonObject[] {
  const scores = turns.map(({ verdicts }) => verdicts.filter(({ details }) => details['session'] === undefined));
  return worstTurns(scores).map(({ name, scored, worst, score }) => {
    const run = worst === undefined ? undefined : turns[worst];
    const verdict = run?.verdicts.find((one) => one.name === name);
    return {
      name,
      scored_turns: scored,
      worst_turn: worst === undefined ? null : worst + 1,
      score: score ?? null,
      passed: verdict?.verdict === 'pass' ? true : verdict?.verdict === 'fail' ? false : null,
      trace_id: run?.traceId ?? null,
      span_id: run?.spanId ?? null,
    };
  });
}

export function decisionJson(one: StoredDecision): JsonObject {
  return { trace_id: one.traceId, span_id: one.spanId, tenant: one.tenant, ...shortDecisionJson(one) };
}

function shortDecisionJson({ name, evaluator, revision, decision, reason }: StoredDecision): JsonObject {
  return { name, evaluator, revision, decision, reason: reason ?? null };
}

export function summaryJson({ at, name, verdict, count, score }: SummaryRow): JsonObject {
  return { at: timeOf(at), name, verdict, count, mean_score: score ?? null };
}

export function toolJson({ agent, name, calls, errors, notExecuted, tookMicros }: ToolRow): JsonObject {
  return {
    agent: agent ?? null,
    name,
    calls,
    errors,
    not_executed: notExecuted,
    mean_seconds: tookMicros === undefined ? null : tookMicros / 1_000_000,
  };
}

function timeOf(micros: Micros): string {
  return timeText(BigInt(Math.max(0, micros)) * 1_000n);
}

/** The counter of evaluability, a row for each set of labels. */
export function evaluabilityRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const points = families.find(({ name }) => name === 'tracejury.evaluability')?.points ?? [];
  return points.flatMap((point) => {
    if (point.kind !== 'number') return [];
    const label = (name: string): string | null => point.labels[name] ?? null;
    return [
      {
        agent: label(wire.agentName),
        dialect: label('tracejury.dialect'),
        name: label(wire.evaluationName),
        outcome: label('tracejury.outcome'),
        reason: label('tracejury.reason'),
        need: label('tracejury.need'),
        count: point.value,
      },
    ];
  });
}
