import { afterEach, expect, test } from 'vitest';
import { evaluationEventsMax } from '../../../src/exporters/otlp/evaluation-span.ts';
import type { Exporter } from '../../../src/exporters/exporter.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import type { ExporterSettings } from '../../../src/exporters/settings.ts';
import { spanEventsExporter, tracesUrl } from '../../../src/exporters/otlp/span-events.ts';
import { tenant } from '../../../src/model/ids.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { traceId } from '../../builders/spans.ts';
import { evaluation, failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { attributes, otlpSink, readCarrier, type Sink, type SinkAnswer, type SinkSpan } from '../otlp-sink.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function backend(
  answer?: SinkAnswer,
  settings: ExporterSettings = {},
): Promise<{ readonly sink: Sink; readonly exporter: Exporter }> {
  const sink = await otlpSink(answer);
  const exporter = spanEventsExporter({ endpoint: sink.url, timeoutMs: 60_000, ...settings });
  open.push({ close: () => exporter.stop() }, sink);
  return { sink, exporter };
}

async function sent(
  item: ScoredRun,
  settings?: ExporterSettings,
): Promise<{ readonly span: SinkSpan; readonly resource: { readonly [key: string]: unknown } }> {
  const { sink, exporter } = await backend(undefined, settings);
  expect(await exporter.send(item)).toEqual({ kind: 'sent' });
  const [request] = sink.received;
  if (request === undefined) throw new Error('nothing was sent');
  return readCarrier(request);
}

const parts = [
  { index: 0, tool: 'search', callId: 'call_1', spanId: spanId(0xb1), score: 1, passed: true, explanation: 'It worked.' },
  { index: 1, tool: 'book', score: 0, passed: false, explanation: 'It failed.' },
];
const mixed = scoredRun({
  tool_error: scored(0.25, { parts }),
  raw: scored(0.75, { threshold: null, passed: null, label: '' }),
  validity: skipped,
  judge_one: failed(),
});

for (const protocol of ['http/protobuf', 'http/json'] as const) {
  test(`span-events: over ${protocol}, the carrier is in the agent's trace, child of and linked to the agent span, at its end`, async () => {
    const { span, resource } = await sent(mixed, { protocol });
    expect(span).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00000000000000a1',
      name: 'evaluate travel-agent',
      links: [{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00000000000000a1' }],
      startTimeUnixNano: '1700000001123456789',
      endTimeUnixNano: '1700000001123456789',
    });
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(span.flags & 1).toBe(1);
    expect(resource).toEqual({ 'service.name': 'travel' });
  });

  test(`span-events: over ${protocol}, one event for each scored or failed verdict and each part, none for a skipped one`, async () => {
    const { span } = await sent(mixed, { protocol, detail: 'full' });
    const events = (span.events ?? []).map((event) => ({ name: event.name, time: event.timeUnixNano, ...attributes(event.attributes) }));
    const common = {
      name: 'gen_ai.evaluation.result',
      time: '1700000001123456789',
      'tracejury.evaluator.kind': 'rule',
      'tracejury.evaluator.version': 1,
    };
    expect(events).toEqual([
      {
        ...common,
        'gen_ai.evaluation.name': 'tool_error',
        'gen_ai.evaluation.score.value': 0.25,
        'gen_ai.evaluation.score.label': 'fail',
        'gen_ai.evaluation.explanation': 'It is 0.25.',
        'tracejury.evaluator.id': 'tool_error',
        'tracejury.threshold': 0.5,
        'tracejury.passed': false,
        'tracejury.sample.probability': 1,
      },
      {
        ...common,
        'gen_ai.evaluation.name': 'raw',
        'gen_ai.evaluation.score.value': 0.75,
        'gen_ai.evaluation.explanation': 'It is 0.75.',
        'tracejury.evaluator.id': 'raw',
        'tracejury.sample.probability': 1,
      },
      {
        ...common,
        'gen_ai.evaluation.name': 'judge_one',
        'gen_ai.evaluation.explanation': 'The judge did not answer.',
        'error.type': 'judge_timed_out',
        'tracejury.evaluator.id': 'judge_one',
        'tracejury.sample.probability': 1,
      },
      {
        ...common,
        'gen_ai.evaluation.name': 'tool_error',
        'gen_ai.evaluation.score.value': 1,
        'gen_ai.evaluation.score.label': 'pass',
        'gen_ai.evaluation.explanation': 'It worked.',
        'tracejury.evaluator.id': 'tool_error',
        'tracejury.passed': true,
        'tracejury.target.tool': 'search',
        'tracejury.target.call_id': 'call_1',
        'tracejury.target.span_id': '00000000000000b1',
      },
      {
        ...common,
        'gen_ai.evaluation.name': 'tool_error',
        'gen_ai.evaluation.score.value': 0,
        'gen_ai.evaluation.score.label': 'fail',
        'gen_ai.evaluation.explanation': 'It failed.',
        'tracejury.evaluator.id': 'tool_error',
        'tracejury.passed': false,
        'tracejury.target.tool': 'book',
      },
    ]);
  });
}

for (const protocol of ['http/protobuf', 'http/json'] as const) {
  test(`span-events: over ${protocol}, scores of 0 and 1 are doubles as all others are, counts stay integers`, async () => {
    const { span } = await sent(scoredRun({ none: scored(0, { threshold: 1 }), all: scored(1), half: scored(0.5), judged: failed() }), {
      protocol,
      detail: 'full',
    });
    const pairs = [span.attributes, ...(span.events ?? []).map((event) => event.attributes)].flat();
    const numbers = pairs.filter(({ value }) => value.intValue !== undefined || value.doubleValue !== undefined);
    const isInteger = (key: string) => key === 'tracejury.revision' || key === 'tracejury.evaluator.version';
    expect(numbers.filter(({ key }) => isInteger(key)).map(({ value }) => Number(value.intValue))).toEqual([1, 1, 1, 1, 1]);
    expect(numbers.filter(({ key, value }) => !isInteger(key) && value.intValue !== undefined)).toEqual([]);
    expect(Object.fromEntries(numbers.filter(({ key }) => !isInteger(key)).map(({ key, value }) => [key, value.doubleValue]))).toEqual({
      'tracejury.sample.probability': 1,
      'tracejury.score.none': 0,
      'tracejury.score.all': 1,
      'tracejury.score.half': 0.5,
      'evaluations.0.evaluation.score': 0,
      'evaluations.1.evaluation.score': 1,
      'evaluations.2.evaluation.score': 0.5,
      'gen_ai.evaluation.score.value': 0.5,
      'tracejury.threshold': 0.5,
    });
  });
}

test('span-events: flat attributes for search and annotations of OpenInference', async () => {
  const of = run({ tenant: tenant('acme'), trace: agentTrace({ agent: 'travel-agent', sessionId: 's-1' }), completeness: 'partial' });
  const { span } = await sent(
    scoredRun({ tool_error: scored(0.25), judged: scored(0.75) }, of, { evaluatorKind: 'judge', sampleProbability: 0.05 }),
    { detail: 'full' },
  );
  const all = attributes(span.attributes);
  expect(all).toMatchObject({
    'tracejury.generated': true,
    'openinference.span.kind': 'EVALUATOR',
    'gen_ai.agent.name': 'travel-agent',
    'session.id': 's-1',
    'tracejury.tenant': 'acme',
    'tracejury.revision': 1,
    'tracejury.completeness': 'partial',
    'tracejury.sample.probability': 0.05,
    'tracejury.verdict': 'fail',
    'tracejury.failed': ['tool_error'],
    'tracejury.score.tool_error': 0.25,
    'tracejury.score.judged': 0.75,
    'evaluations.0.evaluation.name': 'tool_error',
    'evaluations.0.evaluation.score': 0.25,
    'evaluations.0.evaluation.label': 'fail',
    'evaluations.0.evaluation.explanation': 'It is 0.25.',
    'evaluations.0.evaluation.annotator_kind': 'LLM',
    'evaluations.1.evaluation.name': 'judged',
  });
  const [first, second] = [all['evaluations.0.evaluation.identifier'], all['evaluations.1.evaluation.identifier']];
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(first).not.toBe(second);
});

const calls = [1, 2, 3].map((id) => ({
  index: id - 1,
  tool: `tool_${id}`,
  spanId: spanId(0xb0 + id),
  score: id === 1 ? 0 : 1,
  passed: id !== 1,
  explanation: '',
}));
test('span-events: a part that is not a tool call names its kind, and its span', async () => {
  const parts = [
    { of: 'retriever', index: 0, tool: '', spanId: spanId(0xb7), score: 0, passed: false, explanation: 'Nothing fits.' },
  ] as const;
  const { span } = await sent(scoredRun({ useful: scored(0, { parts, evidence: [spanId(0xb7)] }) }));
  const [, part] = (span.events ?? []).map((event) => attributes(event.attributes));
  expect(part).toMatchObject({
    'tracejury.target.part': 'retriever',
    'tracejury.target.span_id': spanId(0xb7),
    'gen_ai.evaluation.score.value': 0,
  });
  expect(part).not.toHaveProperty('tracejury.target.tool');
});

const found = scoredRun({ tool_error: scored(0.25, { parts: calls, evidence: [spanId(0xb2)] }), judged: scored(1), validity: skipped });
for (const { detail, tools, annotations } of [
  { detail: undefined, tools: ['tool_1', 'tool_2'], annotations: 0 },
  { detail: 'lean', tools: ['tool_1', 'tool_2'], annotations: 0 },
  { detail: 'full', tools: ['tool_1', 'tool_2', 'tool_3'], annotations: 2 },
] as const)
  test(`span-events: detail ${detail ?? 'left out'} sends each verdict, and ${tools.length} of three tool calls: one fails and one is evidence`, async () => {
    const { span } = await sent(found, detail === undefined ? {} : { detail });
    const events = (span.events ?? []).map((event) => attributes(event.attributes));
    const own = events.filter((event) => event['tracejury.target.tool'] === undefined);
    expect(own.map((event) => event['gen_ai.evaluation.name'])).toEqual(['tool_error', 'judged']);
    expect(events.flatMap((event) => event['tracejury.target.tool'] ?? [])).toEqual(tools);
    const all = attributes(span.attributes);
    expect(Object.keys(all).filter((key) => key.endsWith('.evaluation.name'))).toHaveLength(annotations);
    expect(all).toMatchObject({ 'tracejury.verdict': 'fail', 'tracejury.failed': ['tool_error'], 'tracejury.score.judged': 1 });
    expect(all).not.toHaveProperty('tracejury.results.left_out');
  });

test('span-events: a rule is CODE, all passed is pass, and nothing failed is named', async () => {
  const all = attributes((await sent(scoredRun({ tool_error: scored(0.75) }), { detail: 'full' })).span.attributes);
  expect(all).toMatchObject({ 'tracejury.verdict': 'pass', 'evaluations.0.evaluation.annotator_kind': 'CODE' });
  expect(all).not.toHaveProperty('tracejury.failed');
});

test('span-events: raw metrics and failed evaluations neither pass nor fail a run', async () => {
  const all = attributes(
    (await sent(scoredRun({ raw: scored(0.1, { threshold: null, passed: null, label: '' }), broken: failed() }))).span.attributes,
  );
  expect(all).not.toHaveProperty('tracejury.verdict');
  expect(all).not.toHaveProperty('tracejury.score.broken');
});

test('span-events: the agent’s resource goes along whole, and its tracestate unchanged', async () => {
  const traceState = `vendor=${'x'.repeat(600)},ot=th:8`;
  const resourceAttributes = {
    'service.name': 'travel',
    'openinference.project.name': 'p',
    n: 3,
    big: 12345678901234567890n,
    list: ['a', 'b'],
    deep: { a: [1, null] },
    mixed: [1, 'a'],
    gone: null,
  };
  const { span, resource } = await sent(scoredRun({ tool_error: scored(0.75) }, run({ resourceAttributes, traceState })));
  expect(span.traceState).toBe(traceState);
  expect(resource).toEqual({
    'service.name': 'travel',
    'openinference.project.name': 'p',
    n: 3,
    big: '12345678901234567890',
    list: ['a', 'b'],
    deep: '{"a":[1,null]}',
    mixed: '[1,"a"]',
  });
});

test('span-events: the same item is the same bytes, in any order of its verdicts', async () => {
  const { sink, exporter } = await backend();
  for (let at = 0; at < 3; at++) await exporter.send(mixed);
  await exporter.send({ ...mixed, evaluations: [...mixed.evaluations].reverse() });
  const [first, second, third, turned] = sink.received;
  if (first === undefined || turned === undefined) throw new Error('nothing was sent');
  expect(second?.body.equals(first.body)).toBe(true);
  expect(third?.body.equals(first.body)).toBe(true);
  expect(readCarrier(turned).span.spanId).toBe(readCarrier(first).span.spanId);
});

test('span-events: each judge verdict, run and tenant has a separate carrier', async () => {
  const ids = new Set<string>();
  const items = [
    scoredRun({ tool_error: scored(1) }),
    scoredRun({ judged: scored(1) }),
    scoredRun({ tool_error: scored(1), judged: scored(1) }),
    scoredRun({ tool_error: scored(1) }, run({ spanId: spanId(0xa2) })),
    scoredRun({ tool_error: scored(1) }, run({ tenant: tenant('acme') })),
  ];
  for (const item of items) ids.add((await sent(item)).span.spanId);
  expect(ids.size).toBe(items.length);
});

test('span-events: a later revision is a new carrier that names the one it replaces, and links only to its target', async () => {
  const first = (await sent(scoredRun({ tool_error: scored(0.25), validity: skipped }))).span;
  const second = (await sent(scoredRun({ tool_error: scored(0.25), validity: scored(1) }, run({ revision: 2 })))).span;
  expect(second.spanId).not.toBe(first.spanId);
  expect(second.links?.map((link) => link.spanId)).toEqual(['00000000000000a1']);
  expect(attributes(second.attributes)).toMatchObject({ 'tracejury.revision': 2, 'tracejury.replaces': first.spanId });
});

test('span-events: a run that is taken back sends a carrier without results, which replaces its verdicts and names the run that it is part of', async () => {
  const before = scoredRun({ tool_error: scored(1) });
  const part = run({ revision: 2, partOf: { ...run(), spanId: spanId(0xc1) } });
  const takenBack: Verdict = { kind: 'skipped', reason: 'part_of_another_run', explanation: '', details: {} };
  const judged = evaluation('judge_one', takenBack, part, { evaluatorKind: 'judge' });
  const { span } = await sent({ run: part, evaluations: [evaluation('tool_error', takenBack, part), judged], decisions: [] });
  expect(attributes(span.attributes)).toMatchObject({
    'tracejury.part_of': '4bf92f3577b34da6a3ce929d0e0e4736/00000000000000c1',
    'tracejury.replaces': (await sent(before)).span.spanId,
    'tracejury.revision': 2,
  });
  expect([span.events ?? [], span.links?.length]).toEqual([[], 1]);
});

test('span-events: the carrier of a sub-agent that is known under another trace id stands where the agent’s span is', async () => {
  const spanTraceId = traceId(0xd1);
  const { span } = await sent(scoredRun({ tool_error: scored(1) }, run({ spanTraceId })));
  expect([span.traceId, span.parentSpanId, span.links]).toEqual([
    spanTraceId,
    '00000000000000a1',
    [expect.objectContaining({ traceId: spanTraceId, spanId: '00000000000000a1' })],
  ]);
});

test('span-events: an item with nothing scored or failed sends nothing', async () => {
  const { sink, exporter } = await backend();
  expect(await exporter.send(scoredRun({ tool_error: skipped }))).toEqual({ kind: 'sent' });
  expect(await exporter.send(scoredRun({}))).toEqual({ kind: 'sent' });
  expect(sink.received).toHaveLength(0);
});

test('span-events: more results than a carrier holds are cut, verdicts before parts, and counted on it', async () => {
  const many = Array.from({ length: evaluationEventsMax + 5 }, (_, index) => ({
    index,
    tool: 't',
    score: 1,
    passed: true,
    explanation: '',
  }));
  const { span } = await sent(scoredRun({ tool_error: scored(1, { parts: many }), last: scored(0.25) }), { detail: 'full' });
  expect(span.events).toHaveLength(evaluationEventsMax);
  expect(attributes(span.events?.[1]?.attributes ?? [])).toMatchObject({ 'gen_ai.evaluation.name': 'last' });
  expect(attributes(span.attributes)).toMatchObject({ 'tracejury.results.left_out': 7, 'tracejury.score.last': 0.25 });
});

test('span-events: no attribute is lost with many evaluators', async () => {
  const verdicts = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`e${at}`, scored(0.75)]));
  const all = attributes((await sent(scoredRun(verdicts), { detail: 'full' })).span.attributes);
  expect(Object.keys(all).filter((key) => key.startsWith('tracejury.score.'))).toHaveLength(300);
  expect(all).toHaveProperty(['evaluations.299.evaluation.identifier']);
});

test('span-events: headers go along, and a base URL keeps its path and query', async () => {
  const sink = await otlpSink();
  const exporter = spanEventsExporter({ endpoint: `${sink.url}/otel/?k=v`, headers: { authorization: 'Bearer x' }, timeoutMs: 60_000 });
  open.push({ close: () => exporter.stop() }, sink);
  await exporter.send(mixed);
  expect(sink.received[0]).toMatchObject({
    url: '/otel/v1/traces?k=v',
    headers: { authorization: 'Bearer x', 'content-type': 'application/x-protobuf' },
  });
});

test('span-events: the URL for spans is taken unchanged', () => {
  expect(tracesUrl({ endpoint: 'http://a', tracesEndpoint: 'http://b/in' })).toBe('http://b/in');
  expect(() => tracesUrl({})).toThrow('no endpoint');
});

for (const { status, retryable } of [
  { status: 500, retryable: true },
  { status: 503, retryable: true },
  { status: 429, retryable: true },
  { status: 302, retryable: true },
  { status: 401, retryable: true },
  { status: 400, retryable: false },
  { status: 413, retryable: false },
]) {
  test(`span-events: a backend that answers ${status} ${retryable ? 'may be asked again' : 'is not asked again'}, and the same carrier arrives later`, async () => {
    const { sink, exporter } = await backend((response, at) => {
      response.statusCode = at === 0 ? status : 200;
      response.setHeader('location', 'http://127.0.0.1:1/');
      response.end('secret');
    });
    const outcome = await exporter.send(mixed);
    expect(outcome).toMatchObject({ kind: 'failed', retryable });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(await exporter.send(mixed)).toEqual({ kind: 'sent' });
    expect(sink.received[1]?.body.equals(sink.received[0]?.body ?? Buffer.of())).toBe(true);
  });
}

test('span-events: a refused connection is retryable', async () => {
  const sink = await otlpSink();
  await sink.close();
  const exporter = spanEventsExporter({ endpoint: sink.url, timeoutMs: 60_000 });
  expect(await exporter.send(mixed)).toMatchObject({ kind: 'failed', retryable: true });
});

test('span-events: a backend that never answers is retryable', async () => {
  const { exporter } = await backend(() => {}, { timeoutMs: 50 });
  expect(await exporter.send(mixed)).toMatchObject({ kind: 'failed', retryable: true });
});

test('span-events: a run that cannot be written is a lasting failure, not an exception', async () => {
  const { exporter } = await backend();
  const broken = {
    ...mixed,
    run: {
      ...mixed.run,
      get endUnixNano(): bigint {
        throw new RangeError('x');
      },
    },
  };
  expect(await exporter.send(broken)).toEqual({ kind: 'failed', retryable: false, error: 'RangeError' });
});
