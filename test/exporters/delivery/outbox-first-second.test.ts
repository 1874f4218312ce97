/** An item is only in memory and in the journal while its first attempt is due or in progress, for a second at most. */
import { expect, test } from 'vitest';
import { settled } from '../../builders/manual-sleep.ts';
import { fine, item, later, never, rowsOf, shelf, started, type Process, type Shelf } from '../shelf.ts';

async function begun(options: Parameters<typeof started>[1] = {}): Promise<{ readonly of: Shelf; readonly own: Process }> {
  const of = await shelf();
  return { of, own: await started(of, { rowAfterMs: 1_000, ...options }) };
}

test('outbox: an item that is sent within a second after its run was written needs no row, and the journal keeps it until then', async () => {
  const { of, own } = await begun();
  own.offer(item(1));
  await own.write();
  expect([await rowsOf(of), own.box.settled()]).toEqual([[], 0]);
  await own.answer(fine);
  expect([await rowsOf(of), own.box.settled()]).toEqual([[], 1]);
});

for (const { name, options, before, rows } of [
  { name: 'that is not answered within a second', options: {}, before: async () => undefined, rows: ['1.1 waiting'] },
  { name: 'that waits behind others for a second', options: { sendingMax: 0 }, before: async () => undefined, rows: ['1.1 waiting'] },
  { name: 'that failed', options: {}, before: (own: Process) => own.answer(later), rows: ['1.1 waiting'] },
  { name: 'that was refused', options: {}, before: (own: Process) => own.answer(never), rows: ['1.1 dead: no'] },
  { name: 'of a backend that went down', options: { failuresMax: 1 }, before: (own: Process) => own.answer(later), rows: ['1.1 waiting'] },
] as const)
  test(`outbox: an item ${name} becomes a row though its run is written, and the journal may let go of it`, async () => {
    const { of, own } = await begun(options);
    own.offer(item(1));
    await own.write();
    await before(own);
    expect([await rowsOf(of), own.box.settled()]).toEqual([[], 0]);
    await own.tick();
    expect([await rowsOf(of), own.box.settled()]).toEqual([rows, 1]);
  });

test('outbox: an item that failed before its run is written, or is a later revision, becomes a row with the run', async () => {
  const { of, own } = await begun();
  own.offer(item(1));
  await own.answer(later);
  own.offer(item(2, 2));
  await own.write();
  expect([await rowsOf(of), own.box.settled()]).toEqual([['1.1 waiting', '2.2 waiting'], 2]);
});

test('outbox: while the store takes no rows the journal keeps the items, and they get their rows when it does', async () => {
  const { of, own } = await begun({ failuresMax: 1 });
  for (const run of [1, 2]) own.offer(item(run));
  await own.write();
  await own.answer(later);
  of.breaks = true;
  await own.tick();
  expect([await rowsOf(of), own.box.settled()]).toEqual([[], 0]);
  of.breaks = false;
  await own.tick();
  expect([await rowsOf(of), own.box.settled()]).toEqual([['1.1 waiting', '2.1 waiting'], 2]);
});

test('outbox: a stop gives rows to what it has not sent', async () => {
  const { of, own } = await begun();
  own.offer(item(1));
  await own.write();
  const stopped = own.box.stop(1_000);
  await settled();
  await own.sleep.wakeAll();
  expect([await stopped, await rowsOf(of)]).toEqual([1, ['1.1 waiting']]);
});

test('outbox: an item whose run the store has let go of is sent from memory, or given up', async () => {
  for (const [outcome, count] of [
    [fine, 'sent'],
    [never, 'failed'],
  ] as const) {
    const { of, own } = await begun();
    own.offer(item(1));
    await own.write();
    await of.store.prune({
      runsBefore: Number.MAX_SAFE_INTEGER,
      contentBefore: 0,
      exportsBefore: 0,
      jobsBefore: 0,
      turnsBefore: 0,
      exportsMax: 10,
      bytesMax: Number.MAX_SAFE_INTEGER,
      stepRuns: 10,
    });
    await own.tick();
    expect([await rowsOf(of), own.box.settled(), own.box.held()]).toEqual([[], 0, 1]);
    await own.answer(outcome);
    await own.tick();
    expect([own.box.settled(), own.count(count)]).toEqual([1, 1]);
  }
});

test('outbox: beyond two thousand items that are only in memory each gets its row with its run', async () => {
  const { of, own } = await begun({ sendingMax: 1 });
  for (let run = 1; run <= 2_003; run++) own.offer(item(run));
  await own.write();
  expect((await of.store.exports.counts())[0]?.waiting).toBe(2_003);
  const few = await begun({ sendingMax: 1 });
  for (let run = 1; run <= 2_000; run++) few.own.offer(item(run));
  await few.own.write();
  expect(await few.of.store.exports.counts()).toEqual([]);
});
