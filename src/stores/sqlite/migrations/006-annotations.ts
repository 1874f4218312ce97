/** What people and other programs say of runs. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const annotationsMigration: Migration = {
  async up(db) {
    for (const statement of [
      // `*` is no tenant's name: whichever the trace belongs to. Without a span the text is empty.
      `create table annotations (
         id integer primary key, trace_id text not null, tenant text not null, span_id text not null, is_near integer not null, name text not null, annotator text not null,
         kind text not null, label text, score real, passed integer, explanation text not null, at_us integer not null, received_us integer not null,
         run_id integer references runs (id) on delete cascade,
         unique (trace_id, tenant, span_id, name, annotator)) strict`,
      'create index annotations_by_run on annotations (run_id, name, annotator) where run_id is not null',
      'create index annotations_that_wait on annotations (received_us, id) where run_id is null',
    ])
      await sql.raw(statement).execute(db);
  },
};
