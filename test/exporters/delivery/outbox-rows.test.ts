/** An outbox over a store: what a backend does not take becomes a row, outlives the process, and ends as sent, as a dead letter, or counted. */
import { expect, test } from 'vitest';
import { spanId } from '../../builders/agent-trace.ts';
import { settled } from '../../builders/manual-sleep.ts';
import { retention } from '../../builders/retention.ts';
import { evaluation, run, scored, scoredRun } from '../../builders/scored-run.ts';
import type { ItemId } from '../../../src/model/watermark.ts';
import { fine, item, later, never, rowsOf, shelf, started, type Shelf } from '../shelf.ts';

test('outbox: what is sent before its run is written needs no row', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  await own.answer(fine);
  own.offer(item(2));
  await own.write();
  expect(await rowsOf(of)).toEqual(['2.1 waiting']);
  await own.answer(fine);
  await own.tick();
  expect([await rowsOf(of), own.sent]).toEqual([[], ['1.1', '2.1']]);
});

test('outbox: a row is sent by the next process, with the runs in order and no item twice in one process', async () => {
  const of = await shelf();
  const first = await started(of);
  for (const [run_, revision] of [
    [1, 1],
    [2, 1],
    [1, 2],
  ] as const)
    first.offer(item(run_, revision));
  await first.write();
  const second = await started(of);
  await settled();
  while (second.sending() > 0) await second.answer(fine);
  expect(second.sent).toEqual(['2.1', '1.2']);
  await second.tick();
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox: sent while its run was being written, its row goes again', async () => {
  const of = await shelf();
  const own = await started(of);
  const one = own.offer(item(1));
  const pending = own.box.pending(one);
  const [row] = await of.store.write([one], pending === undefined ? [] : [pending.row]);
  await own.answer(fine);
  pending?.written(row);
  await own.tick();
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox: a backend that is down costs rows and no memory, is tried with one item at a time, and gets everything when it is back', async () => {
  const of = await shelf();
  const own = await started(of, { sendingMax: 2 });
  for (let run_ = 1; run_ <= 300; run_++) own.offer(item(run_));
  for (let at = 0; at < 3; at++) await own.answer(later);
  await own.write();
  while (own.sending() > 0) await own.answer(later);
  expect([
    own.box.status().circuit,
    own.box.held(),
    (await of.store.exports.counts())[0]?.waiting,
    own.gauge('tracejury.exporter.circuit'),
    own.gauge('tracejury.exporter.queue'),
  ]).toEqual(['open', 0, 300, 2, 300]);
  const before = own.sent.length;
  for (let probe = 0; probe < 5; probe++) {
    own.clock.advance(60_000);
    await own.sleep.wakeAll();
    expect(own.sending()).toBe(1);
    await own.answer(later);
  }
  expect([own.sent.length - before, own.box.held()]).toEqual([5, 0]);
  // Probes say nothing about an item: none comes nearer to its end.
  expect((await of.store.exports.list({ limit: 200 })).exports.every(({ attempts }) => attempts <= 1)).toBe(true);
  own.clock.advance(300_000);
  await own.sleep.wakeAll();
  for (let turn = 0; turn < 10_000 && own.gauge('tracejury.exporter.queue') !== 0; turn++) {
    expect(own.box.held()).toBeLessThanOrEqual(401);
    if (own.sending() > 0) await own.answer(fine);
    else await own.tick();
  }
  expect([
    new Set(own.sent).size,
    own.gauge('tracejury.exporter.lag'),
    own.gauge('tracejury.exporter.circuit'),
    own.count('sent'),
    own.count('failed'),
    own.count('dropped'),
  ]).toEqual([300, 0, 0, 300, 0, 0]);
  await own.tick();
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox: an item that the backend refuses is a dead letter, whether its run is written or not, and goes again when it is retried', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  await own.answer(never);
  own.offer(item(2));
  expect(own.box.settled()).toBe(0);
  await own.write();
  expect(own.box.settled()).toBe(2);
  await own.answer(never);
  await own.tick();
  expect(await rowsOf(of)).toEqual(['1.1 dead: no', '2.1 dead: no']);
  expect([own.gauge('tracejury.exporter.dead'), own.gauge('tracejury.exporter.queue'), own.count('failed')]).toEqual([2, 0, 2]);
  await of.store.exports.retry({ now: own.clock.nowMs() * 1_000, limit: 10 });
  await own.box.recount();
  await settled();
  while (own.sending() > 0) await own.answer(fine);
  await own.tick();
  expect([await rowsOf(of), own.sent, own.gauge('tracejury.exporter.dead')]).toEqual([[], ['1.1', '2.1', '1.1', '2.1'], 0]);
});

test('outbox: one item that always fails while others are taken is given up after its attempts, or at its age', async () => {
  for (const [options, reason] of [
    [{ attemptsMax: 3 }, 'tried 3 times: busy'],
    [{ giveUpMs: 1_500 }, 'too old: busy'],
  ] as const) {
    const of = await shelf();
    const own = await started(of, { ...options, failuresMax: 100 });
    own.offer(item(1));
    await own.write();
    for (let attempt = 0; attempt < 3; attempt++) {
      await own.answer(later);
      await own.tick();
      own.offer(item(2 + attempt));
      await own.write();
      if (attempt < 2) own.box.pending({ ...item(9), id: 9 as ItemId });
    }
    while (own.sending() > 0) await own.answer(own.sent.at(-own.sending()) === '1.1' ? later : fine);
    await own.tick();
    expect(await rowsOf(of)).toEqual([`1.1 dead: ${reason}`]);
  }
});

test('outbox: an older revision in the store gives way to a newer one, sent or not', async () => {
  const of = await shelf();
  const first = await started(of);
  first.offer(item(1));
  first.offer(item(2));
  first.offer(item(3));
  await first.write();
  const second = await started(of, { sendingMax: 1 });
  await settled();
  // 1.1 is on its way; 2 and 3 have newer revisions, one of them written.
  second.offer(item(2, 2));
  second.offer(item(3, 2));
  await second.write();
  while (second.sending() > 0) await second.answer(fine);
  await second.tick();
  for (const run_ of ['2', '3']) expect(second.sent.filter((one) => one.startsWith(`${run_}.`)).at(-1)).toBe(`${run_}.2`);
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox: judges’ verdicts do not replace those of rules', async () => {
  const of = await shelf();
  const own = await started(of, { sendingMax: 1 });
  own.offer(item(9));
  own.offer(item(1));
  own.offer({
    ...scoredRun({}, run({ spanId: spanId(1) })),
    evaluations: [evaluation('judge', scored(1), run({ spanId: spanId(1) }), { evaluatorKind: 'judge' })],
  });
  await own.write();
  expect(await rowsOf(of)).toEqual(['9.1 waiting', '1.1 waiting', '1.1 waiting']);
});

test('outbox: a store that breaks holds up nothing; what it has not taken stays in memory, and counts as unsafe', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  of.breaks = true;
  expect(await own.write()).toBe(false);
  await own.tick();
  await own.answer(fine);
  own.offer(item(2));
  await own.answer(later);
  expect([own.box.settled(), own.box.held()]).toEqual([1, 1]);
  of.breaks = false;
  expect(await own.write()).toBe(true);
  expect(own.box.settled()).toBe(2);
  await own.tick();
  await own.answer(fine);
  await own.tick();
  expect([await rowsOf(of), own.count('sent')]).toEqual([[], 2]);
});

test('outbox: notes that a broken store has not taken are written later', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  await own.write();
  of.breaks = true;
  await own.answer(fine);
  await own.tick();
  expect(await rowsOf(of)).toEqual(['1.1 waiting']);
  of.breaks = false;
  await own.tick();
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox: a stop does not wait for a backend that is down when the store has everything', async () => {
  const of = await shelf();
  const own = await started(of, { sendingMax: 1 });
  for (let run_ = 1; run_ <= 5; run_++) own.offer(item(run_));
  await own.write();
  await own.goDown();
  expect(own.box.status().circuit).toBe('open');
  expect(await own.box.stop(1_000)).toBe(5);
  expect((await rowsOf(of)).length).toBe(5);
  // No rest keeps the process from ending.
  expect(own.sleep.asleep()).toBe(0);
});

test('outbox: an answer that comes after a stop starts nothing, and what it is about is still written with its run', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  const stop = own.box.stop(1_000);
  await own.sleep.wakeAll();
  expect(await stop).toBe(1);
  await own.answer(later);
  expect([own.sleep.asleep(), own.sending()]).toEqual([0, 0]);
  await own.write();
  expect(await rowsOf(of)).toEqual(['1.1 waiting']);
});

test('outbox: a stop of a store that ends with the process sends its rows as well, and counts what is left', async () => {
  const of = await shelf({ isDurable: false });
  const first = await started(of, { sendingMax: 1 });
  for (let run_ = 1; run_ <= 5; run_++) first.offer(item(run_));
  await first.write();
  expect(first.box.settled()).toBe(0);
  const stop = first.box.stop(1_000);
  for (let at = 0; at < 3; at++) await first.answer(fine);
  await first.sleep.wakeAll();
  expect(await stop).toBe(2);
  expect([first.count('sent'), first.count('dropped')]).toEqual([3, 2]);
});

test('outbox: a row that cannot be read is a dead letter', async () => {
  const of = await shelf();
  const first = await started(of);
  first.offer(item(1));
  await first.write();
  const { exports } = of.store;
  const broken: Shelf = {
    breaks: false,
    store: {
      ...of.store,
      exports: { ...exports, due: async (query) => (await exports.due(query)).map((row) => ({ ...row, item: undefined })) },
    },
  };
  const second = await started(broken);
  await settled();
  await second.tick();
  expect(await rowsOf(of)).toEqual(['1.1 dead: unreadable']);
});

test('outbox: a backend that is given a rest is tried at once when something has changed', async () => {
  const of = await shelf();
  const own = await started(of);
  own.offer(item(1));
  await own.write();
  await own.goDown();
  expect([own.box.status().circuit, own.sending()]).toEqual(['open', 0]);
  own.box.wake();
  await settled();
  expect([own.box.status().circuit, own.sending()]).toEqual(['half_open', 1]);
  await own.answer(fine);
  expect([own.box.status().circuit, own.count('sent')]).toEqual(['closed', 1]);
});

test('outbox: a circuit with nothing left to try it with is closed, and nothing is said against the backend any more', async () => {
  const of = await shelf();
  const own = await started(of, { sendingMax: 1 });
  for (let run_ = 1; run_ <= 3; run_++) own.offer(item(run_));
  await own.write();
  await own.goDown();
  expect([own.box.status().circuit, own.box.status().fault, own.gauge('tracejury.exporter.queue')]).toEqual(['open', 'busy', 3]);
  await of.store.prune(retention({ exportsBefore: Number.MAX_SAFE_INTEGER, exportsMax: 0 }));
  for (let turn = 0; turn < 3; turn++) await own.tick();
  expect([
    own.box.status().circuit,
    own.box.status().fault,
    own.gauge('tracejury.exporter.circuit'),
    own.gauge('tracejury.exporter.queue'),
  ]).toEqual(['closed', undefined, 0, 0]);
  // The next item is sent as ever.
  own.offer(item(4));
  expect(own.sending()).toBe(1);
});

test('outbox: rows that were replaced after a restart, or by a newer revision, are soon no longer counted', async () => {
  const of = await shelf();
  const first = await started(of, { failuresMax: 1 });
  for (let run_ = 1; run_ <= 5; run_++) first.offer(item(run_));
  await first.answer(later);
  await first.write();
  // The runs come once more out of the journal, while the backend is down.
  const second = await started(of, { failuresMax: 1, firstRestMs: 3_600_000, longestRestMs: 3_600_000 });
  second.offer(item(1));
  await second.answer(later);
  for (let run_ = 2; run_ <= 5; run_++) second.offer(item(run_));
  await second.write();
  second.offer(item(1, 2));
  await second.write();
  for (let turn = 0; turn < 11; turn++) await second.tick();
  expect([(await rowsOf(of)).length, second.gauge('tracejury.exporter.queue'), second.count('replaced')]).toEqual([5, 5, 6]);
});

test('outbox: rows that another process has added are sent within ten seconds, and nothing is counted while no process adds any', async () => {
  const of = await shelf();
  let [writes, counts] = [0, 0];
  const watched: typeof of = {
    ...of,
    store: {
      ...of.store,
      exports: {
        ...of.store.exports,
        otherWrites: async () => writes,
        counts() {
          counts++;
          return of.store.exports.counts();
        },
      },
    },
  };
  const own = await started(watched);
  for (let second = 0; second < 12; second++) await own.tick();
  const idle = counts;
  await of.store.write([item(1)], [{ exporter: 'x', part: 'rules', item: item(1), offeredAt: 0 }]);
  writes = 1;
  for (let second = 0; second < 10 && own.sending() === 0; second++) await own.tick();
  expect([idle, own.sent]).toEqual([1, ['1.1']]);
});
