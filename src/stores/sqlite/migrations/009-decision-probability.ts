/** With which probability a run was chosen that no verdict was reached on. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const decisionsMigration: Migration = {
  async up(db) {
    // Of older rows nobody knows.
    await sql.raw('alter table decisions add column probability real').execute(db);
  },
};
