/** The whole answer of `inspect` as one JSON object. */
import { jsonText, type JsonObject } from '../../model/json.ts';
import { isLack, placesOf, missingDataOf } from '../../pipeline/reporting/missing-data.ts';
import type { Report } from './inspected.ts';
import { runObjects } from './run-json.ts';
import { agentShares, type AgentShares } from './shares.ts';

export function reportJson({ recorded, played, runs }: Report): string {
  const text = jsonText({
    spans: recorded.spans.length,
    log_records: recorded.records.length,
    log_records_without_trace: recorded.recordsWithoutTrace,
    spans_by_dialect: Object.fromEntries(played.spansByDialect),
    spans_unrecognised: played.unrecognised.spans,
    scopes_unrecognised: played.unrecognised.scopes.map(({ scope, spans }) => ({ scope, spans })),
    left_out: played.leftOut.map(({ metric, reason, count }) => ({ metric, reason, count })),
    rejections: recorded.rejections.map(({ where, reason, count, example }) => ({ where, reason, count, example })),
    evaluability: agentShares(runs).map(agentObject),
    runs: [...runObjects(runs)],
  });
  // These are legal in JSON texts, but a terminal may obey them.
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
