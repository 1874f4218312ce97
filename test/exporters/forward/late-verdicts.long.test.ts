/** In-line: what agents send goes on, untouched but for the verdicts. */
import type { ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import type { Span } from '../../../src/model/span.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { span } from '../../builders/spans.ts';
import { logsRequest, traceRequest, traceResponse } from '../../otlp/descriptors.ts';
import { brokenSums } from '../../faults/sums.ts';
import { eventually, running, sample, sendAgentRun, type Running, type Surroundings } from '../../service/running.ts';
import { grpcTarget } from '../grpc-target.ts';
import { otlpTarget, spansOf, type OtlpTarget, type TargetSpan } from '../otlp-target.ts';

let target: OtlpTarget;
let service: Running;
afterEach(async () => {
  await service.stop();
  await target.close();
});

async function begin(
  more: { readonly answer?: Parameters<typeof otlpTarget>[0]; readonly entry?: string; readonly closing?: string } = {},
): Promise<void> {
  target = await otlpTarget(more.answer);
  const around: Surroundings = more.closing === undefined ? {} : { closing: more.closing };
  service = await running(`export: [ { to: forward, endpoint: "${target.url}"${more.entry ?? ''} } ]\n`, around);
}

async function post(body: Buffer, { path = '/v1/traces', type = 'application/x-protobuf' } = {}): Promise<Response> {
  return await fetch(`${service.otlp}${path}`, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) });
}

const protobuf = (...spans: readonly Span[]): Buffer => writeTraces(spans, 'protobuf');
const count = async (name: string, labels: { readonly [label: string]: string } = {}): Promise<number> =>
  sample(await service.metrics(), name, labels) ?? 0;
const spansHere = async (ids: number): Promise<readonly TargetSpan[]> =>
  eventually(() => (target.spans().length >= ids ? target.spans() : undefined), `${ids} spans`);
const events = (one: TargetSpan | undefined): readonly unknown[] =>
  (one?.events ?? []).map(({ name, attributes }) => [
    name,
    attributes['gen_ai.evaluation.name'],
    attributes['gen_ai.evaluation.score.value'],
    attributes['gen_ai.evaluation.score.label'],
  ]);

/** A run whose tool fails. */
function failedRun(trace: number): readonly Span[] {
  return [
    toolSpan({ id: 3, parent: 1, trace, start: 3, end: 4, call: 'c', tool: 'find', arguments: '{"x":1}', status: 'error', message: 'no' }),
    agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder', input: 'where?', output: 'there' }),
  ];
}

test('forward: a run of the SDK goes on in order, with verdicts on the agent and on the tool', async () => {
  await begin();
  const { spanId } = await sendAgentRun(service.otlp);
  const spans = await spansHere(3);
  expect(spans.map(({ name }) => name)).toEqual(['find', 'notify', 'run']);
  const [find, notify, run] = spans;
  expect([run?.id, run?.attributes['tracejury.verdict'], run?.attributes['tracejury.failed'], run?.attributes['agent.name']]).toEqual([
    spanId,
    'fail',
    ['tool_error'],
    'order_support',
  ]);
  expect(events(run)).toEqual([
    ['gen_ai.evaluation.result', 'tool_error', 0.5, 'fail'],
    ['gen_ai.evaluation.result', 'tool_efficiency', 1, 'pass'],
    ['gen_ai.evaluation.result', 'run_error', 1, 'pass'],
  ]);
  expect(events(notify)).toEqual([
    ['gen_ai.evaluation.result', 'tool_error', 0, 'fail'],
    ['gen_ai.evaluation.result', 'tool_efficiency', 1, 'pass'],
  ]);
  expect(events(find)).toEqual([
    ['gen_ai.evaluation.result', 'tool_error', 1, 'pass'],
    ['gen_ai.evaluation.result', 'tool_efficiency', 1, 'pass'],
  ]);
  expect(target.spans()).toHaveLength(3);
  expect(brokenSums(await service.metrics())).toEqual([]);
  expect(await count('tracejury_forward_unscored_total')).toBe(0);
});

test('forward: spans without a verdict go on byte for byte, with all unknown fields', async () => {
  await begin();
  const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
  const body = Buffer.concat([
    traceRequest.encode({
      resourceSpans: [
        {
          resource: { attributes: [text('service.name', 'shop')], droppedAttributesCount: 3 },
          schemaUrl: 'https://opentelemetry.io/schemas/1.9.0',
          scopeSpans: [
            {
              scope: { name: 's', attributes: [text('a', 'b')], droppedAttributesCount: 1 },
              schemaUrl: 'x',
              spans: [
                {
                  traceId: Buffer.alloc(16, 7),
                  spanId: Buffer.alloc(8, 7),
                  name: 'GET /',
                  kind: 2,
                  startTimeUnixNano: 5,
                  endTimeUnixNano: 9,
                  droppedEventsCount: 2,
                  links: [{ traceId: Buffer.alloc(16, 8), spanId: Buffer.alloc(8, 8), traceState: 'k=v', droppedAttributesCount: 4 }],
                },
              ],
            },
          ],
        },
      ],
    }),
    // A field of the request that does not exist yet.
    Buffer.from([0xfa, 0x01, 0x02, 0x68, 0x69]),
  ]);
  expect((await post(body)).status).toBe(200);
  await spansHere(1);
  expect(target.taken[0]?.body.equals(body)).toBe(true);
});

test('forward: verdicts stand behind the bytes of a span, and runs that came together go by themselves', async () => {
  await begin();
  const passing = [
    toolSpan({ id: 6, parent: 5, trace: 2, start: 3, end: 4, call: 'c', tool: 'find', result: 'there' }),
    agentSpan({ id: 5, trace: 2, start: 0, end: 7, agent: 'finder' }),
  ];
  const body = protobuf(...failedRun(1), ...passing, span({ id: 9, trace: 3, name: 'GET /' }));
  await post(body);
  const before = new Map(spansOf(body).map((one) => [one.traceId + one.id, one.bytes]));
  const after = await spansHere(5);
  expect(after.map((one) => one.traceId + one.id).toSorted()).toEqual([...before.keys()].toSorted());
  for (const one of after)
    expect(one.bytes.subarray(0, before.get(one.traceId + one.id)?.length).equals(before.get(one.traceId + one.id) ?? Buffer.of())).toBe(
      true,
    );
  expect(after.find(({ name }) => name === 'GET /')?.bytes.length).toBe(
    before.get(after.find(({ name }) => name === 'GET /')?.traceId + '0000000000000009')?.length,
  );
  expect(
    Object.fromEntries(
      after
        .filter(({ attributes }) => 'gen_ai.agent.name' in attributes)
        .map(({ traceId, attributes }) => [Number(traceId), attributes['tracejury.verdict']]),
    ),
  ).toEqual({ 1: 'fail', 2: 'pass' });
});

test('forward: after hold spans go on without a verdict, and a carrier follows', async () => {
  await begin({ entry: ', hold: 0ms', closing: 'settle: 1s, quiet: 1s' });
  await post(protobuf(...failedRun(1)));
  const spans = await spansHere(3);
  expect(spans.map(({ name }) => name)).toEqual(['span 3', 'span 1', 'evaluate finder']);
  expect(spans.map(({ attributes }) => attributes['tracejury.verdict'])).toEqual([undefined, undefined, 'fail']);
  expect(await count('tracejury_forward_unscored_total')).toBe(2);
});

test('forward: while the target takes nothing, spans that have waited for hold still get their verdicts', async () => {
  let isBack = false;
  const answer = (response: ServerResponse): string => {
    if (!isBack) response.writeHead(503, { 'retry-after': '1' });
    return '';
  };
  await begin({ answer, entry: ', hold: 0ms', closing: 'settle: 1s, quiet: 1s' });
  // It is so large that nothing goes with it while it is tried again.
  await post(protobuf(span({ id: 9, trace: 4, name: 'GET /', attributes: { page: 'x'.repeat(300_000) } })));
  await eventually(async () => ((await count('tracejury_forward_circuit')) > 0 ? true : undefined), 'a target that gets a rest');
  await post(protobuf(...failedRun(1)));
  await eventually(
    async () =>
      (await count('tracejury_exporter_items_total', { tracejury_exporter: 'forward', tracejury_outcome: 'passed' })) === 1
        ? true
        : undefined,
    'verdicts on the spans',
  );
  isBack = true;
  const spans = await spansHere(3);
  expect(spans.map(({ name, attributes }) => [name, attributes['tracejury.verdict']])).toEqual([
    ['GET /', undefined],
    ['span 3', undefined],
    ['span 1', 'fail'],
  ]);
  expect(events(spans[1])).toContainEqual(['gen_ai.evaluation.result', 'tool_error', 0, 'fail']);
  expect(brokenSums(await service.metrics())).toEqual([]);
});

test('forward: what comes late for a run goes on at once, and its new verdict on a carrier', async () => {
  await begin({ entry: ', hold: 10m' });
  await post(protobuf(...failedRun(1)));
  await spansHere(2);
  await post(
    protobuf(toolSpan({ id: 4, parent: 1, trace: 1, start: 5, end: 6, call: 'd', tool: 'find', arguments: '{"x":2}', result: 'there' })),
  );
  const spans = await spansHere(4);
  expect(spans.slice(2).map(({ name, attributes }) => [name, attributes['tracejury.revision']])).toEqual([
    ['span 4', undefined],
    ['evaluate finder', 2],
  ]);
});

test('forward: a target that is busy, asks for patience or hangs up gets everything later, in order', async () => {
  await begin({
    answer(response, _, at) {
      if (at === 0) response.statusCode = 503;
      if (at === 1) {
        response.socket?.destroy();
        return undefined;
      }
      if (at === 2) response.writeHead(429, { 'retry-after': '1' });
      return '';
    },
  });
  for (let trace = 1; trace <= 3; trace++) await post(protobuf(...failedRun(trace)));
  const spans = await spansHere(6);
  for (const own of Map.groupBy(spans, ({ traceId }) => traceId).values())
    expect(own.map(({ name }) => name)).toEqual(['span 3', 'span 1']);
  expect(spans.filter(({ attributes }) => attributes['tracejury.verdict'] === 'fail')).toHaveLength(3);
});

test('forward: only the spans that a target refuses are given up, and counted', async () => {
  await begin({
    answer(response, { body }) {
      if (spansOf(body).some(({ name }) => name === 'poison')) response.statusCode = 400;
      return spansOf(body).some(({ name }) => name === 'half')
        ? traceResponse.encode({ partialSuccess: { rejectedSpans: 1, errorMessage: 'no' } })
        : '';
    },
  });
  const roots = ['a', 'poison', 'b', 'half', 'c'].map((name, at) => span({ id: at + 1, trace: (at + 1) * 4, name }));
  await post(protobuf(...roots));
  const spans = await spansHere(4);
  expect(spans.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c', 'half']);
  await eventually(async () => ((await count('tracejury_forward_waiting')) === 0 ? true : undefined), 'nothing waits');
  expect([
    await count('tracejury_forward_spans_total', { tracejury_outcome: 'refused' }),
    await count('tracejury_forward_spans_total', { tracejury_outcome: 'forwarded' }),
  ]).toEqual([2, 3]);
});

test('forward: log records go on unchanged, for any trace, and a target without a place for them does not stop spans', async () => {
  await begin({
    answer(response, { path }) {
      if (path === '/v1/logs' && target.seen.filter((one) => one.path === path).length > 1) response.statusCode = 404;
      return '';
    },
  });
  const body = logsRequest.encode({
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: 5, body: { stringValue: 'of no trace' } }] }] }],
  });
  expect((await post(body, { path: '/v1/logs' })).status).toBe(200);
  await eventually(() => target.taken[0], 'the records');
  expect([target.taken[0]?.path, target.taken[0]?.body.equals(body)]).toEqual(['/v1/logs', true]);
  await post(body, { path: '/v1/logs' });
  await eventually(() => (target.seen.length === 2 ? true : undefined), 'a refusal');
  await post(protobuf(span({ id: 1, name: 'GET /' })));
  await spansHere(1);
});

test('forward: spans of ours, and those that were rejected, do not go on', async () => {
  await begin();
  const wrong = { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 0), name: 'no id', startTimeUnixNano: 1, endTimeUnixNano: 2 };
  const body = Buffer.concat([
    protobuf(
      span({ id: 1, trace: 1, name: 'own', attributes: { 'tracejury.generated': true } }),
      span({ id: 2, trace: 1, name: 'theirs' }),
    ),
    traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans: [wrong] }] }] }),
  ]);
  await post(body);
  expect((await spansHere(1)).map(({ name }) => name)).toEqual(['theirs']);
  expect(await count('tracejury_forward_spans_total', { tracejury_outcome: 'own' })).toBe(1);
});

for (const compression of ['none', 'gzip']) {
  test(`forward: over gRPC everything goes, spans with their verdicts, log records in any encoding, compression ${compression}`, async () => {
    const overGrpc = await grpcTarget((_, at) => (at === 0 ? { code: status.UNAVAILABLE } : Buffer.alloc(0)));
    target = { ...(await otlpTarget()), spans: overGrpc.spans };
    const { close } = target;
    target = { ...target, close: async () => void (await Promise.all([close(), overGrpc.close()])) };
    service = await running(
      `export: [ { to: forward, endpoint: "${overGrpc.url}", protocol: grpc, compression: ${compression}, hold: 10m } ]\n`,
    );
    const alone = protobuf(span({ id: 9, trace: 8, name: 'GET /' }));
    await post(alone);
    await post(protobuf(...failedRun(1)));
    await spansHere(3);
    const records = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '5', body: { stringValue: 'of no trace' } }] }] }] };
    await post(Buffer.from(JSON.stringify(records)), { path: '/v1/logs', type: 'application/json' });
    await post(
      protobuf(toolSpan({ id: 4, parent: 1, trace: 1, start: 5, end: 6, call: 'd', tool: 'find', arguments: '{"x":2}', result: 'there' })),
    );
    const spans = await spansHere(5);
    expect(spans.find(({ name }) => name === 'span 1')?.attributes['tracejury.verdict']).toBe('fail');
    // A verdict that comes later goes the same way.
    expect(spans.some(({ name }) => name === 'evaluate finder')).toBe(true);
    // A repeated span may share a request with spans that came meanwhile.
    const isHere = async (body: Buffer): Promise<void> =>
      void (await eventually(() => overGrpc.taken.find((one) => one.body.includes(body)), 'the very bytes'));
    await isHere(alone);
    await isHere(logsRequest.encode(records));
  });
}

test('forward: over HTTP what goes on can be compressed', async () => {
  await begin({ entry: ', compression: gzip' });
  const body = protobuf(span({ id: 9, trace: 8, name: 'GET /' }));
  await post(body);
  await eventually(() => target.taken[0], 'a request');
  expect(target.taken[0]?.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(target.taken[0]?.body ?? Buffer.of()).equals(body)).toBe(true);
});

test('forward: JSON goes on as protobuf, with its verdicts', async () => {
  await begin();
  await post(writeTraces(failedRun(1), 'json'), { type: 'application/json' });
  const spans = await spansHere(2);
  expect(spans.map(({ name, attributes }) => [name, attributes['tracejury.verdict']])).toEqual([
    ['span 3', undefined],
    ['span 1', 'fail'],
  ]);
  expect(target.taken[0]?.headers['content-type']).toBe('application/x-protobuf');
});
