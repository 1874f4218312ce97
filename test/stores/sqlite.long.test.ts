/** Duties that only a store in a file has. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { CompiledQuery } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { noTenant, parseTraceId, type TraceId } from '../../src/model/ids.ts';
import type { RunPage, RunRow, SpanPiece } from '../../src/model/store/store.ts';
import { connected } from '../../src/stores/sqlite/connection.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { ReplayableStore } from '../../src/model/store/replay-store.ts';
import { spanId } from '../builders/agent-trace.ts';
import { retention } from '../builders/retention.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

const folders: string[] = [];
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true });
});

function file(): string {
  const made = mkdtempSync(join(tmpdir(), 'tracejury-sqlite-'));
  folders.push(made);
  return join(made, 'tracejury.db');
}

function nth(number: number, text = '') {
  const traceId = parseTraceId((number + 1).toString(16).padStart(32, '0'));
  if (traceId === undefined) throw new Error('no trace id');
  const start = BigInt(1_700_000_000 + number) * 1_000_000_000n;
  return scoredRun({ a: scored(1, { explanation: text }) }, run({ traceId, startUnixNano: start, endUnixNano: start }));
}

/** A file as an earlier release wrote it. */
function ofEarlierRelease(at: string, dump: string): DatabaseSync {
  const old = new DatabaseSync(at);
  old.exec(readFileSync(new URL(`../fixtures/store/${dump}`, import.meta.url), 'utf8'));
  return old;
}

test('sqlite: what was written is there after the file was opened again', async () => {
  const at = file();
  const first = await sqliteStore(at);
  await first.write([nth(1), nth(2)]);
  await first.stop();
  await first.stop();
  const second = await sqliteStore(at);
  expect((await second.runs({ limit: 10 })).runs).toHaveLength(2);
  expect((await second.run(nth(1).run))?.content).toMatchObject({ agent: 'travel-agent' });
  await second.stop();
});

test('sqlite: a file with a time that no double holds exactly is read after it was brought up to date', async () => {
  const at = file();
  const before = ofEarlierRelease(at, '016-verdict-rows.sql');
  before.exec(`delete from kysely_migration where name = '016_time_range'; delete from runs where id > 2;
    update runs set started_us = 18446744073709551, ended_us = 18446744073709551 where id = 2;
    update evaluations set started_us = 18446744073709551 where run_id = 2`);
  before.close();
  const second = await sqliteStore(at);
  expect((await second.runs({ limit: 10 })).runs.map(({ startedAt }) => startedAt)).toEqual([
    Number.MAX_SAFE_INTEGER,
    1_700_000_001_000_000,
  ]);
  await second.stop();
});

test('sqlite: a thread that dies has its questions rejected, and the next one is answered by a new one', async () => {
  const threads: Worker[] = [];
  const store = await sqliteStore(file(), { onThread: (thread) => threads.push(thread) });
  await store.write([nth(1)]);
  const [first] = threads;
  const asked = store.write([nth(2)]);
  await Promise.all([expect(asked).rejects.toThrow('thread'), first?.terminate()]);
  await store.write([nth(3)]);
  const { runs } = await store.runs({ limit: 10 });
  expect([runs.length, runs.map((one) => one.traceId).includes(nth(3).run.traceId), threads.length]).toEqual([2, true, 2]);
  await store.stop();
  await expect(store.runs({ limit: 10 })).rejects.toThrow('destroyed');
});

const rights = (path: string): number => statSync(path).mode & 0o777;

test('sqlite: folders, file, log and copies are made for their owner only', async () => {
  const at = join(dirname(file()), 'data', 'inner', 'tracejury.db');
  const store = await sqliteStore(at);
  await store.write([nth(1)]);
  await store.backup(`${at}.copy`);
  const inner = dirname(at);
  expect(Object.fromEntries(readdirSync(inner).map((name) => [name, rights(join(inner, name))]))).toEqual(
    Object.fromEntries(['tracejury.db', 'tracejury.db-shm', 'tracejury.db-wal', 'tracejury.db.copy'].map((name) => [name, 0o600])),
  );
  expect([rights(inner), rights(dirname(inner))]).toEqual([0o700, 0o700]);
  await store.stop();
});

test('sqlite: what is there already keeps the rights that it was given', async () => {
  const at = file();
  writeFileSync(at, '');
  chmodSync(at, 0o640);
  chmodSync(dirname(at), 0o750);
  const store = await sqliteStore(at);
  await store.write([nth(1)]);
  expect([at, `${at}-wal`, dirname(at)].map(rights)).toEqual([0o640, 0o640, 0o750]);
  await store.stop();
});

const foreign: readonly { readonly name: string; readonly make: (at: string) => void; readonly says: RegExp }[] = [
  {
    name: 'a file of a newer release',
    make: (at) => {
      const db = new DatabaseSync(at);
      db.exec(
        "create table kysely_migration (name text primary key, timestamp text); insert into kysely_migration values ('001_runs', ''), ('999_future', '')",
      );
      db.close();
    },
    says: /newer release: it knows 999_future/,
  },
  {
    name: 'a database of something else',
    make: (at) => {
      const db = new DatabaseSync(at);
      db.exec('create table songs (title text)');
      db.close();
    },
    says: /SQLite database of something else/,
  },
  {
    name: 'no database at all',
    make: (at) => writeFileSync(at, 'this is a text, and it is long enough to be looked at as a header of a file'.repeat(20)),
    says: /not a database/,
  },
];
for (const { name, make, says } of foreign) {
  test(`sqlite: ${name} is refused and left unchanged`, async () => {
    const at = file();
    make(at);
    await expect(sqliteStore(at, { inThread: false })).rejects.toThrow(says);
    await expect(sqliteStore(at, { inThread: false })).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  });
}

test('sqlite: a file of the first release is brought up to date, and nothing in it is lost', async () => {
  const at = file();
  ofEarlierRelease(at, '001-runs.sql').close();
  const store = await sqliteStore(at, { inThread: false });
  const given = nth(1).run;
  const { traceId, spanId: kept } = run();
  expect(await store.run({ tenant: given.tenant, traceId, spanId: kept })).toMatchObject({
    agent: 'travel-agent',
    contentGone: undefined,
    content: { input: 'A trip', final_response: 'Booked', tool_calls: [{ name: 'book', arguments: { id: 7 } }] },
    verdicts: [
      { name: 'tool_efficiency', verdict: 'skipped' },
      { name: 'tool_error', verdict: 'pass' },
    ],
    decisions: [{ name: 'tool_error' }],
  });
  expect(await store.run({ tenant: given.tenant, traceId, spanId: spanId(0xa2) })).toMatchObject({
    content: undefined,
    contentGone: 'unknown',
    verdicts: [{ verdict: 'fail' }],
  });
  await store.write([nth(1), { ...nth(2), withoutContent: 'sampled_out' }]);
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(4);
  expect((await store.run(nth(2).run))?.contentGone).toBe('sampled_out');
  await store.stop();
});

/** That release had no user, environment, cost, excerpt or labels in its lists, and read them whole. */
function toldRun({
  userId: _user,
  environment: _environment,
  inputTokens: _input,
  outputTokens: _output,
  costUsd: _cost,
  excerpt: _excerpt,
  labels: _labels,
  ...row
}: Partial<RunRow> = {}): unknown {
  return row;
}

function toldPage({ runs, next }: RunPage): unknown {
  return { runs: runs.map(toldRun), next };
}

/** Facts about its file from the release that wrote the dump. */
async function told(store: ReplayableStore): Promise<unknown> {
  const period = { from: 0, to: 2_000_000_000_000_000 };
  const page = await store.verdicts.page({ ...period, name: 'task_completion', limit: 10 });
  const keys = ['02', '03', '04', '05'].map((end) => ({ ...run(), traceId: `${'0'.repeat(30)}${end}` as TraceId }));
  return {
    runs: toldPage(await store.runs({ limit: 10 })),
    whole: await Promise.all(keys.map(async (key) => toldRun(await store.run(key)))),
    // That release split no figures.
    summary: (await store.summary({ ...period, bucketMicros: 1_000_000 })).map(({ of: _of, ...row }) => row),
    // Nor had it times of single calls, or failures of arguments.
    tools: (await store.tools(period)).map(({ of: _of, times: _times, argumentFailures: _failures, ...row }) => row),
    decided: await store.verdicts.decided({ ...period, name: 'relevance' }),
    evaluators: await store.verdicts.evaluators(),
    page: { ...page, rows: page.rows.map(({ version: _version, model: _model, prompt: _prompt, ...row }) => row) },
    failedRuns: toldPage(await store.runs({ limit: 10, verdict: 'fail' })),
    annotated: (await store.annotations.onRuns({ ...period, kinds: ['human'], limit: 10 })).map(
      ({ agentVersion: _version, sessionId: _session, ...row }) => row,
    ),
    exports: await store.exports.list({ limit: 10 }),
    jobs: await store.judgeJobs.counts(),
  };
}

/** The earlier release called a queue's key its party. */
const saidBefore = (): unknown =>
  JSON.parse(
    readFileSync(new URL('../fixtures/store/016-verdict-rows.json', import.meta.url), 'utf8').replaceAll('"party":', '"queueKey":'),
  );

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, member: unknown) => member ?? null));

test('sqlite: a file with a row for each verdict reads the same as one with one row a run', async () => {
  const at = file();
  ofEarlierRelease(at, '016-verdict-rows.sql').close();
  const store = await sqliteStore(at, { inThread: false });
  expect(asJson(await told(store))).toEqual(saidBefore());
  // Rows that referred to runs stay, and still go with them.
  expect((await store.prune(retention({ bytesMax: 1, stepRuns: 10 }))).exports).toEqual({ backend: 1 });
  expect((await store.runs({ limit: 10 })).runs).toEqual([]);
  await store.stop();
  const after = new DatabaseSync(at);
  expect(['blocks', 'exports', 'judge_jobs', 'annotations'].map((table) => after.prepare(`select * from ${table}`).all())).toEqual([
    [],
    [],
    [],
    [],
  ]);
  after.close();
});

test('sqlite: a step that fails in its middle leaves the file unchanged, and the next start does it', async () => {
  const at = file();
  const old = ofEarlierRelease(at, '016-verdict-rows.sql');
  // The step makes this index after all rows are moved.
  old.exec('drop index runs_by_session; create index runs_by_session on annotations (id)');
  old.close();
  await expect(sqliteStore(at, { inThread: false })).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  const between = new DatabaseSync(at);
  expect(between.prepare('select count(*) as rows from evaluations').get()).toEqual({ rows: 6 });
  expect(between.prepare("select count(*) as tables from sqlite_master where name in ('blocks', 'verdict_marks')").get()).toEqual({
    tables: 0,
  });
  between.exec('drop index runs_by_session');
  between.close();
  const store = await sqliteStore(at, { inThread: false });
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(3);
  await store.stop();
});

test('sqlite: a step that was done and not noted is not done again', async () => {
  const at = file();
  ofEarlierRelease(at, '016-verdict-rows.sql').close();
  await (await sqliteStore(at, { inThread: false })).stop();
  const noted = new DatabaseSync(at);
  noted.exec("delete from kysely_migration where name = '017_one_row_a_run'");
  noted.close();
  const store = await sqliteStore(at, { inThread: false });
  expect(asJson(await told(store))).toEqual(saidBefore());
  await store.stop();
});

test('sqlite: a file that lacks a step below its last one is brought up to date', async () => {
  const at = file();
  const before = await sqliteStore(at, { inThread: false });
  await before.write([nth(1)]);
  await before.stop();
  const old = new DatabaseSync(at);
  old.exec("drop table rule_matches; delete from kysely_migration where name = '027_rule_matches'");
  old.close();
  const store = await sqliteStore(at, { inThread: false });
  await store.write([{ ...nth(2), matches: [{ kind: 'dataset', rule: 'kept', at: 1, residual: null }] }]);
  expect(await store.ruleMatches.left({ kind: 'dataset', before: 2, limit: 10 })).toMatchObject([{ rule: 'kept' }]);
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(2);
  await store.stop();
});

test('sqlite: verdicts of a file in which they had no row ids are all there, under the same keys', async () => {
  const [at, other] = [file(), file()];
  ofEarlierRelease(other, '016-verdict-rows.sql').close();
  const before = await sqliteStore(other);
  const keys = (await before.runs({ limit: 10 })).runs;
  const verdicts = async (store: typeof before) => await Promise.all(keys.map(async (key) => (await store.run(key))?.verdicts));
  const wanted = await verdicts(before);
  expect(wanted[0]?.length).toBeGreaterThan(0);
  await before.stop();
  const old = ofEarlierRelease(at, '016-verdict-rows.sql');
  const made = String(old.prepare("select sql from sqlite_master where name = 'evaluations'").get()?.['sql']);
  old.exec(
    `alter table evaluations rename to newer; ${made.replace('"evaluations"', 'evaluations').replace(/strict$/, 'strict, without rowid')}; insert into evaluations select * from newer; drop table newer; delete from kysely_migration where name = '014_evaluation_rows'`,
  );
  expect(() => old.exec('select rowid from evaluations')).toThrow('rowid');
  old.close();
  const store = await sqliteStore(at, { inThread: false });
  expect(await verdicts(store)).toEqual(wanted);
  // Said again: it takes over.
  await store.write([nth(1)]);
  await store.write([nth(1)]);
  expect((await store.run(nth(1).run))?.verdicts).toHaveLength(3);
  await store.stop();
});

test('sqlite: a batch is written whole or not at all', async () => {
  const store = await sqliteStore(file());
  const broken = { ...nth(2), evaluations: [{ ...nth(2).evaluations[0], sampleProbability: Symbol('no value') }] } as never;
  await expect(store.write([nth(1), broken])).rejects.toThrow();
  expect((await store.runs({ limit: 10 })).runs).toEqual([]);
  await store.write([nth(1)]);
  expect((await store.runs({ limit: 10 })).runs).toHaveLength(1);
  await store.stop();
});

test('sqlite: a copy made while it is written to is whole', async () => {
  const at = file();
  const store = await sqliteStore(at);
  await store.write(Array.from({ length: 200 }, (_, number) => nth(number)));
  const [, ...written] = await Promise.all([
    store.backup(`${at}.copy`),
    ...Array.from({ length: 20 }, (_, number) => store.write([nth(1_000 + number)])),
  ]);
  expect(written).toHaveLength(20);
  const copy = await sqliteStore(`${at}.copy`);
  expect((await copy.runs({ limit: 200, to: 1_700_000_500 * 1_000_000 })).runs).toHaveLength(200);
  expect((await store.runs({ limit: 200, from: 1_700_000_500 * 1_000_000 })).runs).toHaveLength(20);
  await Promise.all([store.stop(), copy.stop()]);
});

test('sqlite: spans are in a copy, and beyond its bytes they go with the oldest runs', async () => {
  const at = file();
  const store = await sqliteStore(at, { inThread: false });
  const pieceOf = (number: number): SpanPiece => ({
    tenant: noTenant,
    traceId: nth(number).run.traceId,
    joined: [],
    startedAt: (1_700_000_000 + number) * 1_000_000,
    storedAt: 1,
    spans: 1,
    isWhole: true,
    isRedacted: false,
    digest: 'x',
    body: new Uint8Array(20_000).fill(number % 251),
  });
  for (let number = 0; number < 100; number++) {
    await store.write([nth(number)]);
    await store.writeSpans([pieceOf(number)]);
  }
  await store.backup(`${at}.copy`);
  const copy = await sqliteStore(`${at}.copy`);
  expect(await copy.spans(noTenant, pieceOf(7).traceId)).toEqual([pieceOf(7)]);
  let steps = 0;
  while ((await store.prune(retention({ bytesMax: 1_000_000, stepRuns: 10 }))).more) expect(++steps).toBeLessThan(100);
  const left = new Set((await store.runs({ limit: 200 })).runs.map(({ traceId }) => traceId));
  const kept = await Promise.all(
    Array.from({ length: 100 }, async (_, number) => (await store.spans(noTenant, pieceOf(number).traceId)).length),
  );
  expect(left.size).toBeGreaterThan(10);
  expect(left.size).toBeLessThan(60);
  expect(kept.map((count) => count > 0)).toEqual(Array.from({ length: 100 }, (_, number) => left.has(pieceOf(number).traceId)));
  await Promise.all([store.stop(), copy.stop()]);
});

test('sqlite: beyond its bytes the oldest runs go, and the file shrinks', async () => {
  const at = file();
  const store = await sqliteStore(at, { inThread: false });
  // Nothing that a compressor makes small.
  const text = (): string => randomBytes(7_500).toString('base64');
  for (let from = 0; from < 400; from += 100) await store.write(Array.from({ length: 100 }, (_, number) => nth(from + number, text())));
  const limits = retention({ bytesMax: 1_000_000, stepRuns: 50 });
  const pages = (): number => {
    const db = new DatabaseSync(at);
    const count = Number(db.prepare('pragma page_count').get()?.['page_count']);
    db.close();
    return count;
  };
  const before = pages();
  let steps = 0;
  while ((await store.prune(limits)).more) expect(++steps).toBeLessThan(100);
  const { runs } = await store.runs({ limit: 200 });
  expect(runs.length).toBeGreaterThan(20);
  expect(runs.length).toBeLessThan(200);
  expect(runs[0]?.startedAt).toBe((1_700_000_000 + 399) * 1_000_000);
  expect(pages()).toBeLessThan(before * 0.7);
  await store.stop();
});

test('sqlite: a full disk is reported as such, with its folder, to the one who opened it', async () => {
  const at = file();
  let full = 0;
  const connection = await connected(at, { onDiskFull: () => full++ });
  await connection.exec('create table t (text)');
  const { rows } = await connection.db.executeQuery(CompiledQuery.raw('pragma page_count'));
  await connection.exec(`pragma max_page_count = ${Object.values(rows[0] ?? {}).join('')}`);
  const insert = connection.db.executeQuery(CompiledQuery.raw('insert into t values (hex(zeroblob(100000)))'));
  await expect(insert).rejects.toMatchObject({ message: `the disk is full: no room in ${dirname(at)}`, code: 'ENOSPC' });
  await expect(connection.exec('no sql')).rejects.toThrow(/syntax/);
  expect(full).toBe(1);
  await connection.exec('pragma max_page_count = 1000000');
  await connection.db.executeQuery(CompiledQuery.raw('insert into t values (hex(zeroblob(100000)))'));
  expect(full).toBe(1);
  await connection.db.destroy();
});
