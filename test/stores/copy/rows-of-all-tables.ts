/** Rows in every table of a file of SQLite, with texts and numbers that another engine might write in another way. */
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { copiedTables, type CopiedColumn } from '../../../src/stores/copy/tables.ts';

const values: { readonly [type in CopiedColumn['type']]: (nth: number) => string | number | Uint8Array } = {
  INTEGER: (nth) => nth,
  REAL: (nth) => [nth / 3, -0, 1e-300, 2 ** 53][nth % 4] ?? 0,
  TEXT: (nth) => `{"a\\b", NULL}\n'é\u{1F9ED}\0' ${nth}`,
  BLOB: (nth) => new Uint8Array([0, nth % 256, 0x22, 0x5c, 255]),
};

/** Makes a store of this file, with this number of rows in each table. Columns that refer to another row refer to that of the same number. */
export async function fileWithRows(file: string, rows: number): Promise<void> {
  await (await sqliteStore(file, { inThread: false })).stop();
  const database = new DatabaseSync(file);
  database.exec('begin');
  for (const { name, columns, key } of await copiedTables()) {
    if (key.length === 0) database.exec(`update ${name} set ${columns.map((column) => `${column.name} = 7`).join(', ')}`);
    const insert = database.prepare(`insert into ${name} values (${columns.map(() => '?').join(', ')})`);
    for (let nth = 1; nth <= (key.length === 0 ? 0 : rows); nth++) insert.run(...columns.map(({ type }) => values[type](nth)));
  }
  database.exec('commit');
  database.close();
}
