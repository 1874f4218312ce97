/** A database of PostgreSQL goes from one release to the next, while replicas of the release before use it. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { lineTo } from '../../src/stores/postgres/line.ts';
import { migrated } from '../../src/stores/postgres/migrations.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import type { Lease } from '../../src/model/store/lease.ts';
import type { ReplayableStore } from '../../src/model/store/replay-store.ts';
import { statementsOf, stepNames } from '../../src/stores/sqlite/migrations.ts';
import { missingPostgres } from '../builders/postgres.ts';
import { scoredRun } from '../builders/scored-run.ts';
import { nth } from './numbered.ts';

/** Steps that run on both engines, each with the one before it. */
const sharedSteps = stepNames.flatMap((name, at) => {
  const before = stepNames[at - 1];
  return before === undefined || statementsOf(name) === undefined ? [] : [{ name, before }];
});

/** A database as a release with this last step makes it. */
async function databaseOf(until: string): Promise<string> {
  const { url, run } = await missingPostgres();
  await run('create database $');
  const line = lineTo(url);
  await migrated(line, until);
  await line.close();
  return url;
}

async function client(url: string): Promise<pg.Client> {
  const one = new pg.Client({ connectionString: url });
  await one.connect();
  onTestFinished(() => one.end());
  return one;
}

async function opened(url: string): Promise<ReplayableStore> {
  const store = await postgresStore(url, { inThread: false });
  onTestFinished(() => store.stop());
  return store;
}

/** Columns in the order of their names, as a table has added ones at its end. */
async function shapeOf(url: string): Promise<readonly unknown[]> {
  const { rows } = await (
    await client(url)
  )
    .query(`select table_name, column_name, data_type, is_nullable, column_default, collation_name from information_schema.columns where table_schema = 'tracejury'
    union all select tablename, indexname, indexdef, null, null, null from pg_indexes where schemaname = 'tracejury' order by 1, 2`);
  return rows as readonly unknown[];
}

test.each(sharedSteps)('postgres: tables from before the step $name become those of a new database', async ({ before }) => {
  const url = await databaseOf(before);
  const other = await client(url);
  await other.query(
    `insert into tracejury.runs (tenant, trace_id, span_id, started_us, ended_us, completeness, status, revision, marks)
       values ('', repeat('a', 32), repeat('b', 16), 1, 2, 'complete', 'ok', 1, '')`,
  );
  await other.query(
    `insert into tracejury.queue_items (run_id, queue, tenant, trace_id, span_id, why, added_by, entered_us, state)
       select id, 'q', '', trace_id, span_id, '', 'x', 1, 'open' from tracejury.runs`,
  );
  const store = await opened(url);
  await store.write([scoredRun({}, nth(1))]);
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(2);
  expect(await shapeOf(url)).toEqual(await shapeOf(await databaseOf(stepNames.at(-1) ?? '')));
});

test('postgres: of two processes that bring a database up to date at once, one does it', async () => {
  const url = await databaseOf(sharedSteps[0]?.before ?? '');
  const stores = await Promise.all([opened(url), opened(url), opened(url)]);
  await Promise.all(stores.map((store, at) => store.write([scoredRun({}, nth(at))])));
  expect((await stores[0]?.runs({ limit: 10 }))?.runs).toHaveLength(3);
  const { rows } = await (await client(url)).query('select name from tracejury.kysely_migration order by name');
  expect(rows).toEqual(stepNames.map((name) => ({ name })));
});

test('postgres: of two processes that make the tables at once, one does it', async () => {
  const { url, run } = await missingPostgres();
  await run('create database $');
  const stores = await Promise.all([opened(url), opened(url)]);
  await Promise.all(stores.map((store, at) => store.write([scoredRun({}, nth(at))])));
  expect((await stores[0]?.runs({ limit: 10 }))?.runs).toHaveLength(2);
});

test('postgres: a replica goes on when the next release adds a column to tables that it reads', async () => {
  const url = await databaseOf(stepNames.at(-1) ?? '');
  const [store, other] = [await opened(url), await client(url)];
  const looks = () => store.judgeDrift.looks({ name: 'a', limit: 1 });
  expect(await looks()).toEqual([]);
  await other.query('alter table tracejury.drift_looks add column later text');
  expect(await looks()).toEqual([]);
});

test('postgres: replicas go on writing and reading while the next release adds a column to every table', async () => {
  const url = await databaseOf(stepNames.at(-1) ?? '');
  const [store, other] = [await opened(url), await client(url)];
  const { rows: tables } = await other.query<{ readonly name: string }>(
    "select tablename as name from pg_tables where schemaname = 'tracejury' order by 1",
  );
  const lease = (): Lease => ({ owner: 'old', now: Date.now() * 1_000, until: Date.now() * 1_000 + 30e6 });
  let round = 0;
  async function works(): Promise<void> {
    const item = scoredRun({}, nth(++round));
    const job = {
      name: 'j',
      evaluator: 'e',
      evaluatorKind: 'judge',
      queueKey: 'q',
      optionsHash: '',
      probability: 1,
      offeredAt: 1,
    } as const;
    await store.write([{ ...item, jobs: [job] }], [{ exporter: 'x', part: '', item, offeredAt: 1, lease: lease() }]);
    expect(await store.exports.due({ exporter: 'x', now: lease().now, limit: 1, except: [], lease: lease() })).toHaveLength(1);
    expect(await store.judgeJobs.take({ limit: 1, except: [] }, lease())).toHaveLength(1);
    expect(await store.replicas.hold(['alerts'], lease())).toEqual(['alerts']);
    await store.replicas.seen(
      { id: 'old', host: 'h', version: '1', configuration: '', startedAt: 1, seenAt: lease().now, skew: 0 },
      lease().now - 1,
    );
    await store.judgeBatches.prepare({ id: `${round}`, judge: 'j', endpoint: 'e', preparedAt: 1, questions: [`${round}`] }, lease());
    expect((await store.judgeBatches.take({ judge: 'j', endpoint: 'e', known: [] }, lease())).taken).toHaveLength(round);
    expect((await store.replicas.list()).map(({ id }) => id)).toEqual(['old']);
    expect((await store.runs({ limit: 1_000 })).runs).toHaveLength(round);
  }
  await works();
  for (const { name } of tables) {
    const [added] = await Promise.all([other.query(`alter table tracejury.${name} add column later text default 'new'`), works()]);
    expect(added.command).toBe('ALTER');
    await works();
  }
  await other.query("insert into tracejury.kysely_migration values ('999_next', '')");
  await works();
  // A process of this release does not start on these tables.
  await expect(postgresStore(url, { inThread: false })).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining('it was written by a newer release: it knows 999_next'),
  });
});

test('postgres: a step that fails leaves the tables unchanged', async () => {
  const step = sharedSteps.find(({ name }) => name === '040_draw_cutoff');
  const url = await databaseOf(step?.before ?? '');
  await (await client(url)).query('create index queue_items_unsettled on tracejury.queue_items (id)');
  const before = await shapeOf(url);
  await expect(postgresStore(url, { inThread: false })).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining(`the step ${step?.name} failed, and the tables are unchanged`),
  });
  expect(await shapeOf(url)).toEqual(before);
});
