/** Data that evaluators lacked, read from `GET /evaluability`, and the share of runs that they could score. */

/** `EvaluabilityRow` of the API. */
export interface EvaluabilityRow {
  readonly agent: string | null;
  readonly dialect: string | null;
  readonly name: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  /** Null when nothing is missing. */
  readonly need: string | null;
  readonly missing: string | null;
  readonly todo: string | null;
  readonly count: number;
}

export interface SkipReason {
  readonly key: string;
  readonly reason: string;
  readonly dialect: string;
  /** Null when the run had nothing to score. */
  readonly missing: string | null;
  readonly todo: string | null;
  readonly runs: number;
  readonly agents: readonly string[];
}

/** Skipped runs by reason and dialect: first those that lack data, then by runs. */
export function skipReasons(rows: readonly EvaluabilityRow[]): readonly SkipReason[] {
  const skipped = rows.filter(({ outcome }) => outcome === 'skipped');
  const groups = Map.groupBy(skipped, ({ reason, dialect, need }) => JSON.stringify([reason, need === null ? null : dialect, need]));
  return [...groups]
    .map(([key, own]) => ({
      key,
      reason: own[0]?.reason ?? '',
      dialect: own[0]?.need === null ? '' : (own[0]?.dialect ?? ''),
      missing: own[0]?.missing ?? own[0]?.need ?? null,
      todo: own[0]?.todo ?? null,
      runs: own.reduce((sum, { count }) => sum + count, 0),
      agents: [...new Set(own.map(({ agent }) => agent ?? '–'))].sort(),
    }))
    .sort((one, other) => Number(one.missing === null) - Number(other.missing === null) || other.runs - one.runs);
}

export interface Evaluable {
  /** Runs with a score. */
  readonly scored: number;
  /** Runs in which the evaluator had something to score. */
  readonly of: number;
  readonly agents: number;
  /** Agents with a scored run. */
  readonly agentsScored: number;
}

/** Runs without anything to score do not count. */
export function evaluableOf(rows: readonly EvaluabilityRow[]): Evaluable {
  const relevant = rows.filter(({ outcome, need }) => outcome !== 'skipped' || need !== null);
  const scored = relevant.filter(({ outcome }) => outcome === 'scored');
  const sum = (own: readonly EvaluabilityRow[]): number => own.reduce((all, { count }) => all + count, 0);
  const agents = (own: readonly EvaluabilityRow[]): number => new Set(own.map(({ agent }) => agent)).size;
  return { scored: sum(scored), of: sum(relevant), agents: agents(relevant), agentsScored: agents(scored) };
}
