/** Replays in SQL: pages of runs with their verdicts, revisions, and checkpoints. */
import { parseJson } from '../../model/json.ts';
import type { ReplayStore, StoredCheckpoint } from '../../model/store/replay-store.ts';
import { revisionBatch } from './batch.ts';
import type { Connection } from './connection.ts';
import { countRuns, readReplayRuns } from './run-list.ts';

export function replayStore({ db, revise }: Pick<Connection, 'db' | 'revise'>): ReplayStore {
  return {
    page: (query) => readReplayRuns(db, query),
    count: (filter) => countRuns(db, filter),
    revise: async (revisions, checkpoint) => await revise(await revisionBatch(revisions, checkpoint)),
    async checkpoint(id): Promise<StoredCheckpoint | undefined> {
      const row = await db.selectFrom('replays').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        id,
        state: parseJson(row.state) ?? null,
        to: row.to_us,
        after: { startedAt: row.after_us, id: row.after_id },
        at: row.at_us,
        fates: { written: row.written, changed: row.changed, gone: row.gone },
      };
    },
    async forget(id) {
      await db.deleteFrom('replays').where('id', '=', id).execute();
    },
  };
}
