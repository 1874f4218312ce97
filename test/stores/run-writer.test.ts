import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { runWriter, type RunWriter, type RunWriterOptions } from '../../src/stores/run-writer.ts';
import { memoryStore } from '../builders/memory-store.ts';
import type { Retention, Store } from '../../src/model/store/store.ts';
import type { ItemId } from '../../src/model/watermark.ts';
import { tenant, type SpanId } from '../../src/model/ids.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { spanId } from '../builders/agent-trace.ts';
import { type ManualSleep, manualSleep, settled } from '../builders/manual-sleep.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

const item = (number: number) => ({ ...scoredRun({ a: scored(1) }, run({ spanId: spanId(number) })), id: number as ItemId });

interface Bench {
  readonly keeping: RunWriter;
  readonly sleep: ManualSleep;
  /** Sizes of the batches that were tried. */
  readonly batches: number[];
  /** Spans of runs with a value that the store cannot take. */
  readonly refused: Set<SpanId>;
  readonly pruned: Retention[];
  readonly faults: unknown[];
  /** This many next writes fail. */
  fail(times: number): void;
  stored(tenant?: string): Promise<number>;
  stopped(): boolean;
  count(outcome: string, metric?: string): number;
}

async function bench(options: Partial<RunWriterOptions> = {}): Promise<Bench> {
  const inner = await memoryStore();
  const batches: number[] = [];
  const pruned: Retention[] = [];
  const faults: unknown[] = [];
  const refused = new Set<SpanId>();
  let failures = 0;
  let stopped = false;
  const store: Store = {
    ...inner,
    async write(items) {
      batches.push(items.length);
      if (failures-- > 0) throw new Error('disk full');
      if (items.some(({ run: { spanId: id } }) => refused.has(id))) throw Object.assign(new Error('not an integer'), { code: '22P02' });
      return inner.write(items);
    },
    async prune(limits) {
      pruned.push(limits);
      return { runs: 1, contents: 0, spans: 0, exports: {}, jobs: 2, more: pruned.length < 3 };
    },
    async stop() {
      stopped = true;
    },
  };
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  return {
    keeping: runWriter({
      store,
      keep: { runsMs: 1_000, contentMs: 500, bytes: 77, exportsMs: 2_000, exports: 33, jobsMs: 3_000, turnsMs: 4_000 },
      telemetry,
      clock: manualClock(10_000),
      sleep: sleep.sleep,
      onFault: (error) => faults.push(error),
      ...options,
    }),
    sleep,
    batches,
    refused,
    pruned,
    faults,
    fail: (times) => {
      failures = times;
    },
    stored: async (of) => (await inner.runs({ limit: 200, ...(of === undefined ? {} : { tenant: tenant(of) }) })).runs.length,
    stopped: () => stopped,
    count: (outcome, metric = 'tracejury.store.items') =>
      (telemetry.snapshot().find(({ name }) => name === metric)?.points ?? []).reduce(
        (sum, point) => (point.kind === 'number' && Object.values(point.labels).includes(outcome) ? sum + point.value : sum),
        0,
      ),
  };
}

/** Lets written batches and the turns between them pass. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await settled();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('run writer: items gather and are written in batches', async () => {
  const { keeping, sleep, batches, stored, count } = await bench();
  for (let number = 1; number <= 480; number++) keeping.offer(item(number));
  expect([batches, keeping.held()]).toEqual([[], 480]);
  await sleep.wakeAll();
  await turns();
  const onePage = 200;
  expect([batches, keeping.held(), await stored(), count('written')]).toEqual([[200, 200, 80], 0, onePage, 480]);
  keeping.offer(item(500));
  await sleep.wakeAll();
  await turns();
  expect(batches).toEqual([200, 200, 80, 1]);
  await keeping.stop(1_000);
});

test('run writer: only the item that the store cannot take is dropped, and all others are written', async () => {
  const { keeping, sleep, refused, stored, faults, count } = await bench();
  for (const number of [7, 150]) refused.add(spanId(number));
  for (let number = 1; number <= 180; number++) keeping.offer(item(number));
  for (let round = 0; round < 4; round++) {
    await sleep.wakeAll();
    await turns();
  }
  expect([await stored(), faults.length, count('written'), count('dropped'), keeping.held()]).toEqual([178, 2, 178, 2, 0]);
  await keeping.stop(1_000);
});

test('run writer: a batch that failed is written again, after longer and longer rests', async () => {
  const { keeping, sleep, fail, stored, faults, count } = await bench();
  fail(3);
  keeping.offer(item(1));
  keeping.offer(item(2));
  for (let round = 0; round < 4; round++) {
    await sleep.wakeAll();
    await turns();
  }
  expect([await stored(), faults.length, count('retried'), count('dropped')]).toEqual([2, 3, 6, 0]);
  expect(sleep.slept.filter((ms) => [500, 1_000, 2_000].includes(ms))).toEqual([500, 1_000, 2_000]);
  await keeping.stop(1_000);
});

test('run writer: a store that takes nothing costs the oldest, which are counted', async () => {
  const { keeping, sleep, fail, count, stored } = await bench({ itemsMax: 10 });
  fail(1);
  for (let number = 1; number <= 25; number++) keeping.offer(item(number));
  expect([keeping.held(), count('dropped')]).toEqual([10, 15]);
  await sleep.wakeAll();
  await turns();
  await sleep.wakeAll();
  await turns();
  expect([await stored(), count('written')]).toEqual([10, 10]);
  await keeping.stop(1_000);
});

for (const [bound, options] of [
  ['items', { itemsMax: 10 }],
  ['bytes', { bytesMax: 1_000 }],
] as const) {
  test(`run writer: while the store takes nothing, a flood of one tenant beyond the ${bound} leaves the runs of another one`, async () => {
    const { keeping, count, sleep, stored } = await bench(options);
    const of = (name: string, number: number) => ({
      ...scoredRun({ a: scored(1) }, run({ spanId: spanId(number), tenant: tenant(name) })),
      id: number as ItemId,
    });
    for (const number of [1, 2, 3]) keeping.offer(of('other', number), 100);
    for (let number = 4; number <= 40; number++) keeping.offer(of('flood', number), 100);
    expect([keeping.held(), count('dropped')]).toEqual([10, 30]);
    keeping.offer(of('huge', 41), 990);
    expect(keeping.held()).toBe(10);
    await sleep.wakeAll();
    await turns();
    expect([await stored('other'), await stored('flood')]).toEqual(bound === 'items' ? [3, 6] : [3, 7]);
    await keeping.stop(1_000);
  });
}

test('run writer: it reports how full it is, by items or by bytes', async () => {
  const { keeping, sleep } = await bench({ itemsMax: 10, bytesMax: 1_000 });
  keeping.offer(item(1), 10);
  expect(keeping.fill()).toBe(0.1);
  keeping.offer(item(2), 490);
  expect(keeping.fill()).toBe(0.5);
  await sleep.wakeAll();
  expect(keeping.fill()).toBe(0);
});

test('run writer: an item that is dropped while an older one is being written does not count for it', async () => {
  const written: (() => void)[] = [];
  const store: Store = {
    ...(await memoryStore()),
    write: (items) => new Promise((resolve) => written.push(() => resolve(items.map(() => undefined)))),
  };
  const { keeping, sleep, count } = await bench({ store, itemsMax: 2 });
  keeping.offer(item(1));
  await sleep.wakeAll();
  for (const number of [2, 3, 4]) keeping.offer(item(number));
  expect([count('dropped'), keeping.settled()]).toEqual([1, 0]);
  written.shift()?.();
  await turns();
  expect(keeping.settled()).toBe(2);
  written.shift()?.();
  await turns();
  expect(keeping.settled()).toBe(4);
  await keeping.stop(1_000);
});

test('run writer: a stop writes what is there, tries once more, and then gives it up', async () => {
  const good = await bench();
  good.keeping.offer(item(1));
  await good.keeping.stop(1_000);
  expect([await good.stored(), good.stopped()]).toEqual([1, true]);
  good.keeping.offer(item(2));
  expect([good.keeping.held(), good.count('dropped')]).toEqual([0, 1]);

  const bad = await bench();
  bad.fail(Infinity);
  bad.keeping.offer(item(1));
  await bad.keeping.stop(1_000);
  expect([bad.batches.length, bad.count('dropped'), bad.stopped()]).toEqual([2, 1, true]);
  // The journal must not take it for done.
  expect([bad.keeping.held(), bad.keeping.settled()]).toEqual([0, 0]);
  // Another process may write what this one gave up.
  expect([good.keeping.settled(), bad.keeping.settled()]).toEqual([1, 0]);
});

test('run writer: what is old is let go, in steps, by the clock', async () => {
  const { keeping, sleep, pruned, batches, count } = await bench();
  for (let round = 0; round < 4; round++) {
    await sleep.wakeAll();
    await turns();
  }
  expect(pruned[0]).toEqual({
    runsBefore: 9_000_000,
    contentBefore: 9_500_000,
    exportsBefore: 8_000_000,
    jobsBefore: 7_000_000,
    turnsBefore: 6_000_000,
    exportsMax: 33,
    bytesMax: 77,
    stepRuns: 200,
  });
  expect(pruned.length).toBeGreaterThanOrEqual(3);
  expect(batches).toEqual([]);
  expect(count('dropped', 'tracejury.judge.jobs')).toBe(2 * pruned.length);
  await keeping.stop(1_000);
});

test('run writer: old runs go early when much is written, and the minute goes on when little is', async () => {
  const keep = { runsMs: 1_000, contentMs: 500, exportsMs: 2_000, exports: 33, jobsMs: 3_000, turnsMs: 4_000 };
  const prunedAfter = async (bytes: number): Promise<number> => {
    const { keeping, sleep, pruned } = await bench({ keep: { ...keep, bytes } });
    keeping.offer(item(1), 1_000);
    // Items gather; the minute of old runs is not over.
    await sleep.wakeOf(100);
    await turns();
    const count = pruned.length;
    await keeping.stop(1_000);
    return count;
  };
  expect([(await prunedAfter(15_999)) > 0, await prunedAfter(16_000)]).toEqual([true, 0]);
});

test('run writer: it is behind when much waits for a store that writes, not for one that fails', async () => {
  const { keeping, sleep, fail } = await bench({ itemsMax: 100 });
  for (let number = 1; number <= 10; number++) keeping.offer(item(number));
  expect(keeping.isBehind()).toBe(false);
  keeping.offer(item(11));
  expect(keeping.isBehind()).toBe(true);
  fail(1);
  await sleep.wakeAll();
  await turns();
  expect([keeping.held(), keeping.isBehind()]).toEqual([11, false]);
  await sleep.wakeAll();
  await turns();
  for (let number = 21; number <= 35; number++) keeping.offer(item(number));
  expect(keeping.isBehind()).toBe(true);
  await keeping.stop(1_000);
});
