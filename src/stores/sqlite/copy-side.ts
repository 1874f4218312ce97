/** A file of SQLite as one side of a copy. The lock of the file keeps services and other copies away until the copy ends. */
import { JuryError } from '../../model/errors.ts';
import { compressed } from '../compression.ts';
import type { CopySide } from '../copy/side.ts';
import type { CopiedTable } from '../copy/tables.ts';
import { faultText } from '../sql/answers.ts';
import { blockText } from '../sql/blocks.ts';
import { ownersOnly } from './connection.ts';
import { builderOn, exclusive } from './database.ts';
import { migrated } from './migrations.ts';

/** https://www.sqlite.org/rescode.html#busy */
const busy = 5;

/** A file that is not there is made. Rejects with a JuryError. */
export async function sqliteSide(file: string): Promise<CopySide> {
  await ownersOnly(file).catch((error: unknown) => refuse(`${file} cannot be opened: ${faultText(error)}.`, error));
  const { connection, statements } = opened(file);
  const inserts = new Map<string, string>();

  const hasTable: CopySide['hasTable'] = async (name) =>
    (await statements.first("select 1 from sqlite_master where type = 'table' and name = ?", [name])) !== undefined;
  const givesNone = async (table: CopiedTable): Promise<boolean> =>
    !(await hasTable('sqlite_sequence')) ||
    (await statements.first('select 1 from sqlite_master where name = ? and sql glob ?', [table.name, '*autoincrement*'])) === undefined;

  return {
    name: file,
    statements,
    hasTable,
    makeTables: () => migrated(builderOn(connection), file),
    async transaction(work) {
      connection.exec('begin immediate');
      try {
        await work();
        connection.exec('commit');
      } catch (error) {
        if (connection.isTransaction) connection.exec('rollback');
        throw error;
      }
    },
    async insert(table, rows) {
      const text = inserts.get(table.name) ?? insertText(table);
      inserts.set(table.name, text);
      for (const row of rows)
        await statements.run(
          text,
          table.columns.map(({ name }) => row[name] ?? null),
        );
    },
    plain: blockText,
    packed: compressed,
    async lastId(table) {
      const given = await statements.first(`select max(${table.key.join()}) as last from ${table.name}`);
      if (await givesNone(table)) return Number(given?.['last'] ?? 0);
      const noted = await statements.first('select seq from sqlite_sequence where name = ?', [table.name]);
      return Math.max(Number(given?.['last'] ?? 0), Number(noted?.['seq'] ?? 0));
    },
    async skipIds(table, last) {
      if (last === 0 || (await givesNone(table))) return;
      if ((await statements.run('update sqlite_sequence set seq = max(seq, ?) where name = ?', [last, table.name])) === 0)
        await statements.run('insert into sqlite_sequence (name, seq) values (?, ?)', [table.name, last]);
    },
    settle: async () => undefined,
    close: async () => connection.close(),
  };
}

function opened(file: string): ReturnType<typeof exclusive> {
  try {
    return exclusive(file);
  } catch (error) {
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === busy;
    return refuse(
      isBusy ? `${file} is in use: stop the service that has it open.` : `${file} cannot be opened: ${faultText(error)}.`,
      error,
    );
  }
}

function refuse(why: string, cause: unknown): never {
  throw new JuryError('COPY_REFUSED', why, cause);
}

function insertText({ name, columns }: CopiedTable): string {
  return `insert into ${name} (${columns.map((column) => column.name).join(', ')}) values (${columns.map(() => '?').join(', ')})`;
}
