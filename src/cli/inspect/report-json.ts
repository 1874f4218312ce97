/** The whole answer of `inspect` as one JSON object. */
import { jsonText } from '../../model/json.ts';
import type { Report } from './inspected.ts';
import { runObjects } from './run-json.ts';

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
    runs: [...runObjects(runs)],
  });
  // These are legal in JSON texts, but a terminal may obey them.
  return text.replaceAll(/[\u007f-\u009f]/g, (sign) => `\\u00${(sign.codePointAt(0) ?? 0).toString(16)}`);
}
