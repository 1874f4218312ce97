/** Jobs that wait in the store are taken out of it: within places and bounds, and never forgotten before they are written. */
import { expect, test } from 'vitest';
import { jobWorker, type JobWorkerOptions } from '../../../src/judges/queue/job-worker.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { parseTraceId } from '../../../src/model/ids.ts';
import type { Watermark } from '../../../src/model/watermark.ts';
import type { AskEnd } from '../../../src/pipeline/jury/judge-driver.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';
import { run } from '../../builders/scored-run.ts';

const startMs = 1_700_000_000_000;

async function bench(given: Partial<JobWorkerOptions> = {}) {
  const store = await memoryStore();
  const clock = manualClock(startMs);
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const faults: unknown[] = [];
  const begun: { readonly name: string; readonly as: AskEnd | undefined; readonly done: (ended: boolean) => void }[] = [];
  const ids = { delivered: 0, stored: 0 };
  const own = jobWorker({
    store: store.judgeJobs,
    owner: 'me',
    keep: { rows: 100, ageMs: 60_000 },
    places: () => 1,
    resume: ({ name }, done, as) => void begun.push({ name, as, done }),
    watermarks: { delivered: () => ids.delivered as Watermark, stored: () => ids.stored as Watermark },
    telemetry,
    clock,
    sleep: sleep.sleep,
    onFault: (error) => faults.push(error),
    ...given,
  });
  const counts = (): { readonly [outcome: string]: number } =>
    Object.fromEntries(
      telemetry
        .snapshot()
        .find(({ name }) => name === 'tracejury.judge.jobs')
        ?.points.map((point) => [point.labels['tracejury.outcome'] ?? '', point.kind === 'number' ? point.value : 0] as const) ?? [],
    );
  return {
    own,
    store,
    clock,
    sleep,
    begun,
    ids,
    faults,
    counts,
    write: (names: readonly string[], queueKey = 'main') =>
      store.write(
        names.map((name, at) => ({
          run: run({ traceId: parseTraceId(`${queueKey.length}${at}`.padEnd(32, 'f')) ?? run().traceId }),
          evaluations: [],
          decisions: [],
          jobs: [
            { name, evaluator: 'e', evaluatorKind: 'judge', queueKey, optionsHash: 'o', probability: 1, offeredAt: clock.nowMs() * 1_000 },
          ],
        })),
      ),
    names: () => begun.map(({ name }) => name),
    /** A whole look, in any state at the call. */
    async look() {
      for (let turns = 0; turns < 20 && sleep.asleep() === 0; turns++) await settled();
      await sleep.wakeAll();
      for (let turns = 0; turns < 20; turns++) await settled();
    },
  };
}

test('desk: each queue has its places, the oldest first, and a little more so that none stands empty', async () => {
  const to = await bench();
  await to.write(['a', 'b', 'c']);
  await to.write(['d'], 'http:x');
  to.own.start();
  await to.look();
  expect(to.names().toSorted()).toEqual(['a', 'b', 'd']);
  await to.look();
  expect(to.begun).toHaveLength(3);
  to.ids.delivered = 1;
  to.begun.find(({ name }) => name === 'a')?.done(true);
  await to.look();
  expect(to.names().toSorted()).toEqual(['a', 'b', 'c', 'd']);
  await to.own.stop();
});

test('desk: what has ended is not taken again before its verdict is written, and is when that was lost', async () => {
  const to = await bench();
  await to.write(['a']);
  to.own.start();
  await to.look();
  to.ids.delivered = 1;
  to.begun[0]?.done(true);
  await to.look();
  expect(to.names()).toEqual(['a']);
  // The store has given it up: its row stands.
  to.ids.stored = 1;
  await to.look();
  expect(to.names()).toEqual(['a', 'a']);
  await to.own.stop();
});

test('desk: what found no room is taken again', async () => {
  const to = await bench();
  await to.write(['a']);
  to.own.start();
  await to.look();
  to.begun[0]?.done(false);
  await to.look();
  expect(to.names()).toEqual(['a', 'a']);
  await to.own.stop();
});

test('desk: those of a queue that answers late may wait for longer', async () => {
  const to = await bench({ places: () => 0, moreMs: (queueKey) => (queueKey === 'slow' ? 60_000 : 0) });
  await to.write(['a']);
  await to.write(['b'], 'slow');
  to.clock.advance(60_001);
  to.own.start();
  await to.look();
  expect(to.names()).toEqual(['a']);
  to.clock.advance(60_000);
  await to.look();
  expect(to.begun.slice(1).map(({ name, as }) => [name, as])).toContainEqual(['b', { kind: 'overload', reason: 'too_old' }]);
  await to.own.stop();
});

test('desk: a job that is too old ends as overload, although there is no place for it', async () => {
  const to = await bench({ places: () => 0 });
  await to.write(['a']);
  to.clock.advance(60_001);
  to.own.start();
  await to.look();
  expect(to.begun.map(({ name, as }) => [name, as])).toEqual([['a', { kind: 'overload', reason: 'too_old' }]]);
  expect(to.counts()).toEqual({ too_old: 1 });
  await to.own.stop();
});

test('desk: beyond the bound nothing is let in, counting what is not written yet, until there is room', async () => {
  const to = await bench({ keep: { rows: 2, ageMs: 60_000 }, places: () => 0 });
  to.own.start();
  await to.look();
  expect([to.own.admits('main'), to.own.admits('main'), to.own.admits('main')]).toEqual([true, true, false]);
  await to.write(['a']);
  Object.assign(to.ids, { delivered: 2, stored: 2 });
  await to.look();
  // One of the two was written, the other one was lost.
  expect([to.own.admits('main'), to.own.admits('main')]).toEqual([true, false]);
  expect(to.counts()).toEqual({ kept: 3, refused: 2 });
  // One row, and one that was let in, of three questions each.
  expect([
    to.own.waiting((queueKey) => (queueKey === 'main' ? 3 : 0)),
    to.own.waiting((queueKey) => (queueKey === 'other' ? 1 : 0)),
  ]).toEqual([6, 0]);
  await to.own.stop();
});

test('desk: what cannot be read goes, and is counted', async () => {
  const { judgeJobs } = await memoryStore();
  const dropped: number[] = [];
  let left = 1;
  const to = await bench({
    store: {
      ...judgeJobs,
      take: async () =>
        left === 0
          ? []
          : [
              {
                id: 7,
                name: 'a',
                evaluator: 'e',
                evaluatorKind: 'judge',
                queueKey: 'main',
                optionsHash: 'o',
                probability: 1,
                offeredAt: startMs * 1_000,
                run: undefined,
              },
            ],
      counts: async () => (left === 0 ? [] : [{ queueKey: 'main', waiting: 1, oldestAt: startMs * 1_000 }]),
      async drop(ids) {
        dropped.push(...ids);
        left = 0;
      },
    },
  });
  to.own.start();
  await to.look();
  expect([dropped, to.begun, to.counts()]).toEqual([[7], [], { unreadable: 1 }]);
  await to.own.stop();
});

test('desk: a store that cannot be read is reported, and asked again', async () => {
  const { judgeJobs } = await memoryStore();
  let isDown = true;
  const to = await bench({ store: { ...judgeJobs, counts: () => (isDown ? Promise.reject(new Error('disk')) : judgeJobs.counts()) } });
  to.own.start();
  await to.look();
  expect(to.faults.length).toBeGreaterThan(0);
  const before = to.faults.length;
  isDown = false;
  await to.look();
  await to.look();
  expect(to.faults.length).toBe(before);
  await to.own.stop();
});

test('desk: an idle worker looks once a second, goes on doing so, and is woken by what is let in', async () => {
  const to = await bench();
  to.own.start();
  for (let looks = 1; looks <= 3; looks++) {
    for (let turns = 0; turns < 20; turns++) await settled();
    expect({ looks, slept: to.sleep.slept, asleep: to.sleep.asleep() }).toEqual({
      looks,
      slept: Array<number>(looks).fill(1_000),
      asleep: 1,
    });
    await to.sleep.wakeAll();
  }
  // The jobs of another process are found at the next look, without a signal.
  await to.write(['a']);
  await to.look();
  expect(to.names()).toEqual(['a']);
  for (let turns = 0; turns < 20; turns++) await settled();
  expect(to.sleep.slept.at(-1)).toBe(50);
  await to.own.stop();
});

test('desk: what is let in wakes an idle worker at once, which then looks often until it is written', async () => {
  const to = await bench();
  to.own.start();
  for (let turns = 0; turns < 20; turns++) await settled();
  expect(to.sleep.slept).toEqual([1_000]);
  to.own.admits('main');
  for (let turns = 0; turns < 20; turns++) await settled();
  expect(to.sleep.slept).toEqual([1_000, 50]);
  // A worker that waits for the store is not woken by further ones.
  to.ids.delivered = 1;
  to.own.admits('main');
  for (let turns = 0; turns < 20; turns++) await settled();
  expect(to.sleep.slept).toEqual([1_000, 50]);
  to.ids.stored = 2;
  await to.look();
  expect(to.sleep.slept).toEqual([1_000, 50, 1_000]);
  await to.own.stop();
});

test('desk: a job that is written while a round finds the last verdict written is taken at once, though the worker then rests long', async () => {
  const { judgeJobs } = await memoryStore();
  let release: (() => void) | undefined;
  let isHeld = false;
  const to = await bench({
    rest: manualSleep().sleep,
    store: {
      ...judgeJobs,
      async counts() {
        const found = await to.store.judgeJobs.counts();
        if (isHeld) await new Promise<void>((resolve) => (release = resolve));
        return found;
      },
      take: (...given) => to.store.judgeJobs.take(...given),
    },
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn++) await settled();
  };
  await to.write(['a']);
  to.own.start();
  await turns();
  to.ids.delivered = 1;
  to.ids.stored = 1;
  to.begun[0]?.done(true);
  await to.store.judgeJobs.drop([1]);
  isHeld = true;
  await to.sleep.wakeAll();
  await turns();
  isHeld = false;
  await to.write(['b']);
  to.own.wake();
  release?.();
  await turns();
  expect(to.names()).toEqual(['a', 'b']);
  await to.own.stop();
});
