import { expect, test } from 'vitest';
import { periodicTask, type PeriodicTaskOptions } from '../../src/runtime/periodic-task.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';

function started(options: Partial<PeriodicTaskOptions> = {}) {
  const sleep = manualSleep();
  const faults: unknown[] = [];
  let rounds = 0;
  const work = (): void => void rounds++;
  const task = periodicTask({ everyMs: 100, sleep: sleep.sleep, work, onFault: (fault) => faults.push(fault), ...options });
  return { task, sleep, faults, rounds: () => rounds };
}

test('periodic task: works, rests, and works again until it is stopped', async () => {
  const { task, sleep, rounds } = started();
  await settled();
  await sleep.wakeAll();
  expect([rounds(), sleep.slept]).toEqual([2, [100, 100]]);
  await task.stop();
  await task.stop();
  expect([rounds(), sleep.asleep()]).toEqual([2, 0]);
});

test('periodic task: rests first when asked to, and a stop then begins no round', async () => {
  const { task, rounds } = started({ restsFirst: true });
  await settled();
  await task.stop();
  expect(rounds()).toBe(0);
});

test('periodic task: a round that fails is reported, and the next one follows after the rest', async () => {
  const { task, sleep, faults } = started({ work: () => Promise.reject(new RangeError('x')) });
  await settled();
  await sleep.wakeAll();
  expect(faults).toEqual([new RangeError('x'), new RangeError('x')]);
  await task.stop();
});

test('periodic task: the length of a rest is read before each rest, and wake ends the rest early', async () => {
  let ms = 0;
  const { task, sleep, rounds } = started({ everyMs: () => ++ms });
  await settled();
  task.wake();
  await settled();
  expect([rounds(), sleep.slept, sleep.asleep()]).toEqual([2, [1, 2], 1]);
  await task.stop();
});

test('periodic task: a stop waits for the round that runs', async () => {
  let end = (): void => undefined;
  const { task } = started({ work: () => new Promise<void>((resolve) => (end = resolve)) });
  await settled();
  let isStopped = false;
  const stopping = task.stop().then(() => (isStopped = true));
  await settled();
  expect(isStopped).toBe(false);
  end();
  await stopping;
  expect(isStopped).toBe(true);
});

test('periodic task: rests in the usual way while work is left, and otherwise as given', async () => {
  const idle = manualSleep();
  let isLeft = true;
  const { task, sleep } = started({ rest: idle.sleep, hasWork: () => isLeft });
  await settled();
  isLeft = false;
  await sleep.wakeAll();
  expect([sleep.slept, idle.slept]).toEqual([[100], [100]]);
  await task.stop();
});
