/** When turns of sessions came: how long they keep their runs. Those of before keep none. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const turnTimesMigration: Migration = {
  async up(db) {
    await sql.raw('alter table session_turns add column noted_us integer not null default 0').execute(db);
  },
};
