/** Owners of the partitions of a shared journal, and runs that only an owner may write. */
import { describe, expect, test } from 'vitest';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { members, open } from '../members.ts';
import { base, nth, numbers } from '../numbered.ts';

const partition = { topic: 'spans 1', partition: 3 };
const by = (owner: string) => ({ owner, at: base });
const item = (number: number) => scoredRun({ a: scored(1) }, nth(number));

describe.each(members)('%s', (member) => {
  test('journal partitions: a process that takes a partition goes on where the one before was, and ends its right', async () => {
    const { journalPartitions } = await open(member);
    const [first] = await journalPartitions.take([partition], by('one'));
    expect(first).toMatchObject({ ...partition, epoch: 1, owner: 'one', next: -1, open: '' });
    const progress = { ...partition, epoch: 1, next: 5, read: 9, open: '5,7' };
    expect(await journalPartitions.save([progress], base)).toEqual([]);
    expect(await journalPartitions.take([partition], by('two'))).toMatchObject([{ ...progress, epoch: 2, owner: 'two' }]);
    expect(await journalPartitions.save([{ ...progress, next: 8 }], base)).toEqual([{ ...partition, epoch: 1 }]);
    expect(await journalPartitions.list()).toMatchObject([{ ...progress, epoch: 2, owner: 'two' }]);
  });

  test('journal partitions: runs and exports of an ended right are not written, and the others of their batch are', async () => {
    const store = await open(member);
    await store.journalPartitions.take([partition], by('one'));
    const held = { ...partition, epoch: 1 };
    const other = { ...partition, partition: 4, epoch: 1 };
    await store.journalPartitions.take([other], by('one'));
    await store.write([{ ...item(0), fence: held }]);
    await store.journalPartitions.take([partition], by('two'));
    const items = [{ ...item(1), fence: held }, { ...item(2), fence: other }, item(3)];
    const exports = items.map((one) => ({ exporter: 'x', part: 'rules', item: one, offeredAt: base }));
    const rows = await store.write(items, exports);
    expect(rows.map((row) => typeof row)).toEqual(['undefined', 'number', 'number']);
    expect(await store.write([{ ...item(4), fence: held }])).toEqual([]);
    const page = await store.runs({ limit: 10 });
    expect([...numbers(page)].sort((one, two) => one - two)).toEqual([0, 2, 3]);
  });

  test('journal partitions: a run of a partition that its process does not own is not written', async () => {
    const store = await open(member);
    await store.journalPartitions.take([partition], by('one'));
    const none = { topic: partition.topic, partition: -1, epoch: 0 };
    const exports = [{ exporter: 'x', part: 'rules', item: item(0), offeredAt: base }];
    expect(await store.write([{ ...item(0), fence: none }], exports)).toEqual([undefined]);
    expect(await store.write([{ ...item(1), fence: { ...none, topic: 'spans' } }])).toEqual([]);
    expect(numbers(await store.runs({ limit: 10 }))).toEqual([]);
  });

  test('journal partitions: a run that is scored again by the next owner is stored once', async () => {
    const store = await open(member);
    const [first] = await store.journalPartitions.take([partition], by('one'));
    await store.write([{ ...item(0), fence: { ...partition, epoch: first?.epoch ?? 0 } }]);
    const [second] = await store.journalPartitions.take([partition], by('two'));
    const again = { ...item(0), fence: { ...partition, epoch: second?.epoch ?? 0 } };
    const waits = [{ exporter: 'x', part: 'rules', item: again, offeredAt: base }];
    await store.write([again], waits);
    await store.write([again], waits);
    expect(numbers(await store.runs({ limit: 10 }))).toEqual([0]);
    const waiting = await store.exports.due({ exporter: 'x', now: 1e15, limit: 10, except: [] });
    expect(waiting.length).toBe(1);
  });
});
