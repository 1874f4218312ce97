import { afterEach, expect, test } from 'vitest';
import type { ExporterConfig } from '../../src/config/config.ts';
import { manualClock } from '../../src/model/clock.ts';
import { sleep } from '../../src/service/node-runtime.ts';
import { metricsPushing, type MetricsPushing } from '../../src/service/metrics-pushing.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { metricsSink } from '../exporters/metrics-sink.ts';
import { eventually } from './running.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function bench(sleeping = manualSleep().sleep) {
  const clock = manualClock();
  const telemetry = metricRegistry({ clock });
  const lines: string[] = [];
  const say = (...given: readonly unknown[]): void => void lines.push(String(given.at(-1)));
  const pushing: MetricsPushing = metricsPushing({
    snapshot: telemetry.snapshot,
    telemetry,
    clock,
    sleep: sleeping,
    logger: { warn: say, info: say } as never,
    instance: '4318',
  });
  open.push({ close: () => pushing.stop(0) });
  return { telemetry, lines, pushing, clock };
}

async function backend(answer?: Parameters<typeof metricsSink>[0]) {
  const sink = await metricsSink(answer);
  open.push(sink);
  return sink;
}

const entries = (url: string): readonly ExporterConfig[] => [
  { to: 'metrics', name: 'metrics', push: { url, headers: {}, intervalMs: 30_000, temporality: 'cumulative' } },
];
const spans = (sink: Awaited<ReturnType<typeof backend>>) =>
  sink.pushed.map(({ metrics }) => metrics.find(({ name }) => name === 'tracejury.spans.own')?.sum?.dataPoints[0]?.asDouble);
const pushes = (telemetry: ReturnType<typeof bench>['telemetry']) =>
  (telemetry.snapshot().find(({ name }) => name === 'tracejury.metrics.pushes')?.points ?? []).map((point) => [
    point.labels['tracejury.outcome'],
    point.labels['tracejury.reason'],
    point.kind === 'number' ? point.value : 0,
  ]);

test('metrics-pushing: pushes at once, after each interval, and once more at the stop', async () => {
  const timer = manualSleep();
  const { telemetry, pushing } = bench(timer.sleep);
  const sink = await backend();
  pushing.place(entries(sink.url));
  await eventually(async () => (timer.asleep() === 1 ? true : undefined), 'the first push');
  telemetry.add('tracejury.spans.own', 3);
  await timer.wakeAll();
  await eventually(async () => (sink.pushed.length === 2 && timer.asleep() === 1 ? true : undefined), 'the second push');
  telemetry.add('tracejury.spans.own', 4);
  await pushing.stop(10_000);
  expect(spans(sink)).toEqual([0, 3, 7]);
  expect(timer.slept.slice(0, 2)).toEqual([30_000, 30_000]);
  expect(pushes(telemetry)).toEqual([['sent', '', 3]]);
  expect(sink.pushed[0]?.resource).toMatchObject({ 'service.name': 'tracejury', 'service.instance.id': expect.stringMatching(/\/4318$/) });
});

test('metrics-pushing: failures are counted, and reported when they begin and when they end', async () => {
  const timer = manualSleep();
  const { telemetry, pushing, lines, clock } = bench(timer.sleep);
  const sink = await backend((response, at) => void response.writeHead(at < 2 ? 503 : 200).end());
  pushing.place(entries(sink.url));
  for (let pushed = 1; pushed < 4; pushed++) {
    await eventually(async () => (sink.pushed.length === pushed && timer.asleep() === 1 ? true : undefined), `push ${pushed}`);
    await timer.wakeAll();
  }
  await pushing.stop(10_000);
  expect(pushes(telemetry)).toEqual([
    ['failed', 'http_503', 2],
    ['sent', '', 3],
  ]);
  expect(lines).toEqual(['metrics could not be pushed', 'metrics are pushed again']);
  const lastFailure = { atMs: clock.nowMs(), error: 'status 503', reason: 'http_503', todo: 'The backend has a fault: try again later.' };
  expect(pushing.statuses()).toEqual([
    {
      name: 'metrics',
      kind: 'metrics',
      isConfigured: true,
      status: { sends: 'metrics', fault: undefined, sentAtMs: clock.nowMs(), lastFailure },
    },
  ]);
  const pushed = telemetry.snapshot().find(({ name }) => name === 'tracejury.metrics.pushed')?.points;
  expect(pushed).toMatchObject([{ value: clock.nowMs() / 1_000 }]);
});

test('metrics-pushing: a backend that does not answer holds a stop up no longer than it may', async () => {
  const { pushing } = bench(sleep);
  const sink = await backend(() => undefined);
  pushing.place(entries(sink.url));
  await eventually(async () => (sink.pushed.length === 1 ? true : undefined), 'a push without an answer');
  const from = performance.now();
  await pushing.stop(50);
  expect(performance.now() - from).toBeLessThan(5_000);
});

test('metrics-pushing: another backend takes the place of one, which gets what is left; without any nothing is pushed', async () => {
  const { telemetry, pushing } = bench();
  const [first, second] = [await backend(), await backend()];
  pushing.place(entries(first.url));
  await eventually(async () => (first.pushed.length === 1 ? true : undefined), 'the first push');
  telemetry.add('tracejury.spans.own', 5);
  pushing.place(entries(first.url));
  pushing.place(entries(second.url));
  await eventually(async () => (first.pushed.length === 2 && second.pushed.length === 1 ? true : undefined), 'both');
  expect([spans(first), spans(second)]).toEqual([[0, 5], [5]]);
  pushing.place([{ to: 'metrics', name: 'metrics' }]);
  await eventually(async () => (second.pushed.length === 2 ? true : undefined), 'the last one');
});

test('metrics-pushing: the report is about the backend that is pushed to now', async () => {
  const { pushing } = bench();
  const [first, second] = [await backend((response) => void response.writeHead(503).end()), await backend()];
  const told = () => pushing.statuses().map(({ status: { fault, sentAtMs } }) => [fault, sentAtMs !== undefined]);
  expect(told()).toEqual([]);
  pushing.place(entries(first.url));
  await eventually(() => (told()[0]?.[0] === undefined ? undefined : true), 'a failure');
  pushing.place(entries(first.url));
  expect(told()).toEqual([['status 503', false]]);
  pushing.place(entries(second.url));
  await eventually(() => (told()[0]?.[1] === true ? true : undefined), 'a push');
  expect(told()).toEqual([[undefined, true]]);
  pushing.place([{ to: 'metrics', name: 'metrics' }]);
  expect(told()).toEqual([]);
});
