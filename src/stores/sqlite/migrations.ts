/** The steps that brought the tables to their present form, in order. A step that was released is never changed. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { JuryError } from '../../model/errors.ts';
import { annotationsMigration } from './migrations/006-annotations.ts';
import { batchesMigration } from './migrations/007-batches.ts';
import { budgetsMigration } from './migrations/010-budgets.ts';
import { callAnnotationsMigration } from './migrations/013-call-annotations.ts';
import { contentMigration } from './migrations/003-content.ts';
import { decisionsMigration } from './migrations/009-decision-probability.ts';
import { driftMigration } from './migrations/008-drift.ts';
import { evaluationsMigration } from './migrations/014-evaluation-rows.ts';
import { exportsMigration } from './migrations/002-exports.ts';
import { judgesMigration } from './migrations/005-judges.ts';
import { leasesMigration } from './migrations/012-job-leases.ts';
import { sessionsMigration } from './migrations/011-sessions.ts';
import { spansMigration } from './migrations/004-spans.ts';
import { turnTimesMigration } from './migrations/015-turn-times.ts';
import { timeRangeMigration } from './migrations/016-time-range.ts';
import type { Tables } from './tables.ts';

const migrations: { readonly [name: string]: Migration } = {
  '001_runs': {
    async up(db) {
      for (const statement of [
        `create table runs (
           id integer primary key, tenant text not null, trace_id text not null, span_id text not null,
           agent text, service text, version text, session_id text, model text,
           started_us integer not null, ended_us integer not null,
           completeness text not null, status text not null, revision integer not null, part_of text, content blob,
           unique (tenant, trace_id, span_id)) strict`,
        'create index runs_by_start on runs (started_us, id)',
        'create index runs_by_agent on runs (agent, started_us, id)',
        'create index runs_by_service on runs (service, started_us, id)',
        'create index runs_by_session on runs (session_id, started_us, id) where session_id is not null',
        'create index runs_by_trace on runs (trace_id)',
        'create index runs_with_content on runs (started_us, id) where content is not null',
        `create table evaluations (
           run_id integer not null references runs (id) on delete cascade, name text not null,
           evaluator text not null, kind text not null, version integer not null, options_hash text not null, revision integer not null,
           verdict text not null, score real, label text not null, explanation text not null, reason text, evidence text not null, details text not null,
           sample_probability real not null, agent text, started_us integer not null,
           primary key (run_id, name)) strict, without rowid`,
        'create index evaluations_by_name on evaluations (name, started_us, run_id)',
        'create index evaluations_by_verdict on evaluations (name, verdict, started_us, run_id)',
        'create index evaluations_by_agent on evaluations (name, agent, verdict, started_us, run_id)',
        'create index evaluations_by_any_verdict on evaluations (verdict, started_us, run_id)',
        'create index evaluations_by_time on evaluations (started_us, name, verdict, score, agent)',
        `create table decisions (
           run_id integer not null references runs (id) on delete cascade, name text not null, evaluator text not null, revision integer not null, decision text not null, reason text,
           primary key (run_id, name)) strict, without rowid`,
        `create table tool_calls (
           run_id integer not null references runs (id) on delete cascade, position integer not null, agent text, name text not null, ended text not null, took_us integer, started_us integer not null,
           primary key (run_id, position)) strict, without rowid`,
        'create index tool_calls_by_time on tool_calls (started_us, agent, name, ended, took_us)',
      ])
        await sql.raw(statement).execute(db);
    },
  },
  '002_exports': exportsMigration,
  '003_content': contentMigration,
  '004_spans': spansMigration,
  '005_judges': judgesMigration,
  '006_annotations': annotationsMigration,
  '007_batches': batchesMigration,
  '008_drift': driftMigration,
  '009_decision_probability': decisionsMigration,
  '010_budgets': budgetsMigration,
  '011_sessions': sessionsMigration,
  '012_job_leases': leasesMigration,
  '013_call_annotations': callAnnotationsMigration,
  '014_evaluation_rows': evaluationsMigration,
  '015_turn_times': turnTimesMigration,
  '016_time_range': timeRangeMigration,
};

/** Brings older files up to date, and refuses those of a newer release: they may hold what this one would break. */
export async function migrated(db: Kysely<Tables>, file: string): Promise<void> {
  // A step may be missing below one that is there: each adds what no other one touches.
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations }, allowUnorderedMigrations: true });
  const known = await appliedNames(db, file);
  const newer = known.filter((name) => !Object.hasOwn(migrations, name));
  if (newer.length > 0) throw new JuryError('STORE_UNUSABLE', `${file} was written by a newer release: it knows ${newer.join(', ')}.`);
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw new JuryError('STORE_UNUSABLE', `${file} could not be brought up to date and is as it was before.`, error);
}

async function appliedNames(db: Kysely<Tables>, file: string): Promise<readonly string[]> {
  const tables = await sql<{ readonly name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const names = new Set(tables.rows.map(({ name }) => name));
  if (names.size === 0) return [];
  if (!names.has('kysely_migration')) throw new JuryError('STORE_UNUSABLE', `${file} is an SQLite database of something else.`);
  const applied = await sql<{ readonly name: string }>`select name from kysely_migration`.execute(db);
  return applied.rows.map(({ name }) => name);
}
