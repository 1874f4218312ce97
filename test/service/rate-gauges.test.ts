/** Rates and agreement as gauges. */
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { figures } from '../../src/service/rate-gauges.ts';
import { memoryStore } from '../builders/memory-store.ts';
import type { StoreItem } from '../../src/model/store/store.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { metricRegistry, type MetricFamily } from '../../src/telemetry/registry.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { evaluation, run, scored } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';

type Snapshot = readonly MetricFamily[];

/** The value of the first sample with these labels. */
function sample(of: Snapshot, metric: MetricName, labels: { readonly [label: string]: string } = {}): number | undefined {
  const point = of
    .find(({ name }) => name === metric)
    ?.points.find((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value));
  return point?.kind === 'number' ? point.value : undefined;
}

const nowMs = 1_700_000_600_000;

function item(number: number, passes: boolean): StoreItem {
  const own = run({ traceId: traceId(number), trace: agentTrace({ agent: number % 2 === 0 ? 'even' : 'odd' }) });
  return {
    run: own,
    evaluations: [
      evaluation('done', scored(passes ? 1 : 0), own, { evaluatorKind: 'judge', sampleProbability: 0.5 }),
      evaluation('tool_error', scored(1), own),
    ],
    decisions: [{ name: 'done', evaluator: 'done', evaluatorKind: 'judge', decision: 'scored' }],
  };
}

test('figures: gauges hold the values of the store, and change with it', async () => {
  const [store, telemetry, clock, sleep] = [await memoryStore(), metricRegistry(), manualClock(nowMs), manualSleep()];
  await store.write(Array.from({ length: 100 }, (_, at) => item(at + 1, at % 10 !== 0)));
  const own = figures({ store, telemetry, clock, sleep: sleep.sleep, onFault: (error) => expect.unreachable(String(error)) });
  const turn = async (): Promise<Snapshot> => {
    while (sleep.asleep() === 0) await new Promise((resolve) => setImmediate(resolve));
    return telemetry.snapshot();
  };
  const done = { 'gen_ai.evaluation.name': 'done', 'gen_ai.agent.name': '' };
  const first = await turn();
  expect(sample(first, 'tracejury.rate', { ...done, 'tracejury.corrected': 'false', 'tracejury.bound': 'point' })).toBeCloseTo(0.9, 10);
  expect(sample(first, 'tracejury.rate', { ...done, 'tracejury.bound': 'low' })).toBeLessThan(0.9);
  expect(sample(first, 'tracejury.rate', { ...done, 'tracejury.bound': 'high' })).toBeGreaterThan(0.9);
  expect(sample(first, 'tracejury.rate', { ...done, 'gen_ai.agent.name': 'odd', 'tracejury.bound': 'point' })).toBeCloseTo(0.8, 10);
  expect([
    sample(first, 'tracejury.rate.runs', done),
    sample(first, 'tracejury.rate.labels', done),
    sample(first, 'tracejury.rate.uncovered', done),
  ]).toEqual([100, 0, 0]);
  expect(sample(first, 'tracejury.rate', { 'gen_ai.evaluation.name': 'tool_error' })).toBeUndefined();
  expect(sample(first, 'tracejury.judge.agreement')).toBeUndefined();

  await store.annotations.write(
    Array.from({ length: 100 }, (_, at) => ({
      tenant: undefined,
      traceId: traceId(at + 1),
      spanId: undefined,
      name: 'done',
      by: 'ann',
      kind: 'human' as const,
      label: undefined,
      score: undefined,
      passed: at % 5 !== 0,
      explanation: '',
      at: 0,
      probability: 1,
    })),
    0,
  );
  await sleep.wakeAll();
  const second = await turn();
  expect(sample(second, 'tracejury.rate', { ...done, 'tracejury.corrected': 'true', 'tracejury.bound': 'point' })).toBeCloseTo(0.8, 6);
  expect(sample(second, 'tracejury.rate', { ...done, 'tracejury.corrected': 'false' })).toBeUndefined();
  expect(sample(second, 'tracejury.rate.judged', { ...done, 'tracejury.bound': 'point' })).toBeCloseTo(0.9, 10);
  expect(sample(second, 'tracejury.judge.agreement', { 'tracejury.figure': 'recall', 'tracejury.bound': 'point' })).toBeCloseTo(0.5, 10);
  expect(sample(second, 'tracejury.judge.agreement', { 'tracejury.figure': 'precision', 'tracejury.bound': 'point' })).toBe(1);

  clock.advance(2 * 86_400_000);
  await sleep.wakeAll();
  const third = await turn();
  expect([sample(third, 'tracejury.rate', done), sample(third, 'tracejury.rate.runs', done)]).toEqual([undefined, 0]);
  const stopped = own.stop();
  await sleep.wakeAll();
  await stopped;
});

test('figures: a store that cannot be asked is reported, and asked again', async () => {
  const [store, sleep, faults] = [await memoryStore(), manualSleep(), [] as unknown[]];
  const fail = { on: true };
  const verdicts = {
    ...store.verdicts,
    evaluators: async () => (fail.on ? Promise.reject(new Error('locked')) : store.verdicts.evaluators()),
  };
  const own = figures({
    store: { verdicts, annotations: store.annotations },
    telemetry: metricRegistry(),
    clock: manualClock(nowMs),
    sleep: sleep.sleep,
    onFault: (error) => faults.push(error),
  });
  const turn = async (): Promise<void> => {
    while (sleep.asleep() === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  await turn();
  expect(faults).toHaveLength(1);
  fail.on = false;
  await sleep.wakeAll();
  await turn();
  expect(faults).toHaveLength(1);
  const stopped = own.stop();
  await sleep.wakeAll();
  await stopped;
});
