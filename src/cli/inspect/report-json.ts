/** Writes the report of `inspect` as one JSON object. */
import { jsonText, type JsonObject, type JsonValue } from '../../model/json.ts';
import { isLack, placesOf, missingDataOf } from '../../pipeline/reporting/missing-data.ts';
import { agentShares, type AgentShares, type Evaluability, type InspectedRun, type Report } from './inspection.ts';
import type { SubAgent } from '../../model/agent-trace.ts';
import { runJson } from '../../model/run-json.ts';

export function reportJson({ recorded, replayed, runs }: Report): string {
  const text = jsonText({
    spans: recorded.spans.length,
    log_records: recorded.records.length,
    log_records_without_trace: recorded.recordsWithoutTrace,
    spans_by_dialect: Object.fromEntries(replayed.spansByDialect),
    spans_unrecognised: replayed.unrecognised.spans,
    scopes_unrecognised: replayed.unrecognised.scopes.map(({ scope, spans }) => ({ scope, spans })),
    left_out: replayed.leftOut.map(({ metric, reason, count }) => ({ metric, reason, count })),
    rejections: recorded.rejections.map(({ where, reason, count, example }) => ({ where, reason, count, example })),
    evaluability: agentShares(runs).map(agentObject),
    runs: [...runObjects(runs)],
  });
  // A terminal may interpret these control characters.
  return text.replaceAll(/[\u007f-\u009f]/g, (sign) => `\\u00${(sign.codePointAt(0) ?? 0).toString(16)}`);
}

function agentObject({ agent, dialect, dialects, runs, shares }: AgentShares): JsonObject {
  return {
    agent,
    dialect,
    dialects: [...dialects],
    runs,
    evaluators: shares.map(({ name, looked, scored, failed, skipped }) => ({
      name,
      looked,
      scored,
      failed,
      skipped: skipped.map(({ reason, need, runs: skippedRuns }) => ({ reason, need: need === '' ? null : need, runs: skippedRuns })),
    })),
    missing: [...new Set(shares.flatMap(({ skipped }) => skipped.map(({ need }) => need)))]
      .filter(isLack)
      .map((need) => ({ need, looked_for_in: [...placesOf(need, dialects)], todo: missingDataOf(need, dialects) ?? null })),
  };
}

/** All runs in one list, each before its sub-agents, which name their parent. */
function runObjects(inspected: readonly InspectedRun[]): readonly JsonObject[] {
  return inspected.flatMap((one) => [runObject(one), ...runObjects(one.subRuns)]);
}

function runObject({ run, evaluability, via }: InspectedRun): JsonObject {
  return {
    ...runJson(run.trace, run),
    parent: run.parent === undefined ? null : { trace_id: run.parent.traceId, span_id: run.parent.spanId, ...viaMembers(via) },
    verdicts: evaluability.filter(({ on }) => on).flatMap(verdictObjects),
    evaluability: evaluability.map((one) => ({
      name: one.name,
      evaluator: one.evaluator.id,
      on: one.on,
      ...outcomeMembers(one),
      missing: [...one.missing],
      hints: [...one.hints],
    })),
    decisions: decisions(evaluability),
  };
}

function viaMembers(via: SubAgent | undefined): JsonObject {
  return { via: via?.via ?? null, via_tool: via?.viaTool ?? null };
}

function verdictObjects(one: Evaluability): readonly JsonObject[] {
  const { outcome, name, evaluator } = one;
  if (outcome.kind === 'would_ask' || outcome.kind === 'filtered' || outcome.kind === 'needs_configuration') return [];
  return [{ name, evaluator: evaluator.id, version: evaluator.version, ...outcomeMembers(one) }];
}

function outcomeMembers({ outcome }: Evaluability): JsonObject {
  switch (outcome.kind) {
    case 'scored':
      return {
        status: 'scored',
        score: outcome.score,
        label: outcome.label,
        passed: outcome.passed,
        explanation: outcome.explanation,
        reason: null,
        evidence: [...outcome.evidence],
      };
    case 'skipped':
      return {
        status: 'skipped',
        score: null,
        label: null,
        passed: null,
        explanation: outcome.explanation,
        reason: outcome.reason,
        evidence: [],
      };
    case 'failed':
      return {
        status: 'failed',
        score: null,
        label: null,
        passed: null,
        explanation: outcome.explanation,
        reason: outcome.error,
        evidence: [],
      };
    case 'needs_configuration':
      return { status: 'needs_configuration', explanation: outcome.explanation };
    default:
      return { status: outcome.kind };
  }
}

function decisions(evaluability: readonly Evaluability[]): readonly JsonValue[] {
  return evaluability.flatMap(({ on, name, outcome }) => (on && outcome.kind !== 'would_ask' ? [{ name, decision: outcome.kind }] : []));
}
