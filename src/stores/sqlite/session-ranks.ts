/** How many runs of a session came before, for sums that count runs of one session together. */
import type { DatabaseSync } from 'node:sqlite';

/** Earlier runs of a session that are counted. */
const earlierMax = 200;

/** Each call counts one run more of the session, beside the runs that began before `from`. Gives how many were counted before it. */
export type SessionRanks = (tenant: string, session: string) => number;

export function sessionRanks(database: DatabaseSync, from: number): SessionRanks {
  const statement = database.prepare(
    `select count(*) as runs from (select 1 from runs where session_id = ? and +tenant = ? and part_of is null and started_us < ? limit ${earlierMax})`,
  );
  const counted = new Map<string, number>();
  return (tenant, session) => {
    const key = `${tenant} ${session}`;
    const runs = counted.get(key) ?? Number(statement.get(session, tenant, from)?.['runs'] ?? 0);
    counted.set(key, runs + 1);
    return runs;
  };
}
