/** Outboxes of several processes over one store: each row is sent by one of them, and by another one when that one dies. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { leaseMs } from '../../../src/model/store/lease.ts';
import { settled } from '../../builders/manual-sleep.ts';
import { fine, item, later, never, rowsOf, shelf, started, type Process } from '../shelf.ts';

async function two() {
  const [of, clock] = [await shelf(), manualClock()];
  clock.advance(1_000_000);
  const begun = (owner: string) => started(of, { sendingMax: 2 }, { owner, clock });
  return { of, clock, begun, first: await begun('a'), second: await begun('b') };
}

async function ticks(process: Process, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await process.tick();
}

test('outbox of replicas: rows that one process sends are sent by no other one', async () => {
  const { of, first, second } = await two();
  for (let run = 1; run <= 6; run++) first.offer(item(run));
  await first.write();
  expect((await rowsOf(of)).length).toBe(6);
  await ticks(second, 20);
  await ticks(first, 1);
  await ticks(second, 20);
  while (first.sending() > 0) await first.answer(fine);
  await first.tick();
  expect([first.sent.length, second.sent, await rowsOf(of)]).toEqual([6, [], []]);
});

test('outbox of replicas: rows of a process that died are sent once, by another one', async () => {
  const { of, clock, first, second, begun } = await two();
  for (let run = 1; run <= 3; run++) first.offer(item(run));
  await first.write();
  const third = await begun('c');
  clock.advance(leaseMs - 2_000);
  await second.tick();
  expect([second.sent, third.sent]).toEqual([[], []]);
  clock.advance(2_000);
  for (let turn = 0; turn < 15; turn++) {
    await second.tick();
    await third.tick();
    for (const process of [second, third]) while (process.sending() > 0) await process.answer(fine);
  }
  expect([...second.sent, ...third.sent].toSorted()).toEqual(['1.1', '2.1', '3.1']);
  expect(await rowsOf(of)).toEqual([]);
});

test('outbox of replicas: a process that stood still does not send what another one has taken', async () => {
  const { of, clock, first, second } = await two();
  for (let run = 1; run <= 2; run++) first.offer(item(run));
  await first.write();
  await first.answer(later);
  await first.answer(later);
  const before = first.sent.length;
  clock.advance(leaseMs);
  await ticks(second, 12);
  while (second.sending() > 0) await second.answer(fine);
  await second.tick();
  expect(second.sent.toSorted()).toEqual(['1.1', '2.1']);
  await first.tick();
  await settled();
  expect([first.sent.length, await rowsOf(of)]).toEqual([before, []]);
});

test('outbox of replicas: a process over the journal of a dead one sends its rows at once', async () => {
  const { of, first, begun } = await two();
  first.offer(item(1));
  await first.write();
  const next = await begun('a');
  await settled();
  await next.answer(fine);
  await next.tick();
  expect([next.sent, await rowsOf(of)]).toEqual([['1.1'], []]);
});

test('outbox of replicas: a dead letter that is to be sent again is sent by the first process that sees it', async () => {
  const { of, first, second } = await two();
  first.offer(item(1));
  await first.write();
  await first.answer(never);
  await first.tick();
  expect(await rowsOf(of)).toEqual(['1.1 dead: no']);
  await of.store.exports.retry({ now: 0, limit: 10 });
  await second.box.recount();
  await settled();
  await second.answer(fine);
  await second.tick();
  await ticks(first, 30);
  expect([first.sent, second.sent, await rowsOf(of)]).toEqual([['1.1'], ['1.1'], []]);
});
