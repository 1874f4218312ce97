/** Verdicts of one evaluator over time, read from `GET /summary`. */

/** `SummaryRow` of the API. */
export interface SummaryRow {
  readonly at: string;
  readonly verdict: string;
  readonly count: number;
  readonly mean_score: number | null;
}

export interface VerdictStep {
  readonly at: string;
  /** Passed among passed and failed; null: neither. */
  readonly rate: number | null;
  readonly score: number | null;
}

/** Steps by time, without those that have no verdict. */
export function verdictSteps(rows: readonly SummaryRow[]): readonly VerdictStep[] {
  return [...Map.groupBy(rows, ({ at }) => at)]
    .map(([at, own]) => {
      const count = (verdict: string): number => own.filter((row) => row.verdict === verdict).reduce((sum, row) => sum + row.count, 0);
      const scored = own.filter(({ mean_score: score }) => score !== null);
      const runs = scored.reduce((sum, row) => sum + row.count, 0);
      const [passed, failed] = [count('pass'), count('fail')];
      return {
        at,
        rate: passed + failed === 0 ? null : passed / (passed + failed),
        score: runs === 0 ? null : scored.reduce((sum, row) => sum + row.count * (row.mean_score ?? 0), 0) / runs,
      };
    })
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

const hourMs = 3_600_000;

/** Some dozens of steps for the period; `nowMs` is its end when `to` is absent. */
export function bucketOf(from: string, to: string | undefined, nowMs: number): 'minute' | 'hour' | 'day' {
  const ms = (to === undefined ? nowMs : Date.parse(to)) - Date.parse(from);
  return ms <= 2 * hourMs ? 'minute' : ms <= 4 * 24 * hourMs ? 'hour' : 'day';
}
