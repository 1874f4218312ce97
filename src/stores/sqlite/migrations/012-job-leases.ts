/** Who asks about what waits for judges, and until when nobody else does. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const leasesMigration: Migration = {
  async up(db) {
    for (const statement of [
      'alter table judge_jobs add column owner text',
      'alter table judge_jobs add column leased_us integer',
      'create index judge_jobs_by_owner on judge_jobs (owner) where owner is not null',
    ])
      await sql.raw(statement).execute(db);
  },
};
