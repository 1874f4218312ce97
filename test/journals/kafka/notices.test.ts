import { expect, test } from 'vitest';
import { kafkaNotices, type KafkaNotices } from '../../../src/journals/kafka/notices.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';

function noticed() {
  const clock = manualClock(0);
  const logged: object[] = [];
  const registry = metricRegistry();
  const log = (of: object): void => {
    logged.push(of);
  };
  const notices = kafkaNotices('spans', { clock, telemetry: registry, logger: { info: log, warn: log, error: log } as never });
  return { clock, logged, registry, notices };
}

test('kafka notices: a store that gives no partition is logged once a minute', () => {
  const { clock, logged, notices } = noticed();
  for (const ms of [0, 59_999, 1, 59_999, 1]) {
    clock.advance(ms);
    notices.refused(new Error(`down at ${clock.nowMs()}`));
  }
  expect(logged).toEqual([{ cause: 'down at 0' }, { cause: 'down at 60000' }, { cause: 'down at 120000' }]);
});

test('kafka notices: a replica without a partition is logged once, half a minute later, and again after it had one', () => {
  const { clock, logged, notices } = noticed();
  const idleAfter = (ms: number): void => {
    clock.advance(ms);
    notices.idle(3);
  };
  for (const ms of [0, 29_999]) idleAfter(ms);
  expect(logged).toEqual([]);
  for (const ms of [1, 60_000]) idleAfter(ms);
  expect(logged).toEqual([{ topic: 'spans', partitions: 3 }]);
  notices.busy();
  for (const ms of [0, 30_000]) idleAfter(ms);
  expect(logged).toHaveLength(2);
});

const faults: readonly { readonly name: string; readonly metric: string; readonly notice: (notices: KafkaNotices) => void }[] = [
  { name: 'records that are divided', metric: 'tracejury.journal.divided', notice: (notices) => notices.divided() },
  { name: 'unreadable records', metric: 'tracejury.journal.corrupt', notice: (notices) => notices.unreadable(1, 7) },
  {
    name: 'records that are too large',
    metric: 'tracejury.journal.oversized',
    notice: (notices) => notices.tooLarge('stays', { bytes: 9 }),
  },
];
test.each(faults)('kafka notices: $name are counted each time and logged once', ({ metric, notice }) => {
  const { logged, registry, notices } = noticed();
  notice(notices);
  notice(notices);
  expect(logged).toHaveLength(1);
  expect(registry.snapshot().find(({ name }) => name === metric)?.points).toMatchObject([{ value: 2 }]);
});
