/** Writes the report as one JSON object with all verdicts. */
import { jsonText, type JsonObject } from '../../model/json.ts';
import { type NamedVerdict, passedShare, scoredCount } from '../../library/report.ts';
import { type EvalReport, isScored, runErrorsOf, sessionsOf } from './report.ts';

export function reportJson({
  outcome,
  tallies,
  gates,
  tasks,
  passed,
  switchedOn = [],
  unverified = [],
  nothingScored,
  warnings = [],
}: EvalReport): string {
  return jsonText({
    passed,
    runs: outcome.runs,
    scored_runs: outcome.results.filter(isScored).length,
    run_errors: runErrorsOf(outcome.results).map(({ label, text }) => ({ label, error: text === '' ? null : text })),
    nothing_scored: nothingScored ?? null,
    warnings: [...warnings],
    switched_on: switchedOn.map(({ name, evaluator, parts, judge }) => ({
      name,
      evaluator,
      expectations: [...parts],
      judge: judge ?? null,
    })),
    expectations_without_score: unverified.map(({ label, part, why }) => ({
      label,
      expectation: part,
      evaluators: why.map(({ name, reason }) => ({ name, reason })),
    })),
    sampled_out: outcome.sampledOut,
    not_begun: outcome.notBegun,
    missing_examples: [...outcome.missing],
    evaluators: tallies.map((one) => ({
      name: one.name,
      passed: one.passed,
      failed: one.failed,
      raw: one.raw,
      skipped: one.skipped,
      errors: one.errors,
      passed_share: passedShare(one) ?? null,
      mean_score: scoredCount(one) === 0 ? null : one.scoreSum / scoredCount(one),
    })),
    gates: gates.map(({ name, share, reached, held }) => ({ name, share, reached: reached ?? null, held })),
    tasks: tasks.map(({ task, agent, runs, convergence, shareOnOptimalPath, optimalSteps }) => ({
      task,
      agent: agent === '' ? null : agent,
      runs,
      convergence,
      share_on_optimal_path: shareOnOptimalPath,
      optimal_steps: optimalSteps ?? null,
    })),
    sessions: sessionsOf(outcome.results).map(({ id, turns, worst }) => ({
      session_id: id,
      turns: turns.length,
      worst_turns: worst.map(({ name, scored, worst: at, score }) => ({
        name,
        scored_turns: scored,
        worst_turn: at === undefined ? null : at + 1,
        score: score ?? null,
        label: at === undefined ? null : (turns[at]?.item.label ?? null),
      })),
    })),
    results: outcome.results.map(({ item: { label, run, example }, verdicts }) => ({
      label,
      example: example?.id ?? null,
      tags: [...(example?.tags ?? [])],
      trace_id: run.traceId,
      span_id: run.spanId,
      agent: run.trace.agent ?? null,
      completeness: run.completeness,
      status: run.trace.status,
      verdicts: verdicts.map(verdictObject),
    })),
  });
}

function verdictObject({ name, evaluator, verdict }: NamedVerdict): JsonObject {
  const head = { name, evaluator, status: verdict.kind, explanation: verdict.explanation, details: verdict.details };
  if (verdict.kind === 'skipped') return { ...head, reason: verdict.reason };
  if (verdict.kind === 'failed') return { ...head, reason: verdict.error };
  const { score, threshold, passed, label, evidence, parts } = verdict;
  return {
    ...head,
    score,
    threshold,
    passed,
    label,
    evidence: [...evidence],
    parts: parts.map((part) => ({
      ...(part.of === undefined ? {} : { of: part.of }),
      index: part.index,
      tool: part.tool,
      call_id: part.callId ?? null,
      span_id: part.spanId ?? null,
      score: part.score,
      passed: part.passed,
      explanation: part.explanation,
    })),
  };
}
