/** Single verdicts for figures over many runs, in a store that ends with the process. */
import { evaluatorsMax, type DecidedRuns, type RunPeriod, type VerdictRows } from '../model/store/verdict-rows.ts';
import type { HeldVerdict } from './memory-verdicts.ts';
import type { RunRow, StoredDecision } from '../model/store/store.ts';

export interface JudgedRow {
  readonly id: number;
  readonly key: string;
  readonly row: Omit<RunRow, 'verdicts'>;
  readonly verdicts: ReadonlyMap<string, HeldVerdict>;
  readonly decisions: ReadonlyMap<string, StoredDecision>;
}

/** `ordered`: all runs, newest first. `waiting`: with which probability a run was chosen that waits to be asked about, by its key. */
export function memoryVerdictRows(
  ordered: () => readonly JudgedRow[],
  waiting: (key: string, name: string) => number | undefined,
): VerdictRows {
  const within = ({ from, to, agent, tenant }: RunPeriod): readonly JudgedRow[] =>
    ordered().filter(
      ({ row }) =>
        row.startedAt >= from &&
        row.startedAt < to &&
        (agent === undefined || row.agent === agent) &&
        (tenant === undefined || row.tenant === tenant),
    );

  /** Undefined: it does not wait, or has a verdict meanwhile. */
  function waitingAs({ key, verdicts }: JudgedRow, name: string): Pick<StoredDecision, 'decision' | 'probability'> | undefined {
    const probability = verdicts.has(name) ? undefined : waiting(key, name);
    return probability === undefined ? undefined : { decision: 'waiting', probability };
  }

  return {
    async evaluators() {
      const kinds = new Map<string, string>();
      for (const run of ordered()) for (const { name, kind } of run.verdicts.values()) if (!kinds.has(name)) kinds.set(name, kind);
      return [...kinds]
        .map(([name, kind]) => ({ name, kind }))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .slice(0, evaluatorsMax);
    },
    async since({ runsMax, ...period }) {
      const beyond = within(period)[runsMax];
      return beyond === undefined ? period.from : beyond.row.startedAt + 1;
    },
    async page({ name, limit, after, ...period }) {
      const found = within(period).flatMap(({ id, row, verdicts }) => {
        const verdict = verdicts.get(name);
        const isBehind = after === undefined || row.startedAt < after.startedAt || (row.startedAt === after.startedAt && id < after.id);
        return verdict === undefined || !isBehind ? [] : [{ id, row, verdict }];
      });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map(({ row, verdict }) => ({
          tenant: row.tenant,
          traceId: row.traceId,
          spanId: row.spanId,
          agent: row.agent,
          sessionId: row.sessionId,
          word: verdict.verdict,
          score: verdict.score,
          label: verdict.label,
          sampleProbability: verdict.sampleProbability,
        })),
        next: found.length > limit && last !== undefined ? { startedAt: last.row.startedAt, id: last.id } : undefined,
      };
    },
    async decided({ name, weightMax = Infinity, ...period }) {
      const found = within(period).flatMap((run) => {
        const { row, decisions, verdicts } = run;
        const decision = decisions.get(name) ?? waitingAs(run, name);
        return decision === undefined
          ? []
          : [{ agent: row.agent, decision: decision.decision, probability: decision.probability, isJudged: verdicts.has(name) }];
      });
      const groups = Map.groupBy(found, ({ agent, decision }) => JSON.stringify([agent, decision]));
      return [...groups.values()]
        .flatMap((own): readonly DecidedRuns[] => {
          const probabilities = own.flatMap(({ isJudged, probability }) => (isJudged || probability === undefined ? [] : [probability]));
          const unchosen = own.filter(({ isJudged, probability }) => !isJudged && probability === undefined).length;
          return own.slice(0, 1).map(({ agent, decision }) => ({
            agent,
            decision,
            runs: own.length,
            chosen: probabilities.length,
            weight: probabilities.reduce((sum, one) => sum + Math.min(1 / one, weightMax), 0),
            unchosen,
          }));
        })
        .sort((one, other) => compared(one.agent ?? '', other.agent ?? '') || compared(one.decision, other.decision));
    },
  };
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
