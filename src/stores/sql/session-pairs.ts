/** Pairs of verdicts of one evaluator in one session, for sums that count such verdicts together. */
import { runsOfSession } from '../../model/store/version-store.ts';
import { eachMark, type KnownMark } from './marks.ts';
import type { Statements } from './statements.ts';

/** Runs of a session that are looked at, before the first one of a time. */
const earlierRunsMax = 200;
/** Time to look back. */
const lookBackMicros = 24 * 3_600_000_000;

interface SessionRun {
  readonly tenant: string;
  readonly agent: string;
  /** When absent, runs of all versions are pairs. */
  readonly version?: string;
  readonly session: string;
  readonly marks: string;
  readonly figures: Uint8Array | null;
}

/**
 * Called for each run of a time, in any order: returns for the run, and for each of its verdicts, how many the session had before, of runs or from the
 * same evaluator. For m verdicts these are m·(m − 1) / 2 together, so sums of several times add up. The first run of a session gives a promise, as
 * its earlier runs are read; the next call waits for it.
 */
export type SessionPairs = (run: SessionRun, visit: (evaluator: string, earlier: number) => void) => Promise<void> | undefined;

export function sessionPairs(on: Statements, from: number, known: ReadonlyMap<string, KnownMark>): SessionPairs {
  const earlierRuns = `select marks, figures, version from runs where session_id = ? and started_us >= ? and started_us < ?
       and +tenant = ? and ifnull(agent, '') = ? and part_of is null order by started_us desc limit ${earlierRunsMax}`;
  const bySession = new Map<string, Map<string, number>>();
  const count = (
    of: Map<string, number>,
    run: Pick<SessionRun, 'marks' | 'figures'>,
    visit?: (name: string, earlier: number) => void,
  ): void => {
    const one = (name: string): void => {
      const earlier = of.get(name) ?? 0;
      of.set(name, earlier + 1);
      visit?.(name, earlier);
    };
    one(runsOfSession);
    eachMark(run, known, ({ name, word }) => {
      if (word === 'pass' || word === 'fail' || word === 'raw') one(name);
    });
  };
  async function begin(key: string, run: SessionRun, visit: (evaluator: string, earlier: number) => void): Promise<void> {
    const { tenant, agent, version, session } = run;
    const counted = new Map<string, number>();
    bySession.set(key, counted);
    for (const row of await on.all(earlierRuns, [session, from - lookBackMicros, from, tenant, agent]))
      if (version === undefined || (row['version'] ?? '') === version)
        count(counted, { marks: String(row['marks']), figures: row['figures'] as Uint8Array | null });
    count(counted, run, visit);
  }

  return (run, visit) => {
    const { tenant, agent, version, session } = run;
    const key = JSON.stringify([tenant, agent, version ?? null, session]);
    const counted = bySession.get(key);
    if (counted === undefined) return begin(key, run, visit);
    count(counted, run, visit);
    return undefined;
  };
}
