/** Several processes at the same time on one PostgreSQL: nothing happens twice, nothing is lost, and each sees the writes of the others. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { ledger } from '../../../src/judges/budget/ledger.ts';
import { memorySpend } from '../../../src/judges/budget/rate-window.ts';
import { noAmount } from '../../../src/model/budget.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noSpending } from '../../../src/model/store/judge-store.ts';
import type { AlertMark } from '../../../src/model/store/version-store.ts';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.ts';
import type { ReplayableStore } from '../../../src/model/store/replay-store.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { manualSleep } from '../../builders/manual-sleep.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { seeded } from '../../builders/seeded.ts';
import { scoredRun } from '../../builders/scored-run.ts';
import { eventually } from '../../service/running.ts';
import { nth } from '../numbered.ts';

async function opened(count: number): Promise<readonly ReplayableStore[]> {
  const url = await emptyPostgres({ leasesBy: 'caller' });
  return await Promise.all(Array.from({ length: count }, () => beside(url)));
}

async function beside(url: string): Promise<ReplayableStore> {
  const store = await postgresStore(url, { inThread: false });
  onTestFinished(() => store.stop());
  return store;
}

/** Does it on all stores at the same time. */
function together<Result>(
  stores: readonly ReplayableStore[],
  work: (store: ReplayableStore, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  return Promise.all(stores.map(work));
}

const secondMicros = 1_000_000;

test('replicas: each task has one owner when several ask at the same time', async () => {
  const stores = await opened(3);
  for (let round = 0; round < 20; round++) {
    const now = round * 31 * secondMicros;
    const held = await together(stores, (store, at) =>
      store.replicas.hold(['alerts', 'sums'], { owner: `p${at}`, now, until: now + 30 * secondMicros }),
    );
    expect(held.flat().toSorted()).toEqual(['alerts', 'sums']);
  }
});

test('replicas: leases count by the clock of the server, under any clocks of the processes', async () => {
  const url = await emptyPostgres();
  const [first, second] = [await beside(url), await beside(url)];
  const off = (minutes: number): number => Date.now() * 1_000 + minutes * 60 * secondMicros;
  const lease = (owner: string, minutes: number, seconds = 30) => ({
    owner,
    now: off(minutes),
    until: off(minutes) + seconds * secondMicros,
  });
  expect(await first.replicas.hold(['alerts'], lease('behind', -5))).toEqual(['alerts']);
  expect(await second.replicas.hold(['alerts', 'sums'], lease('ahead', 5))).toEqual(['sums']);
  expect(await first.replicas.hold(['sums'], lease('behind', -5))).toEqual([]);
  expect((await second.replicas.tasks(off(5))).map(({ owner }) => owner)).toEqual(['behind', 'ahead']);
  // A lease of no time is over at once.
  await second.replicas.hold(['sums'], lease('ahead', 5, 0));
  expect(await first.replicas.hold(['sums'], lease('behind', -5))).toEqual(['sums']);

  const run = scoredRun({}, nth(1));
  const job = {
    name: 'j',
    evaluator: 'e',
    evaluatorKind: 'judge',
    queueKey: 'main',
    optionsHash: 'o',
    probability: 1,
    offeredAt: 1,
  } as const;
  await first.write([{ ...run, jobs: [job] }], [{ exporter: 'x', part: '', item: run, offeredAt: 1, lease: lease('behind', -5) }]);
  const due = async (store: ReplayableStore, owner: string, minutes: number) =>
    (await store.exports.due({ exporter: 'x', now: off(minutes), limit: 9, except: [], lease: lease(owner, minutes) })).length;
  expect([await due(second, 'ahead', 5), await due(first, 'behind', -5), await due(second, 'ahead', 5)]).toEqual([0, 1, 0]);
  const take = async (store: ReplayableStore, owner: string, minutes: number) =>
    (await store.judgeJobs.take({ limit: 9, except: [] }, lease(owner, minutes))).length;
  expect([await take(first, 'behind', -5), await take(second, 'ahead', 5)]).toEqual([1, 0]);
  await first.judgeJobs.renew(lease('behind', -5));
  expect(await take(second, 'ahead', 5)).toBe(0);

  const entry = { account: 'a', day: '2026-01-01', spent: noSpending, released: noAmount, limits: {} };
  await first.judgeSpend.enter({ ...entry, owner: 'behind', at: off(-5), wanted: { ...noAmount, nanoUsd: 7 } });
  await second.judgeSpend.adopt({ now: off(5), before: off(4), forget: '2025-01-01' });
  expect((await second.judgeSpend.on('2026-01-01')).get('a')).toMatchObject({ nanoUsd: 0, reserved: { nanoUsd: 7 } });
  const pass = async (store: ReplayableStore, minutes: number) =>
    await store.judgeSpend.pass({
      account: 'a',
      at: off(minutes),
      wanted: { ...noAmount, requests: 1 },
      limits: { requests: 1 },
      back: [],
    });
  expect([typeof (await pass(first, -5)), await pass(second, 5)]).toEqual(['number', undefined]);
});

test('replicas: rows of an outbox, jobs of judges and items of a queue are given to one process each', async () => {
  const stores = await opened(3);
  const runs = Array.from({ length: 60 }, (_, at) => scoredRun({}, nth(at)));
  const [first] = stores;
  await first?.write(
    runs.map((one) => ({
      ...one,
      jobs: [
        {
          name: 'j',
          evaluator: 'task_completion',
          evaluatorKind: 'judge' as const,
          queueKey: 'main',
          optionsHash: 'o',
          probability: 1,
          offeredAt: 1,
        },
      ],
    })),
    runs.map((item) => ({ exporter: 'x', part: 'rules', item, offeredAt: 1 })),
  );
  await first?.queues.add({
    queue: 'q',
    items: runs.map(({ run: { tenant, traceId, spanId } }) => ({ tenant, traceId, spanId, why: 'all' })),
    addedBy: 'test',
    at: 1,
    dueAt: undefined,
    itemsMax: 100,
    reopens: false,
  });
  const lease = (at: number) => ({ owner: `p${at}`, now: secondMicros, until: 31 * secondMicros });
  const taken = { rows: [] as number[], jobs: [] as number[], items: [] as number[] };
  for (let round = 0; round < 10; round++)
    await together(stores, async ({ exports, judgeJobs, queues }, at) => {
      const except = { except: [], limit: 100 };
      for (const { id } of await exports.due({ exporter: 'x', now: secondMicros, except: taken.rows, limit: 5, lease: lease(at) }))
        taken.rows.push(id);
      for (const { id } of await judgeJobs.take({ ...except, except: taken.jobs, limit: 5 }, lease(at))) taken.jobs.push(id);
      for (let person = 0; person < 3; person++) {
        const item = await queues.lease({ queue: 'q', person: `${at} ${round} ${person}`, people: 1, now: 1, until: secondMicros });
        if (item !== undefined) taken.items.push(item.item.id);
      }
    });
  for (const ids of Object.values(taken)) expect(new Set(ids).size).toBe(ids.length);
  expect([taken.rows.length, taken.jobs.length, taken.items.length]).toEqual([60, 60, 60]);
});

test('replicas: silences that people set on two of them at the same time are both there', async () => {
  const stores = await opened(3);
  const mark = (alert: string): AlertMark => ({
    kind: 'silence',
    alert,
    agent: undefined,
    tenant: '',
    by: 'anna',
    note: '',
    atMs: 1,
    untilMs: 2,
    firingMs: undefined,
  });
  await together(stores, async ({ versions }, at) => {
    for (let round = 0; round < 5; round++) await versions.changeAlertMarks((before) => [...before, mark(`${at} ${round}`)]);
  });
  expect(await stores[0]?.versions.alertMarks()).toHaveLength(15);
});

test('replicas: each sees the runs that the others write, once and in the order of their commits', async () => {
  const stores = await opened(3);
  const [first, , last] = stores;
  const before = (await last?.recent({ limit: 10 }))?.position;
  await together(stores, async (store, at) => {
    for (let round = 0; round < 10; round++)
      await store.write([scoredRun({}, nth(at * 100 + round)), scoredRun({}, nth(at * 100 + 50 + round))]);
  });
  const seen = async (store: ReplayableStore | undefined) =>
    (await store?.recent({ limit: 100, ...(before === undefined ? {} : { after: before }) }))?.runs.map(({ traceId }) => traceId) ?? [];
  const everything = await eventually(async () => {
    const runs = await seen(last);
    return runs.length === 60 ? runs : undefined;
  }, 'the runs of all');
  expect(new Set(everything).size).toBe(60);
  expect(
    await eventually(async () => ((await seen(first)).length === 60 ? await seen(first) : undefined), 'the same on another one'),
  ).toEqual(everything);
});

test('replicas: runs that were written while a connection was lost are reported as left out', async () => {
  const url = await emptyPostgres();
  const [writer, reader] = [await beside(url), await beside(url)];
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await writer.write([scoredRun({}, nth(1))]);
  const { position } = await eventually(async () => {
    const page = await reader.recent({ limit: 10, after: 0 });
    return page.runs.length === 1 ? page : undefined;
  }, 'the first run');
  const { rows } = await other.query<{ readonly pid: number }>(
    "select pid from pg_stat_activity where application_name = 'tracejury' and datname = current_database()",
  );
  expect(rows.length).toBeGreaterThan(1);
  await other.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tracejury' and datname = current_database()",
  );
  await eventually(
    () =>
      writer.write([scoredRun({}, nth(2))]).then(
        () => true,
        () => undefined,
      ),
    'a run that the reader does not hear of',
  );
  // Its next question begins another connection.
  await eventually(
    () =>
      reader.runs({ limit: 10 }).then(
        () => true,
        () => undefined,
      ),
    'the next connection of the reader',
  );
  await writer.write([scoredRun({}, nth(3))]);
  const page = await eventually(async () => {
    const found = await reader.recent({ limit: 10, after: position });
    return found.runs.length === 1 ? found : undefined;
  }, 'the third run');
  expect([page.runs[0]?.traceId, page.leftOut]).toEqual([nth(3).traceId, 1]);
});

const price = { inputPerMillion: 1, outputPerMillion: 1 };
/** One dollar a million tokens: this pays for a thousand. */
const budget = { name: 'main', usdPerDay: 0.001, price };
const tokensMax = 1_000;
const trials = 50;

test('replicas: three processes, some of which die, never spend more than one budget', { timeout: 300_000 }, async () => {
  const stores = await opened(3);
  let refused = 0;
  for (let trial = 0; trial < trials; trial++) {
    const chance = seeded(trial + 1);
    // Each trial has a separate day.
    const clock = manualClock(Date.parse('2026-01-01T12:00:00Z') + trial * 86_400_000);
    let spent = 0;
    await together(stores, async (store, at) => {
      for (let life = 0; life < 3; life++) {
        // Reservations of dead processes count as spent from now on.
        clock.advance(70_000);
        const own = ledger({
          store: memorySpend(),
          telemetry: noTelemetry,
          clock,
          sleep: manualSleep().sleep,
          owner: `${trial} ${at} ${life}`,
        });
        await own.open(store.judgeSpend);
        const reservation = own.reservation(budget);
        for (let call = 0; call < 4; call++) {
          const most = 1 + chance.below(150);
          const settle = await reservation.take({ input: most, output: 0 });
          if (typeof settle !== 'function') {
            refused++;
            continue;
          }
          const used = chance.below(most + 1);
          spent += used;
          // A process that dies here has asked, and the store never hears of it.
          if (chance.share() < 0.2) break;
          settle({ input: used, output: 0 });
        }
        if (chance.share() < 0.5) await own.close();
      }
    });
    expect(spent).toBeLessThanOrEqual(tokensMax);
    expect(spent).toBeGreaterThan(0);
  }
  expect(refused).toBeGreaterThan(trials);
});
