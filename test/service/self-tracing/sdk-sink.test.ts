/** The SDK behind the spans of the service itself: the share that is sampled, the bound on what waits, faults, and the end. */
import { onTestFinished, expect, test } from 'vitest';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { manualClock, type Sleep } from '../../../src/model/clock.ts';
import { parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../../src/model/ids.ts';
import { sdkSink } from '../../../src/service/self-tracing/sdk-sink.ts';
import type { OwnSpan } from '../../../src/service/self-tracing/self-tracing.ts';
import { metricRegistry, type MetricRegistry } from '../../../src/telemetry/registry.ts';
import { otlpSink, readCarrier } from '../../exporters/otlp-sink.ts';

function traceIdOf(number: number): TraceId {
  // The bits that a sampler looks at differ from one id to the next.
  const id = parseTraceId((BigInt(number) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).slice(-32).padStart(32, '0'));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

function spanIdOf(number: number): SpanId {
  const id = parseSpanId(number.toString(16).padStart(16, '0'));
  if (id === undefined) throw new Error('no span id');
  return id;
}

function spanOf(number: number, more: Partial<OwnSpan> = {}): OwnSpan {
  return {
    traceId: traceIdOf(number),
    spanId: spanIdOf(number),
    name: 'close run',
    kind: 'internal',
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_000_250,
    attributes: {},
    links: [],
    events: [],
    ...more,
  };
}

/** Rests of a periodic task last until the end; a deadline passes when the test lets it. */
function manualSleep(): { readonly sleep: Sleep; readonly pass: (ms: number) => Promise<void> } {
  const resting = new Map<number, () => void>();
  return {
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms === 0 || signal?.aborted === true) return resolve();
        resting.set(ms, resolve);
        return signal?.addEventListener('abort', () => resolve());
      }),
    async pass(ms) {
      await settled();
      resting.get(ms)?.();
      await settled();
    },
  };
}

const every = 5_000;

function host(url: string, { exporter, sample = 1 }: { readonly exporter?: SpanExporter; readonly sample?: number } = {}) {
  const [telemetry, clock, time] = [metricRegistry(), manualClock(), manualSleep()];
  const faults: unknown[] = [];
  const sink = sdkSink({
    traces: { url, headers: { 'x-key': 'k' }, protocol: 'http/protobuf', sample },
    resource: { 'service.name': 'jury-of-shop', 'deployment.environment.name': 'test' },
    telemetry,
    clock,
    sleep: time.sleep,
    onFault: (error) => faults.push(error),
    ...(exporter === undefined ? {} : { exporter }),
  });
  onTestFinished(() => sink.stop(0));
  return { sink, telemetry, clock, faults, pass: time.pass };
}

function counted(telemetry: MetricRegistry): { readonly [outcome: string]: number } {
  const points = telemetry.snapshot().find(({ name }) => name === 'tracejury.own_spans')?.points ?? [];
  return Object.fromEntries(
    points.flatMap((point) => (point.kind === 'number' ? [[point.labels['tracejury.outcome'] ?? '', point.value] as const] : [])),
  );
}

/** Answers when the test does. */
function heldExporter(): SpanExporter & { readonly batches: ReadableSpan[][]; readonly answer: (error?: Error) => void } {
  const batches: ReadableSpan[][] = [];
  const waiting: ((error?: Error) => void)[] = [];
  return {
    batches,
    export(spans, done) {
      batches.push(spans);
      waiting.push((error) => done(error === undefined ? { code: 0 } : { code: 1, error }));
    },
    shutdown: async () => undefined,
    answer: (error) => waiting.shift()?.(error),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('sdk sink: a stop sends what waits, with ids, links, kind, status, resource and headers', async () => {
  const backend = await otlpSink();
  onTestFinished(() => backend.close());
  const { sink, telemetry } = host(`${backend.url}/v1/traces`);
  const link = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  sink.end(spanOf(1));
  sink.end(spanOf(1, { spanId: spanIdOf(2), parentSpanId: spanIdOf(1), kind: 'client', links: [link], fault: 'timeout' }));
  await sink.stop(10_000);
  const [first, second] = backend.received.map(readCarrier);
  expect(first?.span).toMatchObject({ traceId: traceIdOf(1), spanId: spanIdOf(1), kind: 1, startTimeUnixNano: '1700000000000000000' });
  expect(first?.span.parentSpanId ?? '').toBe('');
  expect(second?.span).toMatchObject({ traceId: traceIdOf(1), parentSpanId: spanIdOf(1), kind: 3, status: { code: 2 }, links: [link] });
  expect(second?.span.attributes).toEqual(
    expect.arrayContaining([
      { key: 'tracejury.generated', value: { boolValue: true } },
      { key: 'error.type', value: { stringValue: 'timeout' } },
    ]),
  );
  expect(first?.resource).toMatchObject({ 'service.name': 'jury-of-shop', 'deployment.environment.name': 'test' });
  expect(backend.received[0]?.headers['x-key']).toBe('k');
  expect(counted(telemetry)).toEqual({ sent: 2 });
});

const shares: readonly (readonly [share: number, least: number, most: number])[] = [
  [0, 0, 0],
  [0.01, 60, 140],
  [0.25, 2_350, 2_650],
  [1, 10_000, 10_000],
];
test.each(shares)(
  'sdk sink: of 10,000 seeded traces a share of %f takes between %i and %i, each time the same ones',
  (sample, least, most) => {
    const ids = Array.from({ length: 10_000 }, (_, at) => traceIdOf(at + 1));
    const taken = (): readonly TraceId[] => ids.filter(host('http://127.0.0.1:9', { sample, exporter: heldExporter() }).sink.isSampled);
    expect(taken().length).toBeGreaterThanOrEqual(least);
    expect(taken().length).toBeLessThanOrEqual(most);
    expect(taken()).toEqual(taken());
  },
);

test('sdk sink: a larger share takes all that a smaller one takes', () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => traceIdOf(at + 1));
  const [less, more] = [0.1, 0.5].map((sample) => host('http://127.0.0.1:9', { sample, exporter: heldExporter() }).sink);
  expect(ids.filter((id) => less?.isSampled(id) === true && more?.isSampled(id) !== true)).toEqual([]);
});

test('sdk sink: beyond 2,048 spans that wait, later ones are dropped and counted', async () => {
  const exporter = heldExporter();
  const { sink, telemetry, pass } = host('', { exporter });
  for (let number = 1; number <= 2_050; number++) sink.end(spanOf(number));
  expect(counted(telemetry)).toEqual({ dropped: 2 });
  await pass(every);
  expect(exporter.batches.map(({ length }) => length)).toEqual([512]);
});

test('sdk sink: a backend that takes nothing costs a counter and one line a minute', async () => {
  const exporter = heldExporter();
  const { sink, telemetry, clock, faults, pass } = host('', { exporter });
  for (let minute = 0; minute < 4; minute++) {
    sink.end(spanOf(minute + 1));
    await pass(every);
    exporter.answer(new Error('ECONNREFUSED'));
    await settled();
    clock.advance(20_000);
  }
  expect(counted(telemetry)).toEqual({ failed: 4 });
  expect(faults).toHaveLength(2);
});

test('sdk sink: a stop does not wait for a backend that took nothing the last time, and counts what it leaves', async () => {
  const exporter = heldExporter();
  const { sink, telemetry, pass } = host('', { exporter });
  sink.end(spanOf(1));
  await pass(every);
  exporter.answer(new Error('ECONNREFUSED'));
  await settled();
  sink.end(spanOf(2));
  await sink.stop(10_000);
  expect(exporter.batches).toHaveLength(1);
  expect(counted(telemetry)).toEqual({ failed: 1, dropped: 1 });
});

test('sdk sink: a stop ends at its deadline while the backend is silent, and counts what it leaves once', async () => {
  const exporter = heldExporter();
  const { sink, telemetry, pass } = host('', { exporter });
  sink.end(spanOf(1));
  const stopped = sink.stop(2_000);
  await pass(2_000);
  await stopped;
  exporter.answer();
  sink.end(spanOf(2));
  await settled();
  expect(counted(telemetry)).toEqual({ dropped: 2 });
});

test('sdk sink: an exporter that throws costs the batch, and the next one is sent', async () => {
  let isBroken = true;
  const sent: number[] = [];
  const exporter: SpanExporter = {
    export(spans, done) {
      if (isBroken) throw new Error('broken');
      sent.push(spans.length);
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
  const { sink, telemetry, pass } = host('', { exporter });
  sink.end(spanOf(1));
  await pass(every);
  isBroken = false;
  sink.end(spanOf(2));
  await pass(every);
  expect([sent, counted(telemetry)]).toEqual([[1], { failed: 1, sent: 1 }]);
});
