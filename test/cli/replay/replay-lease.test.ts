/** Processes that write the same replay on a store that they share. */
import { expect, onTestFinished, test } from 'vitest';
import { replayLease } from '../../../src/cli/replay/replay-lease.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { leaseMs } from '../../../src/model/store/lease.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';
import { memoryStore } from '../../builders/memory-store.ts';

async function shared({ isShared = true } = {}) {
  const [{ replicas }, clock] = [await memoryStore(), manualClock()];
  const begun = async (id: string) => {
    const rest = manualSleep();
    const lease = await replayLease({ replicas: { ...replicas, isShared }, id, clock, sleep: rest.sleep });
    onTestFinished(() => lease.stop());
    return { ...lease, rest };
  };
  return { clock, begun };
}

test('replay lease: one process at a time writes a replay, and others write others', async () => {
  const { clock, begun } = await shared();
  const first = await begun('one');
  await begun('other');
  for (let looks = 0; looks < 5; looks++) {
    clock.advance(leaseMs - 1);
    await first.rest.wakeAll();
    await settled();
    first.check();
    await expect(begun('one')).rejects.toThrow('Another process writes this replay.');
  }
  await first.stop();
  await begun('one');
});

test('replay lease: a process that stood still writes no page, and another one may begin', async () => {
  const { clock, begun } = await shared();
  const first = await begun('one');
  clock.advance(leaseMs);
  expect(first.check).toThrow('The replay stood still for longer than its lease');
  const second = await begun('one');
  await first.rest.wakeAll();
  await settled();
  expect(first.check).toThrow('another process may write it now');
  second.check();
});

test('replay lease: a store of one process needs none', async () => {
  const { begun } = await shared({ isShared: false });
  await begun('one');
  (await begun('one')).check();
});
