/** The questions to judges, as spans, in front of a real OTLP receiver. */
import { afterEach, expect, test } from 'vitest';
import type { RunDecision, ScoredRun } from '../../../src/model/scored-run.ts';
import type { ExporterSettings } from '../../../src/exporters/settings.ts';
import { spanEventsExporter } from '../../../src/exporters/otlp/span-events.ts';
import { tenant } from '../../../src/model/ids.ts';
import { judgeTrace, type JudgeCall } from '../../../src/model/judge-call.ts';
import type { Decision, Verdict } from '../../../src/model/verdict.ts';
import { exportText, parsedExport } from '../../../src/stores/blob-codec.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { evaluation, failed, run, scored } from '../../builders/scored-run.ts';
import { traceRequest } from '../../otlp/descriptors.ts';
import { attributes, otlpSink, readCarrier, type Sink, type SinkSpan } from '../otlp-sink.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const call: JudgeCall = {
  judge: 'main',
  operation: 'chat',
  provider: 'openai',
  server: { address: 'judge.test', port: 443 },
  model: 'm-1',
  question: 'task_completion/1',
  startMs: 1_700_000_100_000.25,
  endMs: 1_700_000_103_000,
  retries: [{ atMs: 1_700_000_101_000, error: 'judge_unavailable: status 503' }],
  response: { id: 'chatcmpl-1', model: 'm-1-2026', finishReason: 'stop' },
  tokens: { input: 900, output: 20 },
};

function judged(verdict: Verdict, calls: readonly JudgeCall[], of = run()): ScoredRun {
  const decision: RunDecision = {
    name: 'done',
    evaluator: 'task_completion',
    evaluatorKind: 'judge',
    decision: verdict.kind === 'failed' ? 'failed' : 'scored',
    ...(verdict.kind === 'failed' ? { reason: verdict.error } : {}),
  };
  const details = { judge_requests: calls.length, cached: 2 };
  return {
    run: of,
    evaluations: [evaluation('done', { ...verdict, details }, of, { evaluator: 'task_completion', evaluatorKind: 'judge' })],
    decisions: [decision],
    answered: true,
    calls,
  };
}

async function sent(
  item: ScoredRun,
  settings: ExporterSettings = {},
): Promise<{ readonly sink: Sink; readonly spans: readonly { readonly span: SinkSpan; readonly resource: object }[] }> {
  const sink = await otlpSink();
  const exporter = spanEventsExporter({ endpoint: sink.url, timeoutMs: 60_000, ...settings });
  open.push({ close: () => exporter.stop() }, sink);
  expect(await exporter.send(item)).toEqual({ kind: 'sent' });
  return { sink, spans: sink.received.map(readCarrier) };
}

for (const protocol of ['http/protobuf', 'http/json'] as const) {
  test(`judge-spans: over ${protocol}, a verdict has a separate trace, linked with the agent's span and the carrier`, async () => {
    const { spans } = await sent(judged(scored(0.75), [call, { ...call, startMs: call.endMs, endMs: call.endMs + 500, retries: [] }]), {
      protocol,
    });
    const [carrier, root, first, second] = spans.map(({ span }) => span);
    if (carrier === undefined || root === undefined || first === undefined || second === undefined) throw new Error('four spans');
    const agent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00000000000000a1' };
    expect(carrier).toMatchObject({ traceId: agent.traceId, name: 'evaluate travel-agent', links: [agent] });
    expect(attributes(carrier.attributes)).toMatchObject({
      'tracejury.judge.trace_id': root.traceId,
      'tracejury.judge.span_id': root.spanId,
    });
    expect(root.traceId).not.toBe(agent.traceId);
    expect(root).toMatchObject({
      name: 'judge done',
      kind: 1,
      flags: 0x101,
      startTimeUnixNano: '1700000100000250000',
      endTimeUnixNano: '1700000103500000000',
      links: [agent, { traceId: agent.traceId, spanId: carrier.spanId }],
    });
    expect(root.parentSpanId ?? '').toBe('');
    expect([first, second]).toMatchObject(
      [1, 2].map(() => ({ traceId: root.traceId, parentSpanId: root.spanId, name: 'chat m-1', kind: 3, flags: 0x101, links: [agent] })),
    );
    expect(new Set([root, first, second].map(({ spanId }) => spanId)).size).toBe(3);
    expect(spans.slice(1).map(({ resource }) => resource)).toEqual(
      [1, 2, 3].map(() => ({ 'service.name': 'tracejury', 'openinference.project.name': 'tracejury' })),
    );
  });

  test(`judge-spans: over ${protocol}, a request has the attributes of the conventions, its repeats are events, and there is no text`, async () => {
    const { spans } = await sent(
      judged(
        scored(0.75),
        [call],
        run({ tenant: tenant('acme'), trace: agentTrace({ agent: 'a', input: 'a secret text', finalResponse: 'another' }) }),
      ),
      { protocol },
    );
    const span = spans[2]?.span;
    expect(attributes(span?.attributes)).toEqual({
      'tracejury.generated': true,
      'gen_ai.evaluation.name': 'done',
      'tracejury.evaluator.id': 'task_completion',
      'tracejury.evaluator.kind': 'judge',
      'tracejury.decision': 'scored',
      'tracejury.target.agent.name': 'a',
      'tracejury.target.service.name': 'travel',
      'tracejury.tenant': 'acme',
      'openinference.span.kind': 'LLM',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm-1',
      'gen_ai.response.model': 'm-1-2026',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 900,
      'gen_ai.usage.output_tokens': 20,
      'server.address': 'judge.test',
      'server.port': 443,
      'tracejury.judge': 'main',
      'tracejury.judge.question': 'task_completion/1',
      'tracejury.judge.attempts': 2,
    });
    expect(span?.events?.map((event) => ({ name: event.name, at: event.timeUnixNano, ...attributes(event.attributes) }))).toEqual([
      { name: 'tracejury.judge.retry', at: '1700000101000000000', 'tracejury.judge.attempt': 1, 'error.type': 'judge_unavailable' },
    ]);
    expect(span?.status?.code ?? 0).toBe(0);
    expect(attributes(spans[1]?.span.attributes)).toMatchObject({
      'tracejury.generated': true,
      'openinference.span.kind': 'EVALUATOR',
      'tracejury.judge.cached': 2,
      'tracejury.revision': 1,
    });
    expect(JSON.stringify(spans)).not.toMatch(/secret|another/);
  });
}

test('judge-spans: what failed has the status of an error and its word, never its sentence', async () => {
  const { response: _none, tokens: _neither, ...silent } = call;
  const { spans } = await sent(
    judged(failed('judge_timed_out: no whole answer in time'), [{ ...silent, error: 'judge_timed_out: no whole answer in time' }]),
  );
  for (const { span } of spans.slice(1))
    expect([span.status, attributes(span.attributes)['error.type']]).toEqual([{ code: 2, message: 'judge_timed_out' }, 'judge_timed_out']);
  expect(attributes(spans[1]?.span.attributes)['tracejury.decision']).toBe('failed');
  expect(Object.keys(attributes(spans[2]?.span.attributes)).filter((key) => /usage|response/.test(key))).toEqual([]);
});

test('judge-spans: what came in a batch names it', async () => {
  const { spans } = await sent(judged(scored(1), [{ ...call, batch: 'batch_1', retries: [] }]));
  expect(attributes(spans[2]?.span.attributes)).toMatchObject({ 'tracejury.judge.batch': 'batch_1', 'tracejury.judge.attempts': 1 });
});

test('judge-spans: the official descriptors find every field of the spans of one request', async () => {
  const { sink } = await sent(judged(failed(), [call]));
  const spans = sink.received.map(
    ({ body }) =>
      traceRequest.decode(body) as {
        readonly resourceSpans: readonly {
          readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly object[] }[];
        }[];
      },
  );
  expect(spans.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)).slice(1)).toMatchObject([
    {
      scope: { name: 'tracejury' },
      spans: [{ name: 'judge done', kind: 1, flags: 0x101, status: { code: 2, message: 'judge_timed_out' } }],
    },
    { scope: { name: 'tracejury' }, spans: [{ name: 'chat m-1', kind: 3, flags: 0x101, parentSpanId: expect.any(Buffer) }] },
  ]);
});

const ends: readonly { readonly decision: Decision; readonly reason: string }[] = [
  { decision: 'over_budget', reason: 'usd_per_day' },
  { decision: 'overload', reason: 'too_old' },
];
for (const { decision, reason } of ends) {
  test(`judge-spans: questions before it ended as ${decision} are sent without a carrier`, async () => {
    const { spans } = await sent({
      run: run(),
      evaluations: [],
      decisions: [{ name: 'done', evaluator: 'task_completion', evaluatorKind: 'judge', decision, reason }],
      answered: true,
      calls: [call],
    });
    expect(spans.map(({ span }) => span.name)).toEqual(['judge done', 'chat m-1']);
    expect(attributes(spans[0]?.span.attributes)).toMatchObject({ 'tracejury.decision': decision, 'tracejury.decision.reason': reason });
    expect(spans[0]?.span.links).toHaveLength(1);
  });
}

test('judge-spans: an entry that wants none gets only the carrier, without a link to missing spans', async () => {
  const { spans } = await sent(judged(scored(1), [call]), { judgeCalls: false });
  expect(spans.map(({ span }) => [span.name, span.links?.length])).toEqual([['evaluate travel-agent', 1]]);
});

test('judge-spans: a verdict without a question has no trace', async () => {
  const { spans } = await sent(judged(scored(1), []));
  expect(spans.map(({ span }) => [span.name, span.links?.length])).toEqual([['evaluate travel-agent', 1]]);
});

test('judge-spans: from the store the same item is the same bytes; asked again, it is other calls in the same trace', async () => {
  const item = judged(scored(1), [call]);
  const stored = parsedExport(exportText(item));
  if (stored === undefined) throw new Error('it cannot be read again');
  const [first, second, again] = [
    await sent(item),
    await sent({ ...item, ...stored } as ScoredRun),
    await sent(judged(scored(1), [{ ...call, startMs: call.startMs + 60_000, endMs: call.endMs + 60_000 }])),
  ];
  expect(second.sink.received.map(({ body }) => body.toString('hex'))).toEqual(first.sink.received.map(({ body }) => body.toString('hex')));
  const ids = (from: typeof first) => from.spans.slice(1).map(({ span }) => [span.traceId, span.spanId]);
  expect(ids(again)[0]).toEqual(ids(first)[0]);
  expect(ids(again)[1]?.[0]).toBe(ids(first)[1]?.[0]);
  expect(ids(again)[1]?.[1]).not.toBe(ids(first)[1]?.[1]);
});

test('judge-spans: evaluators, runs, tenants and revisions have separate traces', () => {
  const { key } = evaluation('done', scored(1));
  const traces = [
    judgeTrace(key, 1),
    judgeTrace(key, 2),
    judgeTrace({ ...key, name: 'other' }, 1),
    judgeTrace({ ...key, tenant: tenant('acme') }, 1),
    judgeTrace({ ...key, targetId: 'x/y' }, 1),
  ];
  expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(traces.length);
});
