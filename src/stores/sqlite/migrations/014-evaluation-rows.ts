/**
 * Verdicts in a table with row ids. Without them a row lies in the index itself, which keeps a quarter of a page of each at most: verdicts are mostly a little larger, and
 * each took another page of four kilobytes for the rest.
 */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const columns =
  'run_id, name, evaluator, kind, version, options_hash, revision, verdict, score, label, explanation, reason, evidence, details, sample_probability, agent, started_us';

export const evaluationsMigration: Migration = {
  async up(db) {
    for (const statement of [
      `create table evaluations_anew (
         run_id integer not null references runs (id) on delete cascade, name text not null,
         evaluator text not null, kind text not null, version integer not null, options_hash text not null, revision integer not null,
         verdict text not null, score real, label text not null, explanation text not null, reason text, evidence text not null, details text not null,
         sample_probability real not null, agent text, started_us integer not null,
         primary key (run_id, name)) strict`,
      `insert into evaluations_anew (${columns}) select ${columns} from evaluations order by run_id, name`,
      'drop table evaluations',
      'alter table evaluations_anew rename to evaluations',
      'create index evaluations_by_name on evaluations (name, started_us, run_id)',
      'create index evaluations_by_verdict on evaluations (name, verdict, started_us, run_id)',
      'create index evaluations_by_agent on evaluations (name, agent, verdict, started_us, run_id)',
      'create index evaluations_by_any_verdict on evaluations (verdict, started_us, run_id)',
      'create index evaluations_by_time on evaluations (started_us, name, verdict, score, agent)',
    ])
      await sql.raw(statement).execute(db);
  },
};
