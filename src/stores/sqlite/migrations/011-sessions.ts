/** Sessions that evaluators judge as a whole, and their turns. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const sessionsMigration: Migration = {
  async up(db) {
    for (const statement of [
      // Without a probability: it was passed over.
      `create table sessions (
         id integer primary key autoincrement, tenant text not null, session_id text not null, name text not null,
         evaluator text not null, kind text not null, party text not null, options_hash text not null, probability real,
         revision integer not null, handed_on integer not null, times integer not null, left_out integer not null, since_us integer not null, changed_us integer not null,
         run_id integer references runs (id) on delete set null,
         unique (tenant, session_id, name)) strict`,
      'create index sessions_waiting on sessions (since_us, changed_us) where probability is not null and revision > handed_on',
      'create index sessions_chosen on sessions (id) where probability is not null',
      'create index sessions_unjudged on sessions (name) where probability is not null and run_id is null',
      'create index sessions_by_change on sessions (changed_us)',
      'create index sessions_by_run on sessions (run_id) where run_id is not null',
      `create table session_turns (
         session integer not null references sessions (id) on delete cascade, run_id integer not null references runs (id) on delete cascade,
         revision integer not null, started_us integer not null, body blob not null,
         primary key (session, run_id)) strict, without rowid`,
      'create index session_turns_by_run on session_turns (run_id)',
    ])
      await sql.raw(statement).execute(db);
  },
};
