/** What the service says of itself, at a tracing backend on loopback. */
import { onTestFinished, expect, test } from 'vitest';
import { otlpSink, readCarrier, type Sink, type SinkSpan } from '../../exporters/otlp-sink.ts';
import { eventually, running, sendAgentRun, type Running } from '../running.ts';

interface Watched {
  readonly of: Running;
  readonly backend: Sink;
  /** Spans of the service that have arrived. */
  readonly spans: () => readonly SinkSpan[];
}

async function watched(more: string, yaml = ''): Promise<Watched> {
  const backend = await otlpSink();
  onTestFinished(() => backend.close());
  const of = await running(`telemetry: { traces: { exporter: otlp, endpoint: "${backend.url}", ${more} } }\n${yaml}`);
  onTestFinished(() => of.stop());
  return { of, backend, spans: () => backend.received.map((one) => readCarrier(one).span) };
}

const textOf = (span: SinkSpan, key: string): string | undefined => span.attributes.find((one) => one.key === key)?.value.stringValue;

test('self-tracing: a run has a trace with its close, its batch of the store and its export, each with a link to the agent', async () => {
  const scores = await otlpSink();
  onTestFinished(() => scores.close());
  const { of, spans } = await watched('sample: 1', `export: [ { to: span_events, endpoint: "${scores.url}" } ]\n`);
  const { traceId, spanId } = await sendAgentRun(of.otlp, { agent: 'travel-agent', input: 'a secret wish' });
  await eventually(() => scores.received.length > 0 || undefined, 'the scores');
  await of.stop();
  const names = spans().map(({ name }) => name);
  expect(new Set(names)).toEqual(new Set(['ingest traces', 'close run', 'store write', 'export span_events']));
  const close = spans().find(({ name }) => name === 'close run');
  const below = spans().filter(({ name }) => name === 'store write' || name === 'export span_events');
  expect(below.map((span) => [span.traceId, span.parentSpanId])).toEqual(below.map(() => [close?.traceId, close?.spanId]));
  expect(close).toMatchObject({ links: [{ traceId, spanId }] });
  expect(below.every(({ links }) => JSON.stringify(links) === JSON.stringify(close?.links))).toBe(true);
  expect(close === undefined ? undefined : textOf(close, 'tracejury.target.agent.name')).toBe('travel-agent');
  expect(
    spans().every(({ attributes }) => attributes.some(({ key, value }) => key === 'tracejury.generated' && value.boolValue === true)),
  ).toBe(true);
  expect(JSON.stringify(spans())).not.toContain('secret');
});

test('self-tracing: an export that fails is told with its kind, and the trace goes on', async () => {
  const scores = await otlpSink((response) => void response.writeHead(400).end());
  onTestFinished(() => scores.close());
  const { of, spans } = await watched('sample: 1', `export: [ { to: span_events, endpoint: "${scores.url}" } ]\n`);
  await sendAgentRun(of.otlp);
  await eventually(() => scores.received.length > 0 || undefined, 'an attempt');
  await of.stop();
  const failed = spans().find(({ name }) => name === 'export span_events');
  expect([failed?.status?.code, failed === undefined ? undefined : typeof textOf(failed, 'error.type')]).toEqual([2, 'string']);
});

test('self-tracing: spans of its own that come back make no run and no further span', async () => {
  const first = await watched('sample: 1');
  await sendAgentRun(first.of.otlp);
  await runsOf(first.of);
  await first.of.stop();
  expect(first.spans().length).toBeGreaterThan(2);
  const second = await watched('sample: 1');
  for (const { body } of first.backend.received)
    await fetch(`${second.of.otlp}/v1/traces`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/x-protobuf' },
    });
  await second.of.stop();
  expect(second.spans()).toEqual([]);
});

test('self-tracing: a share of nothing sends nothing', async () => {
  const { of, backend } = await watched('sample: 0');
  await sendAgentRun(of.otlp);
  await runsOf(of);
  await of.stop();
  expect(backend.received).toEqual([]);
});

test('self-tracing: a backend that is not there is counted, and costs no run', async () => {
  const of = await running('telemetry: { traces: { exporter: otlp, endpoint: "http://127.0.0.1:9", sample: 1 } }\n');
  onTestFinished(() => of.stop());
  await sendAgentRun(of.otlp);
  expect(await runsOf(of)).toHaveLength(1);
});

async function runsOf({ console: page }: Running): Promise<readonly unknown[]> {
  return await eventually(async () => {
    const { runs } = (await (await fetch(`${page}/api/v1/runs`)).json()) as { readonly runs: readonly unknown[] };
    return runs.length > 0 ? runs : undefined;
  }, 'the run');
}
