/** Connections to PostgreSQL: readers beside writers, networks that are cut, TLS, and servers that a store cannot work with. */
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../src/stores/postgres/database.ts';
import { writeLock } from '../../src/stores/postgres/line.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { beginText, type Database } from '../../src/stores/sql/answers.ts';
import { authorities, emptyPostgres, missingPostgres } from '../builders/postgres.ts';
import { scoredRun } from '../builders/scored-run.ts';
import { tcpProxy, type TcpProxy } from '../builders/tcp-proxy.ts';
import { transactionPooler } from '../builders/transaction-pooler.ts';
import { eventually } from '../service/running.ts';
import { nth } from './numbered.ts';

/** Another client of the same database. */
async function beside(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** With the lock of those who write, until it rolls back. */
async function lockHolder(url: string): Promise<pg.Client> {
  const client = await beside(url);
  await client.query('begin');
  await client.query(`select pg_advisory_xact_lock(${writeLock})`);
  return client;
}

async function waiting(other: pg.Client, what: string): Promise<void> {
  await eventually(async () => {
    const { rowCount } = await other.query(
      `select 1 from pg_stat_activity where application_name = 'tracejury' and datname = current_database() and wait_event = '${what}'`,
    );
    return rowCount === 1 ? true : undefined;
  }, `a store that waits: ${what}`);
}

test('postgres: questions that find their connections lost share the new ones', async () => {
  const url = await emptyPostgres();
  const store = await postgresStore(url, { inThread: true });
  const other = await beside(url);
  const connections = async (): Promise<number | null> =>
    (await other.query("select 1 from pg_stat_activity where application_name = 'tracejury' and datname = current_database()")).rowCount;
  const read = () => Promise.allSettled(Array.from({ length: 20 }, () => store.runs({ limit: 1 })));
  await read();
  const before = await connections();
  await other.query(
    "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'tracejury' and datname = current_database()",
  );
  await read();
  await read();
  expect(await connections()).toBe(before);
  await store.stop();
});

test('postgres: where the server takes no further connection, questions wait for those that are there', async () => {
  const database = await missingPostgres();
  await database.run('create role $ login connection limit 2');
  onTestFinished(() => database.run('drop role $'));
  await database.run('create database $ owner $');
  onTestFinished(() => database.run('drop database $ with (force)'));
  const url = new URL(database.url);
  url.username = url.pathname.slice(1);
  const store = await postgresStore(String(url), { inThread: true });
  onTestFinished(() => store.stop());
  await store.write([scoredRun({}, nth(1))]);
  const found = await Promise.all(Array.from({ length: 20 }, () => store.runs({ limit: 10 })));
  expect(found.map(({ runs }) => runs.length)).toEqual(Array.from({ length: 20 }, () => 1));
});

test('postgres: readers do not wait for a writer that waits for the lock, nor for a transaction', async () => {
  const url = await emptyPostgres();
  const store = await postgresStore(url, { inThread: true });
  onTestFinished(() => store.stop());
  await store.write([scoredRun({}, nth(1))]);
  const other = await lockHolder(url);
  const order: string[] = [];
  const writes = [store.write([scoredRun({}, nth(2))]), store.datasets.delete({ tenant: nth(1).tenant, name: 'none' })].map((write) =>
    write.then(() => order.push('write')),
  );
  await waiting(other, 'advisory');
  await Promise.all([
    store.runs({ limit: 10 }).then(() => order.push('read')),
    store.run(nth(1)).then(() => order.push('read')),
    store.sessions({ limit: 10 }).then(() => order.push('read')),
  ]);
  await other.query('rollback');
  await Promise.all(writes);
  expect(order).toEqual(['read', 'read', 'read', 'write', 'write']);
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(2);
});

interface Trial {
  readonly url: string;
  readonly proxy: TcpProxy;
  readonly other: pg.Client;
  ask(sql: string, isFree?: boolean): Promise<string>;
}

async function trial(isStall: boolean): Promise<Trial> {
  const url = new URL(await emptyPostgres());
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  const direct = url.href;
  url.port = String(proxy.port);
  const database: Database = await postgresDatabase(url.href, isStall ? { statementMs: 1_500, answerMs: 500 } : {});
  onTestFinished(async () => {
    proxy.cut();
    await database.answer({ id: 1, kind: 'close' });
  });
  return {
    url: direct,
    proxy,
    other: await beside(direct),
    ask: async (sql, isFree) => (await database.answer({ id: 1, kind: 'query', sql, parameters: [], isFree })).kind,
  };
}

const add = (mark: string): string => `insert into verdict_marks (mark) values ('${mark}')`;

interface State {
  readonly name: string;
  /** Brings the connections into the state, and resolves with what fails when they break. */
  reach(on: Trial): Promise<() => Promise<readonly string[]>>;
  readonly fails: readonly string[];
}

const states: readonly State[] = [
  { name: 'idle', fails: [], reach: async ({ ask }) => (await ask('select 1', true), async () => []) },
  {
    name: 'reading',
    fails: ['failed'],
    async reach({ ask, other }) {
      const read = ask('select pg_sleep(1)', true);
      await waiting(other, 'PgSleep');
      return async () => [await read];
    },
  },
  {
    name: 'in a transaction',
    fails: ['failed', 'failed', 'done'],
    async reach({ ask }) {
      expect([await ask(beginText), await ask(add('lost'))]).toEqual(['done', 'done']);
      return async () => [await ask(add('outside')), await ask('commit'), await ask('rollback')];
    },
  },
  {
    name: 'waiting for the lock',
    fails: ['failed'],
    async reach({ ask, other, url }) {
      const holder = await lockHolder(url);
      const begun = ask(beginText);
      await waiting(other, 'advisory');
      return async () => {
        const end = await begun;
        await holder.query('rollback');
        return [end];
      };
    },
  },
];

describe.each(states)('postgres: a network that breaks while the store is $name', ({ reach, fails }) => {
  test.each(['cut', 'stall'] as const)('by a %s: what was asked fails, and the store goes on with a new connection', async (how) => {
    const on = await trial(how === 'stall');
    const broken = await reach(on);
    on.proxy[how]();
    expect(await broken()).toEqual(fails);
    for (const [sql, isFree] of [
      ['select 1', true],
      [add('next'), false],
    ] as const)
      await eventually(async () => ((await on.ask(sql, isFree)) === 'done' ? true : undefined), sql);
    const { rows } = await on.other.query("select mark from tracejury.verdict_marks where mark in ('lost', 'outside', 'next')");
    expect(rows).toEqual([{ mark: 'next' }]);
  });
});

test('postgres: a store closes although its network brings nothing', async () => {
  const url = new URL(await emptyPostgres());
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  const database = await postgresDatabase(url.href, { answerMs: 200 });
  await database.answer({ id: 1, kind: 'query', sql: 'select 1', parameters: [], isFree: true });
  proxy.stall();
  expect(await database.answer({ id: 2, kind: 'close' })).toMatchObject({ kind: 'done' });
});

test('postgres: a reader cannot write', async () => {
  const { ask } = await trial(false);
  expect([await ask(add('a'), true), await ask(add('a'), false)]).toEqual(['failed', 'done']);
});

test('postgres: the server ends a statement that takes too long, and the connection stays', async () => {
  const { ask, other } = await trial(true);
  const pids = async (): Promise<readonly unknown[]> =>
    (
      await other.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = 'tracejury' and datname = current_database() order by pid",
      )
    ).rows;
  await ask('select 1', true);
  const before = await pids();
  expect(await ask('select pg_sleep(60)', true)).toBe('failed');
  expect(await ask('select 1', true)).toBe('done');
  expect(await pids()).toEqual(before);
});

const encrypted: readonly { readonly name: string; readonly host: string; readonly authority: 'own' | 'other'; readonly says?: RegExp }[] =
  [
    { name: 'of its authority and its host', host: 'localhost', authority: 'own' },
    { name: 'of another authority', host: 'localhost', authority: 'other', says: /certificate/ },
    { name: 'for another host', host: '127.0.0.1', authority: 'own', says: /altnames/ },
  ];
for (const { name, host, authority, says } of encrypted)
  test(`postgres: sslmode=verify-full ${says === undefined ? 'takes' : 'refuses'} a certificate ${name}`, async () => {
    const direct = await emptyPostgres();
    const url = new URL(direct);
    url.hostname = host;
    url.searchParams.set('sslmode', 'verify-full');
    url.searchParams.set('sslrootcert', (await authorities())[authority]);
    const opening = postgresStore(url.href, { inThread: false });
    if (says !== undefined) {
      await expect(opening).rejects.toMatchObject({ code: 'STORE_AWAY', message: expect.stringMatching(says) });
      return;
    }
    const store = await opening;
    onTestFinished(() => store.stop());
    await store.write([scoredRun({}, nth(1))]);
    const { rows } = await (
      await beside(direct)
    ).query(
      "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'tracejury' and datname = current_database()",
    );
    expect(rows).toEqual([{ ssl: true }]);
  });

test('postgres: a pooler of transactions is refused', async () => {
  const url = new URL(await emptyPostgres());
  url.port = String(await transactionPooler(Number(url.port)));
  await expect(postgresStore(url.href, { inThread: false })).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining('a connection pooler gives each transaction another connection'),
  });
});

test('postgres: a server that only reads is refused', async () => {
  const { url, run } = await missingPostgres();
  await run('create database $');
  await run('alter database $ set default_transaction_read_only = on');
  await expect(postgresStore(url, { inThread: false })).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining('it only reads, as a replica does'),
  });
});
