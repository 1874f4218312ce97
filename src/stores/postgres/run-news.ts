/**
 * Announces the runs that one process writes to all processes on a database. Each write has a position, and writers hold one lock, so positions rise in
 * the order of the commits. A process that misses some while its connection is lost finds a gap in the positions and reports it to its readers.
 */
import type { AnnouncedRuns } from '../sql/answers.ts';
import { sharedRecentRuns } from '../sql/recent-runs.ts';
import type { SqlValue } from '../sql/statements.ts';

const channel = 'tracejury_runs';
/** PostgreSQL refuses a notification of 8,000 bytes. */
const idsPerNotification = 400;

type Query = (text: string, values: readonly SqlValue[]) => Promise<unknown>;

/** A connection that has begun. */
export interface HearingClient {
  on(event: 'notification', heard: (message: { readonly payload?: string | undefined }) => void): unknown;
  query(text: string): Promise<{ readonly rows: readonly { readonly position?: unknown }[] }>;
}

export interface RunNews extends AnnouncedRuns {
  /** For each connection that begins, once the tables are there. */
  hear(client: HearingClient): Promise<void>;
}

/** `query`: on the connection of the transactions. */
export function runNews(query: Query): RunNews {
  const recent = sharedRecentRuns();
  return {
    since: recent.since,
    async announce(ids) {
      for (let at = 0; at < ids.length; at += idsPerNotification) {
        const some = ids.slice(at, at + idsPerNotification);
        await query(
          `with moved as (update run_positions set position = position + $1 returning position)
             select pg_notify('${channel}', position || ' ' || $2) from moved`,
          [some.length, some.join(',')],
        );
      }
    },
    async hear(client) {
      client.on('notification', ({ payload = '' }) => {
        const [position, ids = ''] = payload.split(' ');
        recent.heard(Number(position), ids.split(',').map(Number));
      });
      await client.query(`listen ${channel}`);
      const { rows } = await client.query('select position from run_positions');
      recent.begin(Number(rows[0]?.position ?? 0));
    },
  };
}
