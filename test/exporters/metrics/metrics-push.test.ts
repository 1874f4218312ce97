import { afterEach, expect, test } from 'vitest';
import { metricsPush, type MetricsPush, type MetricsPushOptions } from '../../../src/exporters/metrics/metrics-push.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { metricRows } from '../../../src/telemetry/metrics.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { metricsResponse } from '../../otlp/descriptors.ts';
import { labelsOf, metricsSink, type MetricsPushed, type MetricsSink } from '../metrics-sink.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const startMs = 1_700_000_000_000;

async function bench(settings: Partial<MetricsPushOptions> = {}, answer?: Parameters<typeof metricsSink>[0]) {
  const sink: MetricsSink = await metricsSink(answer);
  const clock = manualClock(startMs);
  const registry = metricRegistry({ clock });
  const client: MetricsPush = metricsPush({
    url: sink.url,
    headers: { 'x-key': 'k' },
    temporality: 'cumulative',
    resource: { 'service.name': 'tracejury' },
    snapshot: registry.snapshot,
    clock,
    startMs,
    timeoutMs: 60_000,
    ...settings,
  });
  open.push({ close: async () => client.stop() }, sink);
  return { sink, clock, registry, client };
}

const metric = (pushed: MetricsPushed | undefined, name: string) => pushed?.metrics.find((one) => one.name === name);
const nano = (ms: number) => `${ms}000000`;

test('metrics-push: every metric that has counted goes under its name, unit and meaning, as a cumulative value since the start', async () => {
  const { sink, clock, registry, client } = await bench();
  registry.add('tracejury.runs', 2, { 'gen_ai.agent.name': 'a', 'tracejury.completeness': 'complete' });
  registry.set('tracejury.open.traces', 7);
  clock.advance(1_000);
  registry.record(
    'tracejury.evaluation.score',
    0,
    { 'gen_ai.evaluation.name': 'e' },
    { trace_id: 'ab'.repeat(16), span_id: 'cd'.repeat(8) },
  );
  registry.record('tracejury.evaluation.score', 0.95, { 'gen_ai.evaluation.name': 'e' });
  clock.advance(1_000);
  expect(await client.push()).toEqual({ outcome: 'sent' });

  const [pushed] = sink.pushed;
  expect(pushed).toMatchObject({
    path: '/v1/metrics',
    headers: { 'content-type': 'application/x-protobuf', 'x-key': 'k' },
    resource: { 'service.name': 'tracejury' },
    scope: 'tracejury',
  });
  for (const { name, unit, description } of pushed?.metrics ?? [])
    expect({ unit, description }).toEqual({ unit: metricRows[name]?.unit, description: metricRows[name]?.meaning });
  const runs = metric(pushed, 'tracejury.runs')?.sum;
  expect(runs).toMatchObject({
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [{ asDouble: 2, startTimeUnixNano: nano(startMs), timeUnixNano: nano(startMs + 2_000) }],
  });
  // An empty label is the same as none.
  expect(labelsOf(runs?.dataPoints[0]?.attributes)).toEqual({ 'gen_ai.agent.name': 'a', 'tracejury.completeness': 'complete' });
  expect(metric(pushed, 'tracejury.open.traces')?.gauge?.dataPoints).toEqual([{ asDouble: 7, timeUnixNano: nano(startMs + 2_000) }]);
  const scores = metric(pushed, 'tracejury.evaluation.score')?.histogram;
  const bounds = metricRows['tracejury.evaluation.score']?.buckets ?? [];
  expect(scores).toMatchObject({ aggregationTemporality: 2, dataPoints: [{ count: '2', sum: 0.95, explicitBounds: bounds }] });
  expect(scores?.dataPoints[0]?.bucketCounts).toEqual([...bounds, Infinity].map((edge) => (edge === 0 || edge === 0.99 ? '1' : '0')));
  expect(scores?.dataPoints[0]?.exemplars).toEqual([
    {
      traceId: Buffer.from('ab'.repeat(16), 'hex'),
      spanId: Buffer.from('cd'.repeat(8), 'hex'),
      asDouble: 0,
      timeUnixNano: nano(startMs + 1_000),
    },
  ]);
});

test('metrics-push: an exemplar that the backend has is not sent again, one that it did not take is', async () => {
  const { sink, clock, registry, client } = await bench({}, (response, at) => void response.writeHead(at === 0 ? 503 : 200).end());
  clock.advance(10);
  registry.record('tracejury.evaluation.score', 0, {}, { trace_id: 'ab'.repeat(16), span_id: 'cd'.repeat(8) });
  const exemplars = (): number[] =>
    sink.pushed.map((pushed) => metric(pushed, 'tracejury.evaluation.score')?.histogram?.dataPoints[0]?.exemplars?.length ?? 0);
  for (let at = 0; at < 3; at++) {
    clock.advance(10);
    await client.push();
  }
  expect(exemplars()).toEqual([1, 1, 0]);
});

test('metrics-push: deltas count from the values that the backend has taken, so that nothing is lost or counted twice', async () => {
  const { sink, clock, registry, client } = await bench(
    { temporality: 'delta' },
    (response, at) => void response.writeHead(at === 1 ? 429 : 200).end(),
  );
  const counted = (value: number): void => {
    registry.add('tracejury.spans.own', value);
    registry.record('tracejury.store.write.duration', value);
    clock.advance(1_000);
  };
  for (const value of [1, 2, 4]) {
    counted(value);
    await client.push();
  }
  await client.push();
  const sums = sink.pushed
    .map((pushed) => metric(pushed, 'tracejury.spans.own')?.sum)
    .map((sum) =>
      sum === undefined
        ? undefined
        : { value: sum.dataPoints[0]?.asDouble, from: sum.dataPoints[0]?.startTimeUnixNano, temporality: sum.aggregationTemporality },
    );
  expect(sums).toEqual([
    { value: 1, from: nano(startMs), temporality: 1 },
    { value: 2, from: nano(startMs + 1_000), temporality: 1 },
    { value: 6, from: nano(startMs + 1_000), temporality: 1 },
    undefined,
  ]);
  expect(sink.pushed.map((pushed) => metric(pushed, 'tracejury.store.write.duration')?.histogram?.dataPoints[0]?.sum)).toEqual([
    1,
    2,
    6,
    undefined,
  ]);
});

test('metrics-push: deltas of a backend that comes later begin where it comes', async () => {
  const { sink, clock, registry } = await bench();
  registry.add('tracejury.spans.own', 5);
  const late = metricsPush({
    url: sink.url,
    headers: {},
    temporality: 'delta',
    resource: {},
    snapshot: registry.snapshot,
    clock,
    startMs,
    timeoutMs: 60_000,
    fromNow: true,
  });
  registry.add('tracejury.spans.own', 2);
  await late.push();
  late.stop();
  expect(metric(sink.pushed[0], 'tracejury.spans.own')?.sum?.dataPoints).toMatchObject([{ asDouble: 2 }]);
});

test('metrics-push: many values go in several requests, each of them once', async () => {
  const { sink, registry, client } = await bench({ pointsMax: 40 });
  for (let at = 0; at < 100; at++) registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': `a${at}` });
  expect(await client.push()).toEqual({ outcome: 'sent' });
  expect(sink.pushed.length).toBeGreaterThan(2);
  const sizes = sink.pushed.map(
    ({ metrics }) => metrics.flatMap(({ gauge, sum, histogram }) => (gauge ?? sum ?? histogram)?.dataPoints ?? []).length,
  );
  expect(Math.max(...sizes)).toBe(40);
  const agents = sink.pushed
    .flatMap((pushed) => metric(pushed, 'tracejury.runs')?.sum?.dataPoints ?? [])
    .map(({ attributes }) => labelsOf(attributes)['gen_ai.agent.name']);
  expect(new Set(agents).size).toBe(100);
  expect(agents).toHaveLength(100);
});

for (const { name, answer, outcome } of [
  {
    name: 'takes only some of the values',
    answer: { status: 200, body: metricsResponse.encode({ partialSuccess: { rejectedDataPoints: 3 } }) },
    outcome: { outcome: 'rejected' },
  },
  { name: 'answers with something that is not OTLP', answer: { status: 200, body: Buffer.from('<html>') }, outcome: { outcome: 'sent' } },
  {
    name: 'does not know the path',
    answer: { status: 404, body: Buffer.alloc(0) },
    outcome: {
      outcome: 'failed',
      reason: 'http_404',
      fault: 'status 404',
      todo: 'Look at the endpoint: there is no such interface at it.',
    },
  },
  {
    name: 'does not know the key',
    answer: { status: 401, body: Buffer.alloc(0) },
    outcome: {
      outcome: 'failed',
      reason: 'http_401',
      fault: 'status 401: a key in headers is refused',
      todo: expect.stringContaining('keys') as string,
    },
  },
  {
    name: 'has a page for people at every path',
    answer: { status: 200, type: 'text/html', body: Buffer.from('<html>') },
    outcome: {
      outcome: 'failed',
      reason: 'page',
      fault: 'status 200: a page of HTML',
      todo: expect.stringContaining('endpoint') as string,
    },
  },
]) {
  test(`metrics-push: a backend that ${name} is heard`, async () => {
    const { client } = await bench(
      {},
      (response) =>
        void response
          .writeHead(answer.status, { 'content-type': 'type' in answer ? answer.type : 'application/x-protobuf' })
          .end(answer.body),
    );
    expect(await client.push()).toEqual(outcome);
  });
}

test('metrics-push: a backend that never answers is left after the time limit', async () => {
  const { client } = await bench({ timeoutMs: 50 }, () => undefined);
  expect(await client.push()).toMatchObject({ outcome: 'failed', reason: 'timeout', fault: 'no answer within 50 ms' });
});
