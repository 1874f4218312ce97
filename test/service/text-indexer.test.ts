/** The pace of the index of stored texts. */
import { expect, test } from 'vitest';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { textIndexer } from '../../src/service/text-indexer.ts';
import { manualSleep } from '../builders/manual-sleep.ts';

test('text indexer: does two steps a round, and none while it may not work or is off', async () => {
  const sleep = manualSleep();
  const state = { mayWork: true, isOn: true, steps: 0, left: 5 };
  const telemetry = metricRegistry();
  const indexer = textIndexer({
    store: {
      async indexTexts(options) {
        expect(options).toEqual({ runsMax: 50, charsMax: 700 });
        state.steps++;
        return { runs: 50, cut: 1, more: --state.left > 0 };
      },
    },
    search: () => ({ isOn: state.isOn, charsMax: 700 }),
    mayWork: () => state.mayWork,
    telemetry,
    sleep: sleep.sleep,
    onFault: (error) => {
      throw error;
    },
  });
  const stepsAfterRound = async (): Promise<number> => {
    await sleep.wakeOf(1_000);
    for (let rests = 0; rests < 5; rests++) await sleep.wakeOf(20);
    return state.steps;
  };
  expect([await stepsAfterRound(), await stepsAfterRound(), await stepsAfterRound()]).toEqual([2, 4, 5]);
  expect(await stepsAfterRound()).toBe(6);
  state.mayWork = false;
  expect(await stepsAfterRound()).toBe(6);
  [state.mayWork, state.isOn] = [true, false];
  expect(await stepsAfterRound()).toBe(6);
  await indexer.stop();
});

test('text indexer: rests longer after a fault, until a step is done', async () => {
  const sleep = manualSleep();
  let isFull = true;
  const faults: unknown[] = [];
  const indexer = textIndexer({
    store: { indexTexts: async () => (isFull ? Promise.reject(new Error('disk full')) : { runs: 0, cut: 0, more: false }) },
    search: () => ({ isOn: true, charsMax: 700 }),
    mayWork: () => true,
    telemetry: metricRegistry(),
    sleep: sleep.sleep,
    onFault: (error) => faults.push(error),
  });
  await sleep.wakeAll();
  await sleep.wakeAll();
  isFull = false;
  await sleep.wakeAll();
  await sleep.wakeAll();
  expect(sleep.slept).toEqual([1_000, 30_000, 30_000, 1_000, 1_000]);
  expect(faults).toHaveLength(2);
  await indexer.stop();
});
