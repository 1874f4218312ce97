/** The index of stored texts: its pace, and what a whole service finds by it. */
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { textIndexer } from '../../src/service/text-indexer.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

test('text indexer: does two steps a round, and none while it may not work or is off', async () => {
  const sleep = manualSleep();
  const state = { mayWork: true, isOn: true, steps: 0, left: 5 };
  const telemetry = metricRegistry();
  const indexer = textIndexer({
    store: {
      async indexTexts(options) {
        expect(options).toEqual({ runsMax: 50, charsMax: 700 });
        state.steps++;
        return { runs: 50, more: --state.left > 0 };
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
    store: { indexTexts: async () => (isFull ? Promise.reject(new Error('disk full')) : { runs: 0, more: false }) },
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

test('text indexer: a service finds words of stored texts, and none that redaction has removed', async () => {
  const service = await running('store: { url: "memory:", content: all }\nredact: [ { match: email } ]\n');
  onTestFinished(() => service.stop());
  const { traceId } = await sendAgentRun(service.otlp, { input: 'Refund order A-17 for ann@example.com' });
  const found = async (text: string): Promise<JsonObject> =>
    (await (await fetch(`${service.console}/api/v1/runs?text=${encodeURIComponent(text)}`)).json()) as JsonObject;
  const page = await eventually(async () => {
    const answer = await found('refund a-17');
    return (answer['runs'] as readonly JsonObject[]).length > 0 ? answer : undefined;
  }, 'the run by its words');
  expect(page).toMatchObject({ runs: [{ trace_id: traceId }], next: null, searched_to: null, unindexed: 0 });
  expect(await found('example.com')).toMatchObject({ runs: [] });
  expect(await found('refund nothing')).toMatchObject({ runs: [] });
  expect(sample(await service.metrics(), 'tracejury_store_indexed_total')).toBe(1);
});

test('text indexer: a service that indexes nothing says so', async () => {
  const service = await running('store: { url: "memory:", search: false }\n');
  onTestFinished(() => service.stop());
  const response = await fetch(`${service.console}/api/v1/runs?text=refund`);
  expect([response.status, await response.json()]).toMatchObject([400, { error: { message: 'The service indexes no texts.' } }]);
});
