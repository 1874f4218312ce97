/** The tables that a copy has, read from the catalogue of an empty store, so a new table needs no line here. */
import { emptyTables } from '../postgres/schema.ts';

export interface CopiedColumn {
  readonly name: string;
  readonly type: 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB';
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** Columns of the primary key. Empty: the table has the one row that its migration wrote. */
  readonly key: readonly string[];
  /** True when the engine gives ids to rows. */
  readonly givesIds: boolean;
}

/**
 * Tables of the processes on a store, not of its runs. The target fills the index of words by itself, and a step of the index
 * notes how far it is in the last two.
 */
const leftOut: ReadonlySet<string> = new Set([
  'kysely_migration',
  'kysely_migration_lock',
  'replicas',
  'tasks',
  'journal_partitions',
  'run_positions',
  'browser_sessions',
  'shared_secrets',
  'run_texts_state',
  'run_texts_waiting',
]);

/** Those first that others refer to. */
export async function copiedTables(): Promise<readonly CopiedTable[]> {
  const { database, tables } = await emptyTables();
  const columnsOf = database.prepare('select name, type, pk from pragma_table_info(?)');
  return tables.flatMap(({ name, sql }) => {
    if (leftOut.has(name)) return [];
    const columns = columnsOf.all(name) as unknown as readonly (CopiedColumn & { readonly pk: number })[];
    const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
    return [
      {
        name,
        columns: columns.map((column) => ({ name: column.name, type: column.type })),
        key: key.map((column) => column.name),
        givesIds: /\binteger primary key\b/.test(sql),
      },
    ];
  });
}
