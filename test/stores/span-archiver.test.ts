import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { traceKey } from '../../src/pipeline/gathering/trace-table.ts';
import type { FinishedTrace } from '../../src/pipeline/gathering/journal-references.ts';
import { manualClock } from '../../src/model/clock.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { spanArchiver, type SpanArchiver, type SpanArchiverOptions, type TraceSpans } from '../../src/stores/span-archiver.ts';
import type { SpanPiece } from '../../src/model/store/store.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled, type ManualSleep } from '../builders/manual-sleep.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';

interface Bench {
  readonly keeping: SpanArchiver;
  readonly sleep: ManualSleep;
  /** Keys of what was read, by batch. */
  readonly read: string[][];
  fail(times: number): void;
  pieces(trace: number): Promise<readonly SpanPiece[]>;
  count(outcome: string): number;
}

async function bench(
  found: (trace: FinishedTrace) => TraceSpans = (trace) => ({
    bundle: Buffer.from(`spans at ${trace.positions.join(' ')}`),
    spans: 2,
    isWhole: true,
    isRedacted: false,
    isLater: false,
  }),
  options: Partial<SpanArchiverOptions> = {},
): Promise<Bench> {
  const inner = await memoryStore();
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const read: string[][] = [];
  let failures = 0;
  return {
    keeping: spanArchiver({
      store: {
        async writeSpans(pieces) {
          if (failures-- > 0) throw new Error('disk full');
          await inner.writeSpans(pieces);
        },
      },
      read: async (traces) => {
        read.push(traces.flatMap(({ keys }) => keys.map((key) => String(Number.parseInt(key, 16)))));
        return traces.map(found);
      },
      telemetry,
      clock: manualClock(10_000),
      sleep: sleep.sleep,
      onFault: () => undefined,
      ...options,
    }),
    sleep,
    read,
    fail: (times) => {
      failures = times;
    },
    pieces: (trace) => inner.spans(noTenant, traceId(trace)),
    count: (outcome) =>
      (telemetry.snapshot().find(({ name }) => name === 'tracejury.store.traces')?.points ?? []).reduce(
        (sum, point) => (point.kind === 'number' && Object.values(point.labels).includes(outcome) ? sum + point.value : sum),
        0,
      ),
  };
}

const closed = (trace: number) => scoredRun({ a: scored(0) }, run({ traceId: traceId(trace) }));
const finished = (trace: number, positions: readonly number[], ...joined: readonly number[]): FinishedTrace => ({
  keys: [trace, ...joined].map(traceId),
  positions,
});

/** True when a promise is over. */
function over(promise: Promise<void> | undefined): () => boolean {
  let isOver = false;
  void promise?.then(() => {
    isOver = true;
  });
  return () => isOver;
}

async function every(promises: readonly (Promise<void> | undefined)[]): Promise<void> {
  await Promise.all(promises.flatMap((promise) => promise ?? []));
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) {
    await settled();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function eventually(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 500 && !isTrue(); round++) await turns();
  expect(isTrue()).toBe(true);
}

test('span keeper: what is wanted is read together, compressed and stored; the others are not even read', async () => {
  const { keeping, sleep, read, pieces, count } = await bench();
  for (const trace of [1, 3]) keeping.want(closed(trace));
  const all = [finished(1, [5, 6]), finished(2, [6]), finished(3, [7], 4)].map((trace) => keeping.keep(trace));
  expect(all.map((one) => one !== undefined)).toEqual([true, false, true]);
  const isOver = over(every(all));
  await sleep.wakeAll();
  await eventually(isOver);
  expect(read).toEqual([['1', '3', '4']]);
  const [first] = await pieces(1);
  expect([first?.startedAt, first?.storedAt, first?.isWhole, zstdDecompressSync(first?.body ?? Buffer.alloc(0)).toString()]).toEqual([
    1_700_000_000_000_000,
    10_000_000,
    true,
    'spans at 5 6',
  ]);
  expect((await pieces(4))[0]?.traceId).toBe(traceId(3));
  expect([await pieces(2), count('written')]).toEqual([[], 2]);
  await keeping.stop();
});

test('span keeper: late spans of a trace that is kept follow it, and those of one that was let go are not the whole', async () => {
  const { keeping, sleep, pieces } = await bench();
  keeping.want(closed(1));
  // Both are reported together; a judge's verdict asks for nothing.
  const kept = [
    keeping.keep(finished(1, [1])),
    keeping.keep(finished(1, [])),
    keeping.keep(finished(1, [2])),
    keeping.keep(finished(2, [3])),
  ];
  keeping.want(scoredRun({ a: scored(0) }, run({ traceId: traceId(3) }), { evaluatorKind: 'judge' }));
  expect([...kept, keeping.keep(finished(3, [3]))].map((one) => one !== undefined)).toEqual([true, false, true, false, false]);
  keeping.want(closed(2));
  const isOver = over(every([...kept, keeping.keep(finished(2, [4]))]));
  await sleep.wakeAll();
  await eventually(isOver);
  expect((await pieces(1)).map(({ isWhole, body }) => [isWhole, zstdDecompressSync(body).toString()])).toEqual([
    [true, 'spans at 1'],
    [true, 'spans at 2'],
  ]);
  expect((await pieces(2)).map(({ isWhole }) => isWhole)).toEqual([false]);
  await keeping.stop();
});

test('span keeper: a batch that failed is written again, and the journal keeps its requests until then', async () => {
  const { keeping, sleep, fail, pieces, count } = await bench();
  fail(2);
  keeping.want(closed(1));
  const isOver = over(keeping.keep(finished(1, [1])));
  await sleep.wakeAll();
  await eventually(() => sleep.slept.includes(500));
  expect(isOver()).toBe(false);
  await sleep.wakeAll();
  await eventually(() => sleep.slept.includes(1_000));
  await sleep.wakeAll();
  await eventually(isOver);
  expect([(await pieces(1)).length, count('retried'), count('written')]).toEqual([1, 2, 1]);
  await keeping.stop();
});

test('span keeper: beyond its bound the oldest are given up, counted, and hold nothing any more', async () => {
  const { keeping, count, sleep } = await bench(undefined, { tracesMax: 3 });
  const all = [1, 2, 3, 4, 5].map((trace) => {
    keeping.want(closed(trace));
    return over(keeping.keep(finished(trace, [trace])));
  });
  await turns();
  expect([all.map((isOver) => isOver()), count('dropped')]).toEqual([[true, true, false, false, false], 2]);
  await sleep.wakeAll();
  await eventually(() => all.every((isOver) => isOver()));
  await keeping.stop();
});

test('span keeper: a flood of one tenant leaves the marked and the waiting traces of another one', async () => {
  const { keeping, count } = await bench(undefined, { tracesMax: 3, wantedMax: 4 });
  const [flood, other] = [tenant('flood'), tenant('other')];
  const want = (of: typeof flood, trace: number): void =>
    keeping.want(scoredRun({ a: scored(0) }, run({ tenant: of, traceId: traceId(trace) })));
  const keep = (of: typeof flood, trace: number) => keeping.keep({ keys: [traceKey(of, traceId(trace))], positions: [trace] });
  want(other, 1);
  for (let trace = 2; trace < 20; trace++) want(flood, trace);
  const own = over(keep(other, 1));
  for (let trace = 20; trace < 40; trace++) {
    want(flood, trace);
    void keep(flood, trace);
  }
  await turns();
  expect([own(), count('dropped')]).toEqual([false, 18]);
  await keeping.stop();
});

test('span keeper: what found no room beside others is read again before what came after it', async () => {
  let reads = 0;
  const { keeping, sleep, read, pieces } = await bench(({ positions: [at] }) => ({
    bundle: Buffer.from('x'),
    spans: 1,
    isWhole: true,
    isRedacted: false,
    isLater: at === 2 && reads++ === 0,
  }));
  for (const trace of [1, 2, 3]) keeping.want(closed(trace));
  const isOver = over(every([1, 2, 3].map((trace) => keeping.keep(finished(trace, [trace])))));
  await sleep.wakeAll();
  await eventually(isOver);
  expect([read, (await pieces(2)).length, (await pieces(3)).length]).toEqual([[['1', '2', '3'], ['2']], 1, 1]);
  await keeping.stop();
});

test('span keeper: a journal that cannot be read holds nothing up', async () => {
  const { keeping, sleep, count } = await bench(() => {
    throw new Error('no such disk');
  });
  keeping.want(closed(1));
  const isOver = over(keeping.keep(finished(1, [1])));
  await sleep.wakeAll();
  await eventually(isOver);
  expect(count('dropped')).toBe(1);
  await keeping.stop();
});

test('span keeper: a store that stays down costs spans, and lets the journal go', async () => {
  const { keeping, sleep, fail, count, pieces } = await bench();
  fail(11);
  const all = [1, 2, 3].map((trace) => {
    keeping.want(closed(trace));
    return trace;
  });
  const first = over(keeping.keep(finished(1, [1])));
  for (let round = 0; round < 500 && !first(); round++) {
    await sleep.wakeAll();
    await turns();
  }
  const second = over(keeping.keep(finished(2, [2])));
  for (let round = 0; round < 500 && !second(); round++) {
    await sleep.wakeAll();
    await turns();
  }
  expect([first(), second(), count('dropped'), sleep.slept.filter((ms) => ms >= 500).length]).toEqual([true, true, 2, 9]);
  const third = over(keeping.keep(finished(3, [3])));
  await sleep.wakeAll();
  await eventually(third);
  expect(await Promise.all(all.map(async (trace) => (await pieces(trace)).length))).toEqual([0, 0, 1]);
  await keeping.stop();
});

test('span keeper: what is too large or cannot be read again is counted', async () => {
  const { keeping, sleep, pieces, count } = await bench(({ positions: [at] }) =>
    at === 1
      ? { bundle: undefined, spans: 9, isWhole: true, isRedacted: false, isLater: false }
      : { bundle: Buffer.from(at === 2 ? 'half' : ''), spans: 1, isWhole: false, isRedacted: false, isLater: false },
  );
  for (const trace of [1, 2, 3]) keeping.want(closed(trace));
  const isOver = over(every([1, 2, 3].map((trace) => keeping.keep(finished(trace, [trace])))));
  await sleep.wakeAll();
  await eventually(isOver);
  expect([(await pieces(1)).length, (await pieces(2)).map(({ isWhole }) => isWhole), (await pieces(3)).length]).toEqual([0, [false], 0]);
  expect([count('too_large'), count('incomplete'), count('written')]).toEqual([1, 2, 1]);
  await keeping.stop();
});

test('span keeper: what a stop gives up stays in the journal for the next process', async () => {
  const { keeping, sleep, fail, count } = await bench();
  fail(Infinity);
  keeping.want(closed(1));
  const isOver = over(keeping.keep(finished(1, [1])));
  await sleep.wakeAll();
  await eventually(() => sleep.slept.includes(500));
  await keeping.stop();
  await keeping.stop();
  await turns();
  expect([isOver(), count('dropped'), keeping.keep(finished(2, [1]))]).toEqual([false, 1, undefined]);
});
