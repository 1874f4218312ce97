/** Why a run is without its content. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const contentMigration: Migration = {
  async up(db) {
    for (const statement of [
      'alter table runs add column content_gone text',
      // It may have been too old, or too large.
      "update runs set content_gone = 'unknown' where content is null",
    ])
      await sql.raw(statement).execute(db);
  },
};
