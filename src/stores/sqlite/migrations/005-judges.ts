/** What judges are still to be asked, what they answered, and what they have cost. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const judgesMigration: Migration = {
  async up(db) {
    for (const statement of [
      `create table judge_spend (
         judge text not null, day text not null, nano_usd integer not null, reserved_nano_usd integer not null, requests integer not null, input_tokens integer not null, output_tokens integer not null,
         primary key (judge, day)) strict, without rowid`,
      // Ids are never given twice: one that is being asked must not be taken for another one.
      `create table judge_jobs (
         id integer primary key autoincrement, run_id integer not null references runs (id) on delete cascade, name text not null, revision integer not null,
         evaluator text not null, kind text not null, party text not null, options_hash text not null, probability real not null, offered_us integer not null, body blob not null,
         unique (run_id, name)) strict`,
      'create table judge_answers (key text not null primary key, answered_us integer not null, chars integer not null, value text not null) strict',
      'create index judge_answers_by_time on judge_answers (answered_us, key, chars)',
      'create index judge_jobs_by_party on judge_jobs (party, id, offered_us)',
    ])
      await sql.raw(statement).execute(db);
  },
};
