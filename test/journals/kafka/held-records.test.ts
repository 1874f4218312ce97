import { expect, test } from 'vitest';
import { heldRecords } from '../../../src/journals/kafka/held-records.ts';
import { partitionLog } from '../../../src/journals/kafka/partition-log.ts';
import type { JournalRecord, Position } from '../../../src/journals/journal.ts';
import { request } from '../intake-world.ts';

const record: JournalRecord = request([], 0);
const logOf = (partition: number) => partitionLog({ topic: 'spans', partition, epoch: 1 }, { next: 0, read: 0, open: '' });

test('held records: a trace is in the partition of its newest record until that is released or lost', () => {
  const [home, joined] = [logOf(0), logOf(1)];
  const held = heldRecords(
    () => undefined,
    () => undefined,
  );
  held.hold(home, 0, record, 'a');
  held.hold(home, 1, record);
  expect(held.logOf('a')).toBe(home);
  held.hold(joined, 0, record, 'a');
  held.hold(home, 2, record, 'b');
  expect([held.logOf('a'), held.logOf('b'), held.logOf('c')]).toEqual([joined, home, undefined]);
  held.drop(new Set([joined]));
  expect([held.logOf('a'), held.logOf('b')]).toEqual([undefined, home]);
  held.commit(held.end(), () => false);
  expect([held.logOf('b'), held.bytes(), held.at(0 as Position)]).toEqual([undefined, 0, undefined]);
});

test('held records: a pinned record outlives each commit, and goes when it is free or its partition is lost', () => {
  const [first, other] = [logOf(0), logOf(1)];
  const held = heldRecords(
    () => undefined,
    () => undefined,
  );
  const pinned = [held.hold(first, 0, record), held.hold(other, 0, record)];
  held.hold(first, 1, record);
  for (const position of pinned) held.pin(position);
  held.commit(held.end(), () => false);
  expect([pinned.map((position) => held.at(position) !== undefined), held.at(2 as Position)]).toEqual([[true, true], undefined]);
  held.drop(new Set([other]));
  for (const position of pinned) held.free(position);
  held.commit(held.end(), () => false);
  expect([pinned.map((position) => held.at(position)), held.bytes()]).toEqual([[undefined, undefined], 0]);
});
