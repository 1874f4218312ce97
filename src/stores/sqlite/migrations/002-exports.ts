/** What waits for backends. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const exportsMigration: Migration = {
  async up(db) {
    for (const statement of [
      // Ids are never given twice: what is noted of a row must not hit another one.
      `create table exports (
         id integer primary key autoincrement, run_id integer not null references runs (id) on delete cascade, exporter text not null, part text not null, revision integer not null,
         state text not null, attempts integer not null, offered_us integer not null, due_us integer not null, reason text, item blob not null,
         unique (run_id, exporter, part)) strict`,
      'create index exports_by_exporter on exports (exporter, state, id)',
      'create index exports_by_state on exports (state, id)',
    ])
      await sql.raw(statement).execute(db);
  },
};
