/** Questions that are in batches at the endpoints of judges, and what came back. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const batchesMigration: Migration = {
  async up(db) {
    for (const statement of [
      'create table judge_batches (id text not null primary key, judge text not null, endpoint text not null, remote_id text, prepared_us integer not null) strict',
      `create table judge_batch_questions (
         question text not null primary key, batch_id text references judge_batches (id) on delete cascade, answered_us integer, answer text) strict`,
      'create index judge_batch_questions_by_batch on judge_batch_questions (batch_id)',
      'create index judge_batch_questions_by_time on judge_batch_questions (answered_us) where answered_us is not null',
    ])
      await sql.raw(statement).execute(db);
  },
};
