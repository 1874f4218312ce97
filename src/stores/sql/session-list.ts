/** Sessions by their newest matching run: a walk along the start of runs that passes over runs with a newer one in their session. */
import { sql, type Kysely } from 'kysely';
import { examinedMax, type SessionPage, type SessionQuery } from '../../model/store/store.ts';
import type { Connection } from './connection.ts';
import { between, examinedTo, indexOf, wantedRuns } from './run-list.ts';
import type { Tables } from './tables.ts';

export async function readSessions({ db, scan }: Pick<Connection, 'db' | 'scan'>, query: SessionQuery): Promise<SessionPage> {
  const { after, limit, examine = examinedMax, ...filter } = query;
  const index = indexOf(filter);
  const floor = await examinedTo(db, { filter, index, after, examine });
  const newest = await newestRuns(db, query, floor);
  const sums = await scan({ of: 'sessions', query: { sessions: newest.slice(0, limit) } });
  const last = newest[sums.length - 1];
  const isFull = newest.length > sums.length && last !== undefined;
  return {
    sessions: sums,
    next: isFull ? { startedAt: last.startedAt, id: last.runId } : floor,
    searchedTo: isFull ? undefined : floor?.startedAt,
  };
}

interface NewestRun {
  readonly runId: number;
  readonly startedAt: number;
  readonly tenant: string;
  readonly id: string;
}

/** One more than the limit when there are more. */
async function newestRuns(
  db: Kysely<Tables>,
  { after, limit, examine: _examine, ...filter }: SessionQuery,
  floor: SessionPage['next'],
): Promise<readonly NewestRun[]> {
  const wanted = await wantedRuns(db, filter);
  const { rows } = await sql<NewestRun>`
    select runs.id as "runId", runs.started_us as "startedAt", runs.tenant, runs.session_id as id from runs
    where +runs.session_id is not null and ${wanted('runs', indexOf(filter))} and ${between(sql`runs.started_us`, { after, floor })}
      and not exists (
        select 1 from runs n where n.session_id = runs.session_id and +n.tenant = runs.tenant
          and (n.started_us, n.id) > (runs.started_us, runs.id) and ${wanted('n', 'session_id')})
    order by runs.started_us desc, runs.id desc limit ${limit + 1}`.execute(db);
  return rows;
}
