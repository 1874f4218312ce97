/** Annotations of single tool calls: which one is part of what tells annotations apart, so the table is made anew. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const columns =
  'id, trace_id, tenant, span_id, is_near, name, annotator, kind, label, score, passed, explanation, at_us, received_us, run_id';

export const callAnnotationsMigration: Migration = {
  async up(db) {
    for (const statement of [
      // Without a call the text is empty: the run as a whole is meant.
      `create table annotations_anew (
         id integer primary key, trace_id text not null, tenant text not null, span_id text not null, tool_call text not null default '', is_near integer not null, name text not null, annotator text not null,
         kind text not null, label text, score real, passed integer, explanation text not null, at_us integer not null, received_us integer not null,
         run_id integer references runs (id) on delete cascade,
         unique (trace_id, tenant, span_id, tool_call, name, annotator)) strict`,
      `insert into annotations_anew (${columns}) select ${columns} from annotations`,
      'drop table annotations',
      'alter table annotations_anew rename to annotations',
      'create index annotations_by_run on annotations (run_id, name, annotator) where run_id is not null',
      'create index annotations_that_wait on annotations (received_us, id) where run_id is null',
    ])
      await sql.raw(statement).execute(db);
  },
};
