/** Claims outlive the process that has read them. */
import { expect, test } from 'vitest';
import { heldClaims } from '../../../src/journals/kafka/held-claims.ts';
import { partitionLog, type PartitionLog } from '../../../src/journals/kafka/partition-log.ts';
import { manualClock } from '../../../src/model/clock.ts';

const ownerOf = (before = { next: 0, read: 0, open: '' }): PartitionLog => partitionLog({ topic: 'spans', partition: 0, epoch: 1 }, before);
const minuteMs = 60_000;

test('claims: the next owner reads a claim again for ten minutes, and not the records around it', () => {
  const [clock, first] = [manualClock(), ownerOf()];
  const released: PartitionLog[] = [];
  const claims = heldClaims(clock.nowMs, (log) => released.push(log));
  for (const offset of [0, 1, 2]) first.read(offset);
  claims.hold(first, 1, clock.nowMs());
  const next = ownerOf(first.progress());
  expect([0, 1, 2, 3].map((offset) => next.read(offset))).toEqual([false, true, false, true]);
  clock.advance(10 * minuteMs - 1);
  claims.expire();
  expect([first.progress().next, released]).toEqual([1, []]);
  clock.advance(1);
  claims.expire();
  expect([first.progress().next, released]).toEqual([3, [first]]);
});

test('claims: the time of a claim that is read again goes on', () => {
  const [clock, log] = [manualClock(), ownerOf()];
  const claims = heldClaims(clock.nowMs, () => undefined);
  const sentMs = clock.nowMs();
  log.read(0);
  clock.advance(10 * minuteMs);
  claims.hold(log, 0, sentMs);
  expect(log.progress().next).toBe(1);
});

test('claims: beyond 500 the oldest ones are released', () => {
  const [clock, log] = [manualClock(), ownerOf()];
  const claims = heldClaims(clock.nowMs, () => undefined);
  for (let offset = 0; offset < 600; offset++) {
    log.read(offset);
    claims.hold(log, offset, clock.nowMs());
  }
  expect(log.progress()).toEqual({ next: 100, read: 600, open: '100-599' });
});
