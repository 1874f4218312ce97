/** The spans of traces. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const spansMigration: Migration = {
  async up(db) {
    for (const statement of [
      // The body stands last: whoever looks at the other columns does not read it.
      `create table spans (
         id integer primary key, tenant text not null, trace_id text not null, digest text not null,
         started_us integer not null, stored_us integer not null, spans integer not null, is_whole integer not null, is_redacted integer not null, body blob not null,
         unique (trace_id, tenant, digest)) strict`,
      'create index spans_by_start on spans (started_us, id)',
      'create table joined_traces (tenant text not null, trace_id text not null, whole_id text not null, primary key (trace_id, tenant)) strict, without rowid',
      'create index joined_traces_by_whole on joined_traces (whole_id, tenant)',
    ])
      await sql.raw(statement).execute(db);
  },
};
