/** Writes the report of a replay as JSON. */
import { estimateJson, goneRuns, notesOf, type ReplayReport } from './report.ts';
import type { EvaluatorResult, SideRate } from './results.ts';
import type { ReplayExample } from './tally.ts';
import { forecastJson } from '../judge/forecast.ts';
import { jsonText, type JsonObject } from '../../model/json.ts';

export function replayJson(report: ReplayReport): string {
  const { results, config, against, files, judges, spentUsd, ofSessions, forecast, written } = report;
  return jsonText({
    config,
    against: against ?? null,
    files: [...files],
    judges,
    runs: results.looked,
    left_out: {
      runs: goneRuns(results),
      reasons: Object.fromEntries(
        Object.entries(results.gone).map(([reason, { runs, named }]) => [reason, { runs, examples: [...named] }]),
      ),
    },
    worse: results.isWorse,
    evaluators: results.evaluators.map(evaluatorJson),
    session_evaluators: [...ofSessions],
    spent_usd: spentUsd,
    forecast: forecast === undefined ? null : forecastJson(forecast),
    written: written === undefined ? null : { ...written },
    notes: [...notesOf(report)],
  });
}

function evaluatorJson(one: EvaluatorResult): JsonObject {
  const { name, kind, before, after, paired, p, word, changes, noLonger, notAsked, unchangedEvaluator, examples } = one;
  return {
    name,
    kind,
    result: word,
    before: sideJson(before),
    after: sideJson(after),
    difference:
      paired === undefined
        ? null
        : { measure: paired.measure, ...estimateJson(paired.difference), runs: paired.n, better: paired.better, worse: paired.worse, p },
    verdicts: { ...changes },
    no_longer_scored: { ...noLonger },
    not_asked: { ...notAsked },
    unchanged_evaluator: unchangedEvaluator,
    examples: Object.fromEntries(Object.entries(examples).map(([change, list]) => [change, list.map(exampleJson)])),
  };
}

function sideJson(side: SideRate | undefined): JsonObject | null {
  return side === undefined ? null : { measure: side.measure, runs: side.runs, ...estimateJson(side.rate), capped: side.capped };
}

function exampleJson({ run, agent, before, after }: ReplayExample): JsonObject {
  const [traceId = '', spanId = ''] = run.split('/');
  return { trace_id: traceId, span_id: spanId, agent, before: { ...before }, after: { ...after } };
}
