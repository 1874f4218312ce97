/** The service's spans of itself, at a tracing backend on loopback. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT_CONTEXT, trace as api } from '@opentelemetry/api';
import { OTLPTraceExporter as GrpcExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { onTestFinished, expect, test } from 'vitest';
import { otlpSink, readCarrier, type Sink, type SinkSpan } from '../../exporters/otlp-sink.ts';
import { chatServer, says } from '../../judges/chat-server.ts';
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
  expect(new Set(names)).toEqual(
    new Set([
      'ingest traces',
      'append to journal',
      'gather spans',
      'close run',
      'wait for more spans',
      'evaluate rules',
      'store write',
      'wait for batch',
      'write batch',
      'export span_events',
      'wait for exporter',
      'send to backend',
    ]),
  );
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

test('self-tracing: an export that fails is shown with its kind, and the trace goes on', async () => {
  const scores = await otlpSink((response) => void response.writeHead(400).end());
  onTestFinished(() => scores.close());
  const { of, spans } = await watched('sample: 1', `export: [ { to: span_events, endpoint: "${scores.url}" } ]\n`);
  await sendAgentRun(of.otlp);
  await eventually(() => scores.received.length > 0 || undefined, 'an attempt');
  await of.stop();
  const failed = spans().find(({ name }) => name === 'export span_events');
  expect([failed?.status?.code, failed === undefined ? undefined : typeof textOf(failed, 'error.type')]).toEqual([2, 'string']);
});

test('self-tracing: spans of the service that come back make no run and no further span', async () => {
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

/** Each span with its parent's name; the first spans of the trace without one. */
function tree(spans: readonly SinkSpan[]): readonly string[] {
  const nameOf = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return [...new Set(spans.map(({ name, parentSpanId }) => `${nameOf.get(parentSpanId) ?? (parentSpanId || 'none')} > ${name}`))].sort();
}

const secret = 'a secret wish';
const asking = (url: string, more = ''): string => `judges: { main: { base_url: "${url}", model: m } }
evaluators: [ { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } } ]
${more}`;
const completed = says('{"tasks":[{"number":1,"explanation":"a secret reason","completed":true}]}');

test('self-tracing: one trace leads from the request over close, judge and store to the export', async () => {
  const [scores, judge] = [await otlpSink(), await chatServer(completed)];
  onTestFinished(async () => void (await Promise.all([scores.close(), judge.close()])));
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kept = `store: { url: "sqlite:${folder}/a.db" }\njournal: { url: "disk:${folder}/journal" }\n`;
  const exported = `${kept}export: [ { to: span_events, name: scores, endpoint: "${scores.url}" } ]\n`;
  const { of, spans } = await watched('sample: 1', asking(judge.baseUrl, exported));
  const { traceId } = await sendAgentRun(of.otlp, { input: secret, spanBySpan: true });
  const isJudged = (): true | undefined => scores.received.some((one) => readCarrier(one).span.name === 'judge done') || undefined;
  await eventually(isJudged, 'the verdict of the judge');
  await of.stop();
  const own = new Set(spans().map((span) => span.traceId));
  expect([own.size, own.has(traceId)]).toEqual([1, false]);
  expect(tree(spans())).toEqual(
    [
      'none > ingest traces',
      'ingest traces > ingest traces',
      'ingest traces > append to journal',
      'ingest traces > gather spans',
      'ingest traces > close run',
      'close run > wait for more spans',
      'close run > evaluate rules',
      'close run > judge done',
      'judge done > wait in judge queue',
      'judge done > wait for judge',
      'judge done > chat m',
      'close run > store write',
      'store write > wait for batch',
      'store write > write batch',
      'close run > export scores',
      'export scores > wait for exporter',
      'export scores > send to backend',
    ].sort(),
  );
  expect(spans().filter(({ parentSpanId }) => parentSpanId === '' || parentSpanId === undefined)).toHaveLength(1);
  expect(spans().every(({ links = [] }) => links.length === 1 && links[0]?.traceId === traceId)).toBe(true);
  expect(spans().every((span) => BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano))).toBe(true);
  expect(JSON.stringify(spans())).not.toContain('secret');
});

test('self-tracing: a request over gRPC is in the trace of the run, and spans that come late make another close in it', async () => {
  const { of, spans } = await watched('sample: 1');
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(new GrpcExporter({ url: of.grpc.startsWith('http') ? of.grpc : `http://${of.grpc}` }))],
  });
  onTestFinished(() => provider.shutdown());
  const agent = provider.getTracer('agent');
  const root = agent.startSpan('invoke_agent finder', {
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'finder' },
  });
  root.end();
  await provider.forceFlush();
  await runsOf(of);
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look', 'gen_ai.tool.call.id': 'c1' };
  agent.startSpan('execute_tool look', { attributes: tool }, api.setSpan(ROOT_CONTEXT, root)).end();
  await provider.forceFlush();
  await eventually(async () => ((await runsOf(of))[0] as { revision: number }).revision === 2 || undefined, 'the second revision');
  await of.stop();
  const closes = spans().filter(({ name }) => name === 'close run');
  expect(new Set(spans().map((span) => span.traceId)).size).toBe(1);
  expect(closes.map(({ attributes }) => attributes.find(({ key }) => key === 'tracejury.revision')?.value.intValue)).toEqual(['1', '2']);
  expect(new Set(closes.map(({ spanId }) => spanId)).size).toBe(2);
  expect(tree(spans())).toEqual(expect.arrayContaining(['none > ingest traces', 'ingest traces > ingest traces']));
});

test('self-tracing: of many runs exactly those of the share have spans, and their requests, closes and batches agree', async () => {
  const { of, spans } = await watched('sample: 0.3');
  for (let run = 0; run < 40; run++) await sendAgentRun(of.otlp);
  await eventually(async () => ((await runsOf(of)).length >= 40 ? true : undefined), 'all runs');
  await of.stop();
  const traces = (name: string): readonly string[] =>
    [...new Set(spans().flatMap((span) => (span.name === name ? [span.traceId] : [])))].sort();
  expect(traces('ingest traces').length).toBeGreaterThan(0);
  expect(traces('ingest traces').length).toBeLessThan(40);
  expect(traces('close run')).toEqual(traces('ingest traces'));
  expect(traces('store write')).toEqual(traces('ingest traces'));
});

async function runsOf({ console: page }: Running): Promise<readonly unknown[]> {
  return await eventually(async () => {
    const { runs } = (await (await fetch(`${page}/api/v1/runs`)).json()) as { readonly runs: readonly unknown[] };
    return runs.length > 0 ? runs : undefined;
  }, 'the run');
}
