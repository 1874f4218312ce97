import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { activityWatch } from '../../src/runtime/activity.ts';
import { periodicTask } from '../../src/runtime/periodic-task.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';

function watched() {
  const [clock, sleep] = [manualClock(), manualSleep()];
  return { clock, sleep, activity: activityWatch({ clock, sleep: sleep.sleep }) };
}

test('activity: a rest is a usual one for some seconds after a note, and for at least one round after it', async () => {
  const { clock, sleep, activity } = watched();
  for (const [afterMs, restMs] of [
    [0, 100],
    [2_999, 100],
    [3_000, 100],
    [3_000, 20_000],
    [20_000, 20_000],
    [20_000, 60_000],
  ] as const) {
    activity.noted();
    clock.advance(afterMs);
    void activity.rest(restMs);
  }
  await sleep.wakeAll();
  expect(sleep.slept.slice(0, 6)).toEqual([100, 100, 60_000, 20_000, 60_000, 60_000]);
});

test('activity: work that comes ends a long rest, and the usual rest follows', async () => {
  const { clock, sleep, activity } = watched();
  let rounds = 0;
  const task = periodicTask({
    everyMs: 100,
    sleep: sleep.sleep,
    rest: activity.rest,
    work: () => void rounds++,
    onFault: () => undefined,
    restsFirst: true,
  });
  clock.advance(5_000);
  await sleep.wakeAll();
  expect([rounds, sleep.slept]).toEqual([1, [100, 60_000]]);
  activity.noted();
  await settled();
  expect([rounds, sleep.slept]).toEqual([1, [100, 60_000, 100]]);
  await sleep.wakeAll();
  expect([rounds, sleep.slept]).toEqual([2, [100, 60_000, 100, 100]]);
  await task.stop();
  expect(sleep.asleep()).toBe(0);
});

test('activity: a long rest ends by itself after a minute, and with its signal at once', async () => {
  const { clock, sleep, activity } = watched();
  clock.advance(5_000);
  let ended = 0;
  void activity.rest(100).then(() => ended++);
  await sleep.wakeAll();
  const stop = new AbortController();
  void activity.rest(100, stop.signal).then(() => ended++);
  stop.abort();
  await settled();
  expect([ended, sleep.slept, sleep.asleep()]).toEqual([2, [60_000, 60_000], 0]);
});

test('activity: a long rest takes no longer than its work allows', async () => {
  const { clock, sleep, activity } = watched();
  clock.advance(5_000);
  for (const longestMs of [30_000, 500, undefined]) void activity.rest(1_000, undefined, longestMs);
  expect(sleep.slept).toEqual([30_000, 1_000, 60_000]);
  await sleep.wakeAll();
});
