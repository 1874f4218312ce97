/** Processes on one store under a manual clock: their tasks move when one of them dies. */
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { leaseMs } from '../../src/model/store/lease.ts';
import { renewEveryMs, replicaWatch, sharedTasks, type ReplicaWatch } from '../../src/service/replicas.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { memoryStore } from '../builders/memory-store.ts';

interface Process {
  readonly watch: ReplicaWatch;
  readonly warnings: readonly unknown[];
  readonly faults: readonly unknown[];
  /** Rests until its next look. */
  readonly look: () => Promise<void>;
  readonly gauge: (metric: string) => readonly number[];
}

async function processes({ isShared = true }: { readonly isShared?: boolean } = {}) {
  const { replicas } = await memoryStore();
  const clock = manualClock(1_795_651_200_000);
  const state = { isAway: false };
  /** `aheadMs`: of the clock of the store. */
  const begun = async (id: string, configuration = 'same', aheadMs = 0): Promise<Process> => {
    const rest = manualSleep();
    const [warnings, faults]: [unknown[], unknown[]] = [[], []];
    const telemetry = metricRegistry({ clock });
    const watch = replicaWatch({
      store: { ...replicas, isShared, time: async (now) => (state.isAway ? Promise.reject(new Error('away')) : now - aheadMs * 1_000) },
      own: { id, host: `host-${id}`, version: '1.0.0' },
      configuration: () => configuration,
      telemetry,
      logger: { warn: (fields) => void warnings.push(fields) },
      clock,
      sleep: rest.sleep,
      onFault: (error) => void faults.push(error),
    });
    await watch.open();
    onTestFinished(() => watch.stop());
    return {
      watch,
      warnings,
      faults,
      async look() {
        await rest.wakeAll();
        await settled();
      },
      gauge: (metric) =>
        telemetry
          .snapshot()
          .filter(({ name }) => name === metric)
          .flatMap(({ points }) => points.flatMap((point) => (point.kind === 'number' ? [point.value] : []))),
    };
  };
  return { clock, begun, state };
}

const held = ({ watch }: Process): number => sharedTasks.filter(watch.holds).length;

test('replicas: the first process does every task, and the next one none', async () => {
  const { begun } = await processes();
  const [first, second] = [await begun('a'), await begun('b')];
  expect([held(first), held(second)]).toEqual([sharedTasks.length, 0]);
  expect(await second.watch.list()).toMatchObject([
    { id: 'a', isOwn: false, isAlive: true, tasks: [...sharedTasks] },
    { id: 'b', isOwn: true, isAlive: true, tasks: [] },
  ]);
  expect(second.gauge('tracejury.replicas')).toEqual([2]);
});

test('replicas: a process that gives no sign of life holds nothing before another one takes its tasks', async () => {
  const { clock, begun } = await processes();
  const [first, second] = [await begun('a'), await begun('b')];
  for (let ms = 0; ms < leaseMs; ms += renewEveryMs) {
    clock.advance(renewEveryMs);
    const before = held(first);
    await second.look();
    expect(held(first) === 0 || held(second) === 0).toBe(true);
    expect(before).toBe(ms + renewEveryMs < leaseMs - renewEveryMs ? sharedTasks.length : 0);
  }
  expect(held(second)).toBe(sharedTasks.length);
  await first.look();
  expect(held(first)).toBe(0);
  expect(await second.watch.list()).toMatchObject([{ isAlive: true }, { isAlive: true, tasks: [...sharedTasks] }]);
});

test('replicas: a process that ends in order leaves its tasks at once', async () => {
  const { begun } = await processes();
  const [first, second] = [await begun('a'), await begun('b')];
  await first.watch.stop();
  await second.look();
  expect([held(first), held(second)]).toEqual([0, sharedTasks.length]);
  expect((await second.watch.list()).map(({ id }) => id)).toEqual(['b']);
});

test('replicas: a process over the journal of a dead one goes on with its tasks', async () => {
  const { begun } = await processes();
  await begun('a');
  expect(held(await begun('a'))).toBe(sharedTasks.length);
});

test('replicas: another configuration is reported once', async () => {
  const { begun } = await processes();
  const [first, second] = [await begun('a', 'one'), await begun('b', 'other')];
  await first.look();
  await first.look();
  expect(first.warnings).toEqual([{ others: ['host-b b'] }]);
  expect(second.warnings).toEqual([{ others: ['host-a a'] }]);
  expect(first.gauge('tracejury.replicas.configurations')).toEqual([2]);
});

test('replicas: a process that has the store for itself does every task, and writes no sign of life', async () => {
  const { begun } = await processes({ isShared: false });
  const only = await begun('a');
  expect(held(only)).toBe(sharedTasks.length);
  expect(await only.watch.list()).toMatchObject([{ id: 'a', isOwn: true, isAlive: true }]);
  expect([only.gauge('tracejury.replicas'), only.gauge('tracejury.replica.tasks')]).toEqual([[1], []]);
});

test('replicas: a clock that differs from that of the store is reported once, and is in the list', async () => {
  const { begun } = await processes();
  const [right, ahead, behind] = [await begun('a', 'same', 5_000), await begun('b', 'same', 300_000), await begun('c', 'same', -5_001)];
  await ahead.look();
  await ahead.look();
  expect([right, ahead, behind].map(({ warnings }) => warnings)).toEqual([[], [{ seconds: 300 }], [{ seconds: -5 }]]);
  expect((await right.watch.list()).map(({ skew }) => skew)).toEqual([5_000_000, 300_000_000, -5_001_000]);
});

test('replicas: a task that another process may have done in between has another tenure', async () => {
  const { clock, begun } = await processes();
  const [first, second] = [await begun('a'), await begun('b')];
  const before = first.watch.tenure('alerts');
  await first.look();
  expect([first.watch.tenure('alerts'), second.watch.tenure('alerts')]).toEqual([before, undefined]);
  clock.advance(leaseMs);
  expect(first.watch.tenure('alerts')).toBeUndefined();
  await second.look();
  await second.watch.stop();
  await first.look();
  expect(first.watch.tenure('alerts')).toBeGreaterThan(before ?? 0);
});

test('replicas: a store that takes no sign of life for 15 seconds is away, until it takes one', async () => {
  const { clock, begun, state } = await processes();
  const one = await begun('a');
  state.isAway = true;
  const seconds: (number | undefined)[] = [];
  for (let looks = 0; looks < 4; looks++) {
    clock.advance(renewEveryMs);
    await one.look();
    seconds.push(one.watch.storeAwaySeconds());
  }
  expect([seconds, one.faults.length]).toEqual([[undefined, undefined, 15, 20], 4]);
  state.isAway = false;
  await one.look();
  expect(one.watch.storeAwaySeconds()).toBeUndefined();
});
