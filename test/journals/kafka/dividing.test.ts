import { expect, test } from 'vitest';
import type { Position } from '../../../src/journals/journal.ts';
import { dividing } from '../../../src/journals/kafka/dividing.ts';
import { partitionLog, type PartitionLog } from '../../../src/journals/kafka/partition-log.ts';
import type { KeyedRecord } from '../../../src/journals/kafka/requests.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';

const logOf = (partition: number): PartitionLog => partitionLog({ topic: 'spans', partition, epoch: 1 }, { next: 0, read: 0, open: '' });
const trace = (partition: number, bytes = 0): KeyedRecord => ({
  key: undefined,
  value: Buffer.alloc(bytes),
  headers: new Map(),
  partition,
});

/** Divides records whose traces go to partitions. The closed ones take nothing. */
function dividingOver({ closed }: { readonly closed: Set<number> }) {
  const [log, other] = [logOf(0), logOf(1)];
  const [owned, sent] = [new Set([log, other]), [] as number[][]];
  const { sleep, wakeAll } = manualSleep();
  const own = dividing({
    async send(records) {
      const partitions = records.map(({ partition }) => partition ?? -1);
      sent.push(partitions);
      return partitions.some((partition) => closed.has(partition)) ? 'failed' : undefined;
    },
    isOwned: (one) => owned.has(one),
    partitions: () => 6,
    sleep,
    rests: {},
  });
  const divide = (...partitions: readonly number[]) =>
    own.divide(
      { log, offset: 3, position: 7 as Position },
      partitions.map((partition) => trace(partition)),
    );
  return { ...own, divideAs: own.divide, divide, log, other, owned, sent, wakeAll };
}

test('dividing: a record whose traces are taken at once holds up nothing', async () => {
  const { divide, isWaiting, log, takeDivided } = dividingOver({ closed: new Set() });
  await divide(2, 3);
  expect([isWaiting(log), takeDivided(), takeDivided()]).toEqual([false, [{ log, offset: 3, position: 7, left: [] }], []]);
});

test('dividing: while a partition takes no trace, only the partition of the divided record waits, and other traces are sent once more at most', async () => {
  const closed = new Set([3]);
  const { divide, isWaiting, log, other, sent, takeDivided, wakeAll } = dividingOver({ closed });
  const begun = divide(2, 3, 2, 4);
  await settled();
  // The moment that a short fault may take.
  await wakeAll();
  await begun;
  expect([isWaiting(log), isWaiting(other), takeDivided()]).toEqual([true, false, []]);
  await wakeAll();
  expect(sent).toEqual([[2, 3, 2, 4], [2, 2], [3], [4], [3]]);
  closed.clear();
  await wakeAll();
  expect([isWaiting(log), takeDivided()]).toEqual([false, [{ log, offset: 3, position: 7, left: [] }]]);
});

test('dividing: a partition that another process has taken is left to that one', async () => {
  const { divide, isWaiting, log, owned, sent, takeDivided, wakeAll } = dividingOver({ closed: new Set([3]) });
  const begun = divide(3);
  await settled();
  owned.delete(log);
  await wakeAll();
  await begun;
  expect([isWaiting(log), sent, takeDivided()]).toEqual([false, [[3]], []]);
});

test('dividing: with 64 MiB of traces that wait, the next record waits for its traces to be taken', async () => {
  const closed = new Set([3]);
  const { divide, divideAs, other, wakeAll, takeDivided } = dividingOver({ closed });
  const begun = divide(3);
  await settled();
  await wakeAll();
  await begun;
  let isOver = false;
  const large = divideAs({ log: other, offset: 0, position: 8 as Position }, [trace(3, 64 * 1024 * 1024 + 1)]).then(() => {
    isOver = true;
  });
  await settled();
  await wakeAll();
  expect(isOver).toBe(false);
  closed.clear();
  await wakeAll();
  await large;
  expect(takeDivided()).toHaveLength(2);
});
