/**
 * Bytes that the rows of a database take without the room of deleted ones, which PostgreSQL keeps for new rows. Runs are counted by their ids, and by the statistics
 * of the server where many between the ids are gone. Their size is measured on the newest rows, with as many blocks and spans for it as there are for all.
 */
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../sql/tables.ts';
import { schemaName } from './database-name.ts';

/** Newest rows that are measured. */
const measuredRows = 500;
/** A row has a head, and a page is not full. */
const headBytes = 36;
/** Entries of a run in all indexes, and of a row that has two. Measured on 20,000 runs. */
const runIndexBytes = 330;
const otherIndexBytes = 60;
/** Size of everything but the large tables. It does not shrink with the runs. */
const largeTables = ['runs', 'blocks', 'spans'] as const;

interface Figures {
  readonly runs: number;
  readonly counted: number;
  readonly blocks: number;
  readonly spans: number;
  readonly run_bytes: number | null;
  readonly block_bytes: number | null;
  readonly span_bytes: number | null;
  readonly other_bytes: number;
  readonly all_bytes: number;
}

/** Not more than `allBytes`, which the files take. */
export async function liveBytes(db: Kysely<Tables>): Promise<number> {
  const counted = (table: (typeof largeTables)[number]) =>
    sql`coalesce((select n_live_tup from pg_stat_user_tables where schemaname = ${schemaName} and relname = ${table}), 0)`;
  const width = (table: (typeof largeTables)[number], of: string) =>
    sql`(select avg(pg_column_size(${sql.raw(of)}))::double precision from (select * from ${sql.table(table)} order by id desc limit ${sql.lit(measuredRows)}) as t)`;
  const sizes = sql`select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = ${schemaName} and c.relkind = 'r'`;
  const { rows } = await sql<Figures>`
    select coalesce((select max(id) - min(id) + 1 from runs), 0) as runs, ${counted('runs')} as counted, ${counted('blocks')} as blocks, ${counted('spans')} as spans,
      ${width('runs', 't')} as run_bytes, ${width('blocks', 't.body')} as block_bytes, ${width('spans', 't.body')} as span_bytes,
      (${sizes} and c.relname not in (${sql.join([...largeTables])})) as other_bytes, (${sizes}) as all_bytes`.execute(db);
  const [found] = rows;
  if (found === undefined || found.counted === 0) return 0;
  const ofOne =
    (found.run_bytes ?? 0) +
    headBytes +
    runIndexBytes +
    (found.blocks / found.counted) * ((found.block_bytes ?? 0) + headBytes + otherIndexBytes) +
    (found.spans / found.counted) * ((found.span_bytes ?? 0) + headBytes + 2 * otherIndexBytes);
  return Math.min(found.all_bytes, found.other_bytes + Math.min(found.runs, found.counted) * ofOne);
}
