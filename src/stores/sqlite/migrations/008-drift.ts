/** What judges said of fixed sets of runs, look by look. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const driftMigration: Migration = {
  async up(db) {
    await sql
      .raw(
        `create table drift_looks (
         name text not null, series integer not null, look integer not null, series_began_us integer not null, asked text not null, because text not null,
         state text not null, began_us integer not null, ended_us integer, runs integer not null, answers text not null, result text,
         primary key (name, series, look)) strict, without rowid`,
      )
      .execute(db);
  },
};
