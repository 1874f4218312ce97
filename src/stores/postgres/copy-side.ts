/** A database of PostgreSQL as one side of a copy. */
import type { CopySide } from '../copy/side.ts';
import type { CopiedColumn, CopiedTable } from '../copy/tables.ts';
import type { SqlRow, SqlValue } from '../sql/statements.ts';
import { statementsOn } from './database.ts';
import { databaseName, schemaName } from './database-name.ts';
import { storeFault } from './faults.ts';
import { lineTo } from './line.ts';
import { checked, migrated } from './migrations.ts';

const arrayTypes = { INTEGER: 'bigint[]', REAL: 'double precision[]', TEXT: 'text[]', BLOB: 'bytea[]' } as const satisfies {
  readonly [type in CopiedColumn['type']]: string;
};

/** Rejects with a JuryError. */
export async function postgresSide(url: string): Promise<CopySide> {
  const line = lineTo(url);
  const statements = statementsOn(line);
  const told = async (work: Promise<void>): Promise<void> => {
    await work.catch(async (error: unknown) => {
      await line.close();
      throw storeFault(url, error);
    });
  };
  await told(checked(line, () => lineTo(url)));

  const one = async (text: string, values: readonly SqlValue[]): Promise<SqlValue | undefined> =>
    Object.values((await line.query(text, values)).rows[0] ?? {})[0];

  return {
    name: databaseName(url),
    statements,
    hasTable: async (name) => (await one('select to_regclass($1) is not null', [`${schemaName}.${name}`])) === 1,
    makeTables: () => told(migrated(line)),
    async transaction(work) {
      await line.begin();
      try {
        await work();
        await line.end('commit');
      } catch (error) {
        await line.end('rollback');
        throw error;
      }
    },
    async insert(table, rows) {
      await line.query(
        insertText(table),
        table.columns.map(({ name }) => arrayText(rows, name)),
      );
    },
    plain: (body) => body,
    packed: (body) => body,
    async lastId(table) {
      const sequence = await one('select pg_get_serial_sequence($1, $2)', [`${schemaName}.${table.name}`, table.key.join()]);
      return Number((await one(`select case when is_called then last_value else 0 end from ${String(sequence)}`, [])) ?? 0);
    },
    async skipIds(table, last) {
      if (last > 0)
        await line.query('select setval(pg_get_serial_sequence($1, $2), $3)', [`${schemaName}.${table.name}`, table.key.join(), last]);
    },
    // Without figures about its tables the planner reads whole tables.
    settle: async () => void (await line.query('analyze')),
    close: line.close,
  };
}

/** One text for any number of rows. */
function insertText({ name, columns }: CopiedTable): string {
  const arrays = columns.map(({ type }, at) => `$${at + 1}::${arrayTypes[type]}`);
  return `insert into ${name} (${columns.map((column) => column.name).join(', ')}) select * from unnest(${arrays.join(', ')})`;
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function arrayText(rows: readonly SqlRow[], column: string): string {
  return `{${rows.map((row) => elementText(row[column] ?? null)).join(',')}}`;
}

function elementText(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
  return typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : String(value);
}
