/** Faults that only PostgreSQL has: connections that end, transactions that it gives up, and databases of other releases. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../src/stores/postgres/database.ts';
import { writeLock } from '../../src/stores/postgres/line.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { beginText } from '../../src/stores/sql/answers.ts';
import type { ReplayableStore } from '../../src/model/store/replay-store.ts';
import { emptyPostgres } from '../builders/postgres.ts';
import { eventually } from '../service/running.ts';
import { scoredRun } from '../builders/scored-run.ts';
import { nth as runOf } from './numbered.ts';

const nth = (number: number) => scoredRun({}, runOf(number));

/** Another client of the same database. */
async function beside(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function opened(url: string): Promise<ReplayableStore> {
  const store = await postgresStore(url, { inThread: false });
  onTestFinished(() => store.stop());
  return store;
}

const cutOff =
  "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tracejury' and datname = current_database()";

async function runsOf(store: ReplayableStore): Promise<number> {
  return (await store.runs({ limit: 10 })).runs.length;
}

/** Resolves when the store waits for the lock of those who write. */
async function waitsForLock(other: pg.Client): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await other.query(
      "select 1 from pg_stat_activity where application_name = 'tracejury' and datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount === 1 ? true : undefined;
  }, 'a store that waits for the lock');
}

test('postgres: a store whose idle connection has ended writes by the next one', async () => {
  const url = await emptyPostgres();
  const [store, other] = [await opened(url), await beside(url)];
  await store.write([nth(1)]);
  await other.query(cutOff);
  await eventually(
    () =>
      store.write([nth(2)]).then(
        () => true,
        () => undefined,
      ),
    'a new connection',
  );
  expect(await runsOf(store)).toBe(2);
});

const whileWaiting: readonly { readonly name: string; readonly ends: string }[] = [
  { name: 'whose connection ends', ends: cutOff },
  { name: 'that the server cancels', ends: cutOff.replace('pg_terminate_backend', 'pg_cancel_backend') },
];
for (const { name, ends } of whileWaiting)
  test(`postgres: a batch ${name} while it waits for the lock fails, and the next one is written`, async () => {
    const url = await emptyPostgres();
    const [store, other] = [await opened(url), await beside(url)];
    await other.query('begin');
    await other.query(`select pg_advisory_xact_lock(${writeLock})`);
    const write = store.write([nth(1)]);
    write.catch(() => undefined);
    await waitsForLock(other);
    await other.query(ends);
    await expect(write).rejects.toThrow();
    await other.query('rollback');
    await eventually(
      () =>
        store.write([nth(2)]).then(
          () => true,
          () => undefined,
        ),
      'a batch that is written',
    );
    expect(await runsOf(store)).toBe(1);
  });

test('postgres: a transaction whose connection ends is not written by the next connection', async () => {
  const url = await emptyPostgres();
  const database = await postgresDatabase(url);
  onTestFinished(async () => void (await database.answer({ id: 1, kind: 'close' })));
  const other = await beside(url);
  const ask = async (sql: string) => (await database.answer({ id: 1, kind: 'query', sql, parameters: [] })).kind;
  expect([await ask(beginText), await ask("insert into verdict_marks (mark) values ('lost')")]).toEqual(['done', 'done']);
  await other.query(cutOff);
  expect([await ask("insert into verdict_marks (mark) values ('outside')"), await ask('commit'), await ask('rollback')]).toEqual([
    'failed',
    'failed',
    'done',
  ]);
  expect([await ask(beginText), await ask("insert into verdict_marks (mark) values ('next')"), await ask('commit')]).toEqual([
    'done',
    'done',
    'done',
  ]);
  const { rows } = await other.query("select mark from tracejury.verdict_marks where mark in ('lost', 'outside', 'next')");
  expect(rows).toEqual([{ mark: 'next' }]);
});

test('postgres: the commit of a transaction with a failed statement is not a success', async () => {
  const database = await postgresDatabase(await emptyPostgres());
  onTestFinished(async () => void (await database.answer({ id: 1, kind: 'close' })));
  const ask = async (sql: string) => (await database.answer({ id: 1, kind: 'query', sql, parameters: [] })).kind;
  expect([await ask(beginText), await ask('select nothing'), await ask('commit')]).toEqual(['done', 'failed', 'failed']);
});

const otherReleases: readonly { readonly name: string; readonly change: string; readonly says: RegExp }[] = [
  {
    name: 'a newer release',
    change: "insert into tracejury.kysely_migration values ('999_future', '')",
    says: /newer release: it knows 999_future/,
  },
  {
    name: 'no release',
    change: "delete from tracejury.kysely_migration where name = '021_experiments'",
    says: /lacks 021_experiments/,
  },
];
for (const { name, change, says } of otherReleases)
  test(`postgres: a database of ${name} is refused`, async () => {
    const url = await emptyPostgres();
    await (await beside(url)).query(change);
    await expect(postgresStore(url, { inThread: false })).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(says),
    });
  });

test('postgres: a database of another encoding is refused', async () => {
  const url = new URL(await emptyPostgres());
  const name = `${url.pathname.slice(1)}_ascii`;
  const other = await beside(url.href);
  await other.query(`create database ${name} encoding 'SQL_ASCII' locale 'C' template template0`);
  onTestFinished(async () => void (await other.query(`drop database ${name} with (force)`)));
  url.pathname = `/${name}`;
  await expect(postgresStore(url.href, { inThread: false })).rejects.toThrow(
    'cannot be used as a store: its encoding is SQL_ASCII, and texts of runs need UTF8',
  );
});

test('postgres: JSON with halves of pairs of surrogates is read, and pairs and backslashes stay', async () => {
  const url = await emptyPostgres();
  const other = await beside(url);
  const texts = [
    'plain',
    'a\ud800',
    '\udc00b',
    '\ud800\ud800x',
    '\udc00\ud800',
    '\u{1F9ED}',
    '\\ud800',
    '\\\ud800',
    '\u{1F9ED}\udc00',
    'a\0b',
  ];
  await other.query('set search_path = tracejury');
  const { rows } = await other.query<{ value: string }>('select value from json_each($1) order by key::int', [JSON.stringify(texts)]);
  expect(rows.map(({ value }) => value)).toEqual(texts.map((text) => text.toWellFormed().replaceAll('\0', '\ufffd')));
  const { rows: members } = await other.query('select key, value from json_each($1)', [JSON.stringify({ 'k\ud800': 'v' })]);
  expect(members).toEqual([{ key: 'k\ufffd', value: 'v' }]);
});

test('postgres: sums over more rows than one page read all of them', async () => {
  const store = await opened(await emptyPostgres());
  const at = 1_795_651_200_000_000_000n;
  const runs = Array.from({ length: 1_234 }, (_, number) => scoredRun({}, runOf(number, { startUnixNano: at, endUnixNano: at + 1_000n })));
  await store.write(runs);
  const [first] = runs;
  while (await store.versions.refresh({ now: Number(at / 1_000n), keepFrom: 0 })) {}
  const figures = await store.versions.figures({ agent: first?.run.trace.agent ?? '', kinds: ['run'] });
  expect(figures.reduce((sum, { runs: counted }) => sum + counted, 0)).toBe(1_234);
});
