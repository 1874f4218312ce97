/** Times after the last microsecond that a double holds exactly: rows with a later one could be written, and failed every query that read them. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const columns = [
  ['runs', 'started_us'],
  ['runs', 'ended_us'],
  ['evaluations', 'started_us'],
  ['tool_calls', 'started_us'],
  ['tool_calls', 'took_us'],
  ['spans', 'started_us'],
  ['session_turns', 'started_us'],
] as const;

export const timeRangeMigration: Migration = {
  async up(db) {
    for (const [table, column] of columns)
      await sql.raw(`update ${table} set ${column} = ${Number.MAX_SAFE_INTEGER} where ${column} > ${Number.MAX_SAFE_INTEGER}`).execute(db);
  },
};
