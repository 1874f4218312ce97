/** Copies of stores between the engines: each row comes, a stopped copy continues, and uncopyable stores are refused. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { copied, type ComparedTable } from '../../../src/stores/copy/copy.ts';
import { openCopySide } from '../../../src/stores/copy/open.ts';
import type { CopySide } from '../../../src/stores/copy/side.ts';
import { copiedTables } from '../../../src/stores/copy/tables.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { scoredRun } from '../../builders/scored-run.ts';
import { folder, openFile } from '../members.ts';
import { nth } from '../numbered.ts';
import { fileWithRows } from './rows-of-all-tables.ts';

/** More than a batch has. */
const rows = 501;

async function opened(file: string): Promise<CopySide> {
  const side = await openCopySide({ scheme: 'sqlite', rest: file });
  onTestFinished(() => side.close().catch(() => undefined));
  return side;
}

async function copy(from: string, to: string, through: (side: CopySide) => CopySide = (side) => side): Promise<readonly ComparedTable[]> {
  const [source, target] = [await opened(from), await opened(to)];
  try {
    return await copied({ from: source, to: through(target), now: 1_000_000_000, onRows: () => undefined, onStart: () => undefined });
  } finally {
    await source.close();
    await target.close();
  }
}

/** With `edit`, a statement on the file first. */
async function source(edit?: string): Promise<string> {
  const file = join(folder(), 'source.db');
  await fileWithRows(file, edit === undefined ? rows : 1);
  if (edit !== undefined) execute(file, edit);
  return file;
}

function execute(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

test('copy: every row of every table comes, and the target is a store', async () => {
  const [from, to] = [await source(), join(folder(), 'target.db')];
  const compared = await copy(from, to);
  const tables = await copiedTables();
  expect(compared.map(({ table, rows: found, hash }) => [table, found, hash !== undefined])).toEqual(
    tables.map(({ name, key }) => [name, key.length === 0 ? 1 : rows, true]),
  );
  await openFile(to);
});

const stops = {
  'before a transaction ends': async (side: CopySide, work: () => Promise<void>) =>
    await side.transaction(async () => {
      await work();
      throw new Error('stopped');
    }),
  'after a transaction has ended': async (side: CopySide, work: () => Promise<void>) => {
    await side.transaction(work);
    throw new Error('stopped');
  },
} as const;

test.each(Object.entries(stops))('copy: one that stops %s goes on where it stopped', async (_, stop) => {
  const [from, to] = [await source(), join(folder(), 'target.db')];
  let [attempts, written] = [0, 0];
  let compared: readonly ComparedTable[] | undefined;
  while (compared === undefined) {
    let left = ++attempts * 4;
    compared = await copy(from, to, (side) => ({
      ...side,
      transaction: (work) => (left-- === 0 ? stop(side, work) : side.transaction(work)),
      insert: async (table, some) => {
        await side.insert(table, some);
        written += some.length;
      },
    })).catch((error: Error) => {
      expect(error.message).toContain('stopped');
      return undefined;
    });
  }
  expect(compared.filter(({ hash }) => hash === undefined)).toEqual([]);
  // No row is written twice, but those of a transaction that did not end.
  expect(written).toBeLessThan(compared.reduce((sum, one) => sum + one.rows, 0) + attempts * 500);
  expect(attempts).toBeGreaterThan(4);
});

test('copy: rows that change meanwhile are reported by table, and no service opens the target', async () => {
  const [from, to] = [await source('select 1'), join(folder(), 'target.db')];
  const compared = await copy(from, to, (side) => ({
    ...side,
    insert: (table, some) => side.insert(table, table.name === 'alert_marks' ? some.map((row) => ({ ...row, note: 'other' })) : some),
  }));
  expect(compared.flatMap(({ table, hash }) => (hash === undefined ? [table] : []))).toEqual(['alert_marks']);
  await expect(sqliteStore(to, { inThread: false })).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining('target.db holds an unfinished copy'),
  });
});

test('copy: ids of rows that are gone are not given again', async () => {
  const [from, to] = [join(folder(), 'source.db'), join(folder(), 'target.db')];
  const store = await sqliteStore(from, { inThread: false });
  const export_ = (number: number) => ({ exporter: 'x', part: 'rules', item: scoredRun({}, nth(number)), offeredAt: 1 });
  await store.write([scoredRun({}, nth(1))], [export_(1)]);
  await store.stop();
  execute(from, 'delete from exports');
  await copy(from, to);
  const target = await openFile(to);
  await target.write([scoredRun({}, nth(2))], [export_(2)]);
  await target.stop();
  const database = new DatabaseSync(to);
  expect(
    database
      .prepare('select id from exports')
      .all()
      .map((row) => ({ ...row })),
  ).toEqual([{ id: 2 }]);
  database.close();
});

const refused: readonly { readonly name: string; readonly edit: string; readonly says: string }[] = [
  { name: 'a newer release', edit: "insert into kysely_migration values ('999_future', '')", says: 'was written by a newer release' },
  {
    name: 'an earlier release',
    edit: "delete from kysely_migration where name = '042_journal_partitions'",
    says: 'has the tables of an earlier release',
  },
  {
    name: 'a service that runs',
    edit: "insert into replicas (id, host, version, configuration, started_us, seen_us) values ('a', 'host-1', '1', 'c', 1, 999000000)",
    says: 'is in use by a service on host-1',
  },
  { name: 'something else', edit: 'drop table kysely_migration', says: 'is not a store' },
];
test.each(refused)('copy: a source of $name is refused, and the target has no rows', async ({ edit, says }) => {
  const [from, to] = [await source(edit), join(folder(), 'target.db')];
  await expect(copy(from, to)).rejects.toMatchObject({ code: 'COPY_REFUSED', message: expect.stringContaining(`source.db ${says}`) });
  expect(existsSync(to)).toBe(true);
  await (await openFile(to)).stop();
});

test('copy: a target with rows is refused, and stays unchanged', async () => {
  const [from, to] = [await source('select 1'), await source('select 1')];
  await expect(copy(from, to)).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining('has rows in its table runs'),
  });
  await openFile(to);
});

test('copy: a target with an unfinished copy of another store is refused', async () => {
  const [from, to] = [await source('select 1'), join(folder(), 'target.db')];
  const stop = (side: CopySide): CopySide => ({
    ...side,
    insert() {
      throw new Error('stopped');
    },
  });
  await expect(copy(from, to, stop)).rejects.toMatchObject({ code: 'COPY_STOPPED' });
  renameSync(from, `${from}.moved`);
  await expect(copy(`${from}.moved`, to)).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining(`has an unfinished copy of ${from}`),
  });
});

test('copy: a file that another one has open is refused', async () => {
  const from = await source('select 1');
  const other = new DatabaseSync(from);
  onTestFinished(() => other.close());
  other.prepare('select count(*) from runs').get();
  await expect(copy(from, join(folder(), 'target.db'))).rejects.toMatchObject({
    code: 'COPY_REFUSED',
    message: expect.stringContaining(`${from} is in use`),
  });
});
