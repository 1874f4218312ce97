/** Runs in the machine-readable form, with what every evaluator makes of them. */
import type { SubAgent } from '../../model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { runJson } from '../../model/run-json.ts';
import type { Evaluability } from './evaluability.ts';
import type { InspectedRun } from './inspected.ts';

/** All runs in one list, each before its sub-agents, which name it as their parent. */
export function runObjects(inspected: readonly InspectedRun[]): readonly JsonObject[] {
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
