import { expect, test } from 'vitest';
import { itemSequence, lowest, upTo, watermarkTracker, type ItemId, type Watermark } from '../../src/model/watermark.ts';

test('itemSequence: ids ascend from 1 and the last one is known', () => {
  const ids = itemSequence();
  expect([ids.last(), ids.next(), ids.next(), ids.last()]).toEqual([0, 1, 2, 2]);
});

test.for<{
  readonly title: string;
  readonly from?: number;
  readonly add: readonly number[];
  readonly settle: readonly number[];
  readonly low: number;
}>([
  { title: 'nothing is settled at the start', add: [], settle: [], low: 0 },
  { title: 'a late consumer starts at the item before it', from: 7, add: [], settle: [], low: 7 },
  { title: 'an open item holds the mark below it', add: [1, 2, 3], settle: [2, 3], low: 0 },
  { title: 'the mark jumps over what settled before', add: [1, 2, 3], settle: [2, 1], low: 2 },
  { title: 'all settled: the mark is the last item', add: [1, 2, 3], settle: [3, 1, 2], low: 3 },
  { title: 'ids that the consumer does not get leave no gap', from: 3, add: [5, 9], settle: [5], low: 8 },
  { title: 'an item settles once', add: [1, 2], settle: [1, 1], low: 1 },
])('watermarkTracker: $title', ({ from, add, settle, low }) => {
  const tracker = watermarkTracker(from as Watermark | undefined);
  for (const id of add) tracker.add(id as ItemId);
  for (const id of settle) tracker.settle(id as ItemId);
  expect(tracker.low()).toBe(low);
});

test('lowest: the slowest consumer decides', () => {
  expect(lowest([upTo(4 as ItemId), upTo(2 as ItemId), upTo(3 as ItemId)])).toBe(2);
});
