import fc from 'fast-check';
import { expect, test } from 'vitest';
import { needsBelow, partitionLog } from '../../../src/journals/kafka/partition-log.ts';

const fence = { topic: 'spans', partition: 0, epoch: 1 };
const fresh = { next: 0, read: 0, open: '' };

/** Reads up to `end` and gives what is to be gathered, which it holds. */
function readTo(log: ReturnType<typeof partitionLog>, end: number): readonly number[] {
  const gathered: number[] = [];
  for (let offset = log.next(); offset < end; offset++) {
    if (!log.read(offset)) continue;
    log.hold(offset);
    gathered.push(offset);
  }
  return gathered;
}

test('partition log: the next owner begins at the lowest needed record and skips the done ones behind it', () => {
  const log = partitionLog(fence, { next: 5, read: 5, open: '' });
  expect(readTo(log, 12)).toEqual([5, 6, 7, 8, 9, 10, 11]);
  for (const offset of [5, 6, 9, 11]) log.release(offset);
  const left = log.progress();
  expect(left).toEqual({ next: 7, read: 12, open: '7-8,10' });
  expect(readTo(partitionLog(fence, left), 14)).toEqual([7, 8, 10, 12, 13]);
});

test('partition log: the next owner asks the topic for nothing that is done, however far a needed record is behind', () => {
  const log = partitionLog(fence, { next: 5, read: 5_000, open: '5,4000-4001' });
  expect([5, 4_000, 4_001, 5_000].map((offset) => [log.next(), log.read(offset)])).toEqual([
    [5, true],
    [4_000, true],
    [4_001, true],
    [5_000, true],
  ]);
});

test('partition log: with nothing needed the next owner begins behind what was read', () => {
  const log = partitionLog(fence, fresh);
  for (const offset of readTo(log, 3)) log.release(offset);
  expect(log.progress()).toEqual({ next: 3, read: 3, open: '' });
});

test('partition log: a record that is held twice is needed until it is released twice', () => {
  const log = partitionLog(fence, fresh);
  readTo(log, 2);
  log.hold(0);
  for (const offset of [0, 1]) log.release(offset);
  expect(log.progress()).toEqual({ next: 0, read: 2, open: '0' });
  log.release(0);
  expect(log.progress()).toEqual({ next: 2, read: 2, open: '' });
});

test('partition log: records that came before are not gathered again, and gaps between offsets are none', () => {
  const log = partitionLog(fence, fresh);
  expect([0, 1, 1, 0, 4, 3].map((offset) => log.read(offset))).toEqual([true, true, false, false, true, false]);
});

test('partition log: over any number of owners no needed record is skipped', () => {
  const step = fc.record({ reads: fc.nat(30), releases: fc.array(fc.nat(99), { maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (owners) => {
      let progress = fresh;
      const needed = new Set(Array.from({ length: 200 }, (_, offset) => offset));
      for (const { reads, releases } of owners) {
        const log = partitionLog(fence, progress);
        const held = readTo(log, log.next() + reads);
        const expected = [...needed].filter((offset) => offset < log.next());
        expect(held).toEqual(expected);
        for (const at of releases) {
          const offset = held[at];
          if (offset === undefined) continue;
          log.release(offset);
          needed.delete(offset);
        }
        progress = log.progress();
      }
      expect(readTo(partitionLog(fence, progress), 200)).toEqual([...needed]);
    }),
  );
});

test('partition log: with too many gaps the records behind them are gathered again', () => {
  const log = partitionLog(fence, fresh);
  for (const offset of readTo(log, 5_000)) if (offset % 2 === 0) log.release(offset);
  const left = log.progress();
  expect(left.open.split(',').length).toBe(1_000);
  const again = readTo(partitionLog(fence, left), 5_000);
  expect(again.filter((offset) => offset < left.read).every((offset) => offset % 2 === 1)).toBe(true);
  expect(again.filter((offset) => offset >= left.read).length).toBe(5_000 - left.read);
});

test.each([
  [{ next: 7, read: 12, open: '7-8,10' }, 7, 0],
  [{ next: 7, read: 12, open: '7-8,10' }, 8, 1],
  [{ next: 7, read: 12, open: '7-8,10' }, 10, 2],
  [{ next: 7, read: 12, open: '7-8,10' }, 12, 3],
  [{ next: 7, read: 12, open: '7-8,10' }, 15, 6],
  [{ next: 12, read: 12, open: '' }, 12, 0],
] as const)('partition log: of %j the topic has lost what is not done below %i: %i records', (progress, offset, lost) => {
  expect(needsBelow(progress, offset)).toBe(lost);
});
