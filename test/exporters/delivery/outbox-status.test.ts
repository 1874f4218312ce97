/** The status of an exporter's queue. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { fine, item, later, never, shelf, started } from '../shelf.ts';

test('outbox: the status counts items to send together with those that wait in the store and were not read from there', async () => {
  const of = await shelf();
  const first = await started(of, { sendingMax: 1, failuresMax: 1 });
  for (let run = 1; run <= 5; run++) first.offer(item(run));
  expect(first.box.status()).toMatchObject({ toSend: 5, notStored: 5, sending: 1 });
  await first.answer(later);
  await first.write();
  expect([first.box.held(), first.box.status()]).toMatchObject([
    0,
    { circuit: 'open', toSend: 5, notStored: 0, sending: 0, oldestAtMs: undefined },
  ]);
  first.offer(item(6));
  expect(first.box.status()).toMatchObject({ toSend: 6, notStored: 1, oldestAtMs: first.clock.nowMs() });
  // Another process has the rows to send from the beginning.
  const second = await started(of, { sendingMax: 1 });
  expect(second.box.status()).toMatchObject({ toSend: 5, notStored: 0 });
});

test('outbox: the status has the next attempt, the last success and the last failure, also after recovery', async () => {
  const of = await shelf();
  const own = await started(of, { sendingMax: 1, failuresMax: 1 });
  expect(own.box.status()).toMatchObject({
    circuit: 'closed',
    fault: undefined,
    retryAtMs: undefined,
    sentAtMs: undefined,
    lastFailure: undefined,
  });
  own.offer(item(1));
  own.clock.advance(5_000);
  const failedAtMs = own.clock.nowMs();
  await own.answer({ kind: 'failed', retryable: true, error: 'status 503', retryAfterMs: 30_000 });
  const lastFailure = { atMs: failedAtMs, error: 'status 503', reason: 'http_503', todo: 'The backend has a fault: try again later.' };
  expect(own.box.status()).toMatchObject({
    circuit: 'open',
    fault: 'status 503',
    retryAtMs: failedAtMs + 30_000,
    sentAtMs: undefined,
    lastFailure,
  });
  own.clock.advance(30_000);
  await own.sleep.wakeAll();
  expect(own.box.status()).toMatchObject({ circuit: 'half_open', retryAtMs: undefined, sending: 1 });
  await own.answer(fine);
  expect(own.box.status()).toMatchObject({ circuit: 'closed', fault: undefined, toSend: 0, sentAtMs: failedAtMs + 30_000, lastFailure });
  // A given-up item has failed as well, and does not count against the backend.
  own.offer(item(2));
  await own.answer(never);
  expect(own.box.status()).toMatchObject({
    fault: undefined,
    toSend: 0,
    lastFailure: { atMs: own.clock.nowMs(), error: 'no', reason: 'other', todo: '' },
  });
});

test('outbox: rows of an earlier process count in the lag from the start, with their own age', async () => {
  const of = await shelf();
  const first = await started(of, { failuresMax: 1 });
  first.offer(item(1));
  await first.answer(later);
  await first.write();
  const clock = manualClock();
  clock.advance(60_000);
  const second = await started(of, { clock });
  expect([second.sending(), second.gauge('tracejury.exporter.queue'), second.gauge('tracejury.exporter.lag')]).toEqual([0, 1, 60]);
});
