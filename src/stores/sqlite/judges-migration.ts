/** What judges have cost. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const judgesMigration: Migration = {
  async up(db) {
    for (const statement of [
      `create table judge_spend (
         judge text not null, day text not null, nano_usd integer not null, reserved_nano_usd integer not null, requests integer not null, input_tokens integer not null, output_tokens integer not null,
         primary key (judge, day)) strict, without rowid`,
    ]) await sql.raw(statement).execute(db);
  },
};
