/** The sums over runs, brought up to date under a manual clock on a real store. */
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { RefreshOptions, VersionStore } from '../../src/model/store/version-store.ts';
import { versionUpkeep } from '../../src/service/version-upkeep.ts';
import { spanId } from '../builders/agent-trace.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

const startMs = 1_795_651_200_000;
const [minuteMs, hourMs] = [60_000, 3_600_000];

interface Options {
  /** The work of one step. */
  readonly stepMs?: number;
  readonly mayWork?: boolean;
}

async function upkeepOf({ stepMs = 0, mayWork = true }: Options = {}) {
  const store = await memoryStore();
  const [clock, rest] = [manualClock(startMs), manualSleep()];
  const steps: RefreshOptions[] = [];
  const versions: VersionStore = {
    ...store.versions,
    async refresh(options) {
      steps.push(options);
      clock.advance(stepMs);
      return await store.versions.refresh(options);
    },
  };
  const upkeep = versionUpkeep({
    store: { versions },
    keepMs: () => 30 * 24 * hourMs,
    mayWork: () => mayWork,
    clock,
    sleep: rest.sleep,
    onFault(error) {
      throw error;
    },
  });
  let last = 0;
  return {
    clock,
    rest,
    steps,
    upkeep,
    /** One run for each of these ages. */
    async runs(...agesMs: readonly number[]): Promise<void> {
      await store.write(
        agesMs.map((ageMs) => {
          const startUnixNano = BigInt(startMs - ageMs) * 1_000_000n;
          return scoredRun({ e: scored(1) }, run({ spanId: spanId(++last), startUnixNano, endUnixNano: startUnixNano + 1_000_000n }));
        }),
      );
    },
    counted: async (): Promise<number> => (await store.versions.figures({ kinds: ['run'] })).reduce((sum, { runs }) => sum + runs, 0),
  };
}

const agesOf = (count: number, firstMs: number): readonly number[] => Array.from({ length: count }, (_, at) => firstMs + at * hourMs);

test('a look sums what has changed, however old it is', async () => {
  const { upkeep, runs, counted } = await upkeepOf();
  await runs(minuteMs, ...agesOf(20, 3 * hourMs));
  expect(await upkeep.refresh()).toBe(true);
  expect(await counted()).toBe(21);
});

test('with more changes than a look has steps for, it sums the last two hours and reports that some are left', async () => {
  const { upkeep, runs, counted } = await upkeepOf();
  await runs(minuteMs, hourMs, ...agesOf(40, 3 * hourMs));
  expect(await upkeep.refresh()).toBe(false);
  expect(await counted()).toBe(2);
});

test('a look at unchanged runs takes no step', async () => {
  const { upkeep, runs, steps } = await upkeepOf();
  await runs(minuteMs);
  await upkeep.refresh();
  const before = steps.length;
  expect(await upkeep.refresh()).toBe(true);
  expect(steps).toHaveLength(before);
});

test('behind a look that took long, the next looks use its sums for four times as long', async () => {
  const { upkeep, runs, counted, clock } = await upkeepOf({ stepMs: 200 });
  await runs(minuteMs);
  expect(await upkeep.refresh()).toBe(true);
  await runs(minuteMs);
  clock.advance(799);
  expect([await upkeep.refresh(), await counted()]).toEqual([false, 1]);
  clock.advance(1);
  expect([await upkeep.refresh(), await counted()]).toEqual([true, 2]);
});

test('looks at the same time share one, which has what was written before any of them', async () => {
  const { upkeep, runs, counted, steps } = await upkeepOf();
  await runs(minuteMs);
  const first = upkeep.refresh();
  await runs(minuteMs, 2 * hourMs);
  const others = [upkeep.refresh(), upkeep.refresh(), upkeep.refresh()];
  expect(await Promise.all([first, ...others])).toEqual([true, true, true, true]);
  expect(await counted()).toBe(3);
  expect(steps.length).toBeLessThanOrEqual(4);
});

test('a look that fails does not fail the next one', async () => {
  const { upkeep, runs, clock } = await upkeepOf();
  await runs(minuteMs);
  const now = clock.nowMs;
  Object.assign(clock, {
    nowMs() {
      throw new Error('no clock');
    },
  });
  await expect(upkeep.refresh()).rejects.toThrow('no clock');
  Object.assign(clock, { nowMs: now });
  expect(await upkeep.refresh()).toBe(true);
});

test.each([
  ['all of a backlog in one round while the service is calm', true, 200, 200],
  ['a bounded part of a backlog while it is not', false, 120, 130],
])('sums %s', async (_, mayWork, least, most) => {
  const { upkeep, runs, rest, counted } = await upkeepOf({ mayWork, stepMs: 10 });
  await runs(...agesOf(200, 3 * hourMs));
  const task = upkeep.start();
  onTestFinished(() => task.stop());
  await rest.wakeAll();
  // The rest of a minute comes only between two rounds.
  while (rest.slept.filter((ms) => ms === minuteMs).length < 2) {
    await rest.wakeOf(30);
    await settled();
  }
  expect(await counted()).toBeGreaterThanOrEqual(least);
  expect(await counted()).toBeLessThanOrEqual(most);
});

test.each([
  ['begins the next round at once while the service is calm', true, 41],
  ['leaves it to the next rounds while the service is not', false, 1],
])('a look that leaves some %s', async (_, mayWork, sums) => {
  const { upkeep, runs, rest, counted } = await upkeepOf({ mayWork });
  const task = upkeep.start();
  onTestFinished(() => task.stop());
  await runs(minuteMs, ...agesOf(40, 3 * hourMs));
  expect(await upkeep.refresh()).toBe(false);
  // The rest of a minute that the start began with, and the one after the round.
  while (mayWork && rest.slept.filter((ms) => ms === minuteMs).length < 2) {
    await rest.wakeOf(20);
    await settled();
  }
  await settled();
  expect([await counted(), await upkeep.refresh()]).toEqual([sums, sums === 41]);
});
