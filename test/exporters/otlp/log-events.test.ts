import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { evaluationEventsMax } from '../../../src/exporters/otlp/evaluation-span.ts';
import type { Exporter } from '../../../src/exporters/exporter.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { logEventsExporter, resultRecords } from '../../../src/exporters/otlp/log-events.ts';
import { type OutgoingLog, jsonRecords, protobufRecords } from '../../../src/otlp/write/outgoing-items.ts';
import type { ExporterSettings } from '../../../src/exporters/settings.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { readLogs } from '../../../src/otlp/read/read.ts';
import { anyCharacter } from '../../builders/any-character.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { evaluation, failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { logsRequest } from '../../otlp/descriptors.ts';
import { plainRecord } from '../../otlp/plain.ts';
import { attributes, otlpSink, type Received, type Sink, type SinkAnswer, type SinkValue } from '../otlp-sink.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function backend(
  answer?: SinkAnswer,
  settings: ExporterSettings = {},
): Promise<{ readonly sink: Sink; readonly exporter: Exporter }> {
  const sink = await otlpSink(answer);
  const exporter = logEventsExporter({ logsEndpoint: `${sink.url}/v1/logs`, timeoutMs: 60_000, ...settings });
  open.push({ close: () => exporter.stop() }, sink);
  return { sink, exporter };
}

interface ReadRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: SinkValue;
  readonly attributes: Parameters<typeof attributes>[0];
  readonly flags: number;
}
interface ReadRequest {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: Parameters<typeof attributes>[0] };
    readonly scopeLogs: readonly { readonly scope: { readonly name: string }; readonly logRecords: readonly ReadRecord[] }[];
  }[];
}

/** By the official descriptors, or as the JSON that it is. Ids are hex in both encodings. */
function decoded({
  headers,
  body,
}: Received): readonly { readonly record: ReadRecord; readonly resource: object; readonly scope: string }[] {
  const request =
    headers['content-type'] === 'application/json'
      ? JSON.parse(body.toString())
      : JSON.parse(JSON.stringify(logsRequest.decode(body), hex));
  return (request as ReadRequest).resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record) => ({ record, resource: attributes(resource.attributes), scope: scope.name })),
    ),
  );
}

function hex(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value;
  return isBytes ? Buffer.from(value.data as number[]).toString('hex') : value;
}

async function sent(item: ScoredRun, settings?: ExporterSettings): Promise<ReturnType<typeof decoded>> {
  const { sink, exporter } = await backend(undefined, settings);
  expect(await exporter.send(item)).toEqual({ kind: 'sent' });
  return sink.received.flatMap(decoded);
}

const parts = [
  { index: 0, tool: 'search', callId: 'call_1', spanId: spanId(0xb1), score: 1, passed: true, explanation: 'It worked.' },
  { index: 1, tool: 'book', score: 0, passed: false, explanation: 'It failed.' },
];
const of = run({ trace: agentTrace({ agent: 'travel-agent', sessionId: 's-1' }) });
const mixed = scoredRun(
  {
    tool_error: scored(0.25, { parts }),
    raw: scored(1, { threshold: null, passed: null, label: '' }),
    validity: skipped,
    judge_one: failed(),
  },
  of,
);
const target = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00000000000000a1',
  timeUnixNano: '1700000001123456789',
  observedTimeUnixNano: '1700000001123456789',
  eventName: 'gen_ai.evaluation.result',
  flags: 1,
};

for (const protocol of ['http/protobuf', 'http/json'] as const) {
  test(`log-events: over ${protocol}, a record for each scored or failed verdict and each part, with the ids of the span that it is about`, async () => {
    const all = await sent(mixed, { protocol });
    for (const { resource, scope } of all) expect([resource, scope]).toEqual([{ 'service.name': 'travel' }, 'tracejury']);
    const common = {
      'tracejury.generated': true,
      'tracejury.revision': 1,
      'tracejury.completeness': 'complete',
      'gen_ai.agent.name': 'travel-agent',
      'session.id': 's-1',
      'tracejury.evaluator.kind': 'rule',
      'tracejury.evaluator.version': 1,
    };
    const [verdict, raw, broken, first, second] = all.map(({ record: { attributes: own, ...rest } }) => ({
      ...rest,
      attributes: attributes(own),
    }));
    expect(all).toHaveLength(5);
    const id: unknown = verdict?.attributes['tracejury.evaluation.id'];
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(verdict).toEqual({
      ...target,
      severityNumber: 13,
      severityText: 'WARN',
      body: { stringValue: 'tool_error fail 0.25' },
      attributes: {
        ...common,
        'gen_ai.evaluation.name': 'tool_error',
        'gen_ai.evaluation.score.value': 0.25,
        'gen_ai.evaluation.score.label': 'fail',
        'gen_ai.evaluation.explanation': 'It is 0.25.',
        'tracejury.evaluator.id': 'tool_error',
        'tracejury.threshold': 0.5,
        'tracejury.passed': false,
        'tracejury.sample.probability': 1,
        'tracejury.run.status': 'ok',
        'tracejury.evaluation.id': id,
      },
    });
    expect(raw).toMatchObject({
      ...target,
      severityText: 'INFO',
      body: { stringValue: 'raw 1' },
      attributes: { 'gen_ai.evaluation.name': 'raw', 'gen_ai.evaluation.score.value': 1 },
    });
    expect(broken).toMatchObject({
      ...target,
      severityNumber: 17,
      severityText: 'ERROR',
      body: { stringValue: 'judge_one error' },
      attributes: { 'error.type': 'judge_timed_out', 'gen_ai.evaluation.explanation': 'The judge did not answer.' },
    });
    expect(broken?.attributes).not.toHaveProperty('gen_ai.evaluation.score.value');
    expect(first).toMatchObject({
      ...target,
      spanId: '00000000000000b1',
      severityText: 'INFO',
      body: { stringValue: 'tool_error pass 1 search' },
      attributes: {
        ...common,
        'tracejury.target.tool': 'search',
        'tracejury.target.call_id': 'call_1',
        'gen_ai.evaluation.score.value': 1,
        'tracejury.evaluation.id': `${String(id)}/0`,
      },
    });
    expect(second).toMatchObject({
      ...target,
      severityText: 'WARN',
      attributes: { 'tracejury.target.tool': 'book', 'tracejury.evaluation.id': `${String(id)}/1` },
    });
  });

  test(`log-events: over ${protocol}, a backend that takes the request and not the record has refused it`, async () => {
    const refusal = { 'http/protobuf': Buffer.from([0x0a, 2, 0x08, 1]), 'http/json': '{"partialSuccess":{"rejectedLogRecords":"1"}}' }[
      protocol
    ];
    const { exporter } = await backend((response) => void response.end(refusal), { protocol });
    expect(await exporter.send(mixed)).toMatchObject({ kind: 'failed', retryable: false });
  });
}

test('log-events: the id is that of the evaluation at every revision, and a verdict that is gone is withdrawn', async () => {
  const idOf = (records: ReturnType<typeof decoded>): unknown[] =>
    records.map(({ record }) => attributes(record.attributes)['tracejury.evaluation.id']);
  const second = run({ revision: 2 });
  const again = await sent(scoredRun({ tool_error: scored(0.75), validity: skipped }, second));
  expect(idOf(again)).toEqual([
    ...idOf(await sent(scoredRun({ tool_error: scored(0.25) }))),
    expect.not.stringMatching(String(idOf(again)[0])),
  ]);
  const [, withdrawn] = again.map(({ record }) => ({ ...record, attributes: attributes(record.attributes) }));
  expect(withdrawn).toMatchObject({
    severityText: 'INFO',
    body: { stringValue: 'validity withdrawn' },
    attributes: { 'tracejury.withdrawn': true, 'tracejury.revision': 2 },
  });
  const takenBack: Verdict = { kind: 'skipped', reason: 'part_of_another_run', explanation: '', details: {} };
  const part = run({ revision: 2, partOf: { ...run(), spanId: spanId(0xc1) } });
  const gone = await sent({ run: part, evaluations: [evaluation('tool_error', takenBack, part)], decisions: [] });
  expect(gone.map(({ record }) => attributes(record.attributes))).toMatchObject([
    { 'tracejury.withdrawn': true, 'tracejury.part_of': '4bf92f3577b34da6a3ce929d0e0e4736/00000000000000c1' },
  ]);
});

test('log-events: what is said of a session has the revision of the session', async () => {
  const ofSession = run({ trace: agentTrace({ sessionId: 's-1' }), session: { revision: 3, turns: 4, leftOut: 0 } });
  const verdict = {
    ...evaluation('goal_reached', scored(0), ofSession),
    key: { tenant: ofSession.tenant, targetKind: 'session', targetId: 's-1', name: 'goal_reached' },
  } as const;
  const gone = { ...verdict, verdict: skipped, key: { ...verdict.key, name: 'other' } };
  const all = await sent({ run: ofSession, evaluations: [verdict, gone], decisions: [] });
  expect(all.map(({ record }) => attributes(record.attributes))).toMatchObject([
    { 'tracejury.revision': 3, 'session.id': 's-1' },
    { 'tracejury.revision': 3, 'tracejury.withdrawn': true },
  ]);
});

test('log-events: a run that is known under another trace id is named by the one where its span is', async () => {
  const [{ record } = { record: undefined }] = await sent(scoredRun({ tool_error: scored(1) }, run({ spanTraceId: traceId(0xd1) })));
  expect([record?.traceId, record?.spanId]).toEqual([traceId(0xd1), '00000000000000a1']);
});

test('log-events: nothing scored or failed sends nothing, and no item sends more records than a carrier has events', async () => {
  expect(await sent(scoredRun({ tool_error: skipped }))).toEqual([]);
  const many = Array.from({ length: evaluationEventsMax + 5 }, (_, index) => ({
    index,
    tool: 't',
    score: 1,
    passed: true,
    explanation: '',
  }));
  const all = await sent(scoredRun({ tool_error: scored(1, { parts: many }), last: scored(0.25) }));
  expect(all).toHaveLength(evaluationEventsMax);
  expect(attributes(all[1]?.record.attributes)).toMatchObject({ 'gen_ai.evaluation.name': 'last' });
});

test('log-events: runs that are ready together go in one request, to the address and with the headers that were given', async () => {
  const { sink, exporter } = await backend(undefined, { headers: { authorization: 'Bearer x' } });
  const items = Array.from({ length: 20 }, (_, at) => scoredRun({ tool_error: scored(1) }, run({ spanId: spanId(0x100 + at) })));
  expect(await Promise.all(items.map((item) => exporter.send(item)))).toEqual(items.map(() => ({ kind: 'sent' })));
  expect(sink.received).toMatchObject([
    { url: '/v1/logs', headers: { authorization: 'Bearer x', 'content-type': 'application/x-protobuf' } },
  ]);
  expect(new Set(sink.received.flatMap(decoded).map(({ record }) => record.spanId)).size).toBe(20);
});

test('log-events: the same item is the same bytes', async () => {
  const { sink, exporter } = await backend((response, at) => {
    response.statusCode = at === 0 ? 503 : 200;
    response.end();
  });
  expect(await exporter.send(mixed)).toMatchObject({ kind: 'failed', retryable: true });
  expect(await exporter.send(mixed)).toEqual({ kind: 'sent' });
  const [first, second] = sink.received;
  expect(first !== undefined && second?.body.equals(first.body)).toBe(true);
});

test('log-events: an entry without an address is reported', () => {
  expect(() => logEventsExporter({})).toThrow('no endpoint');
});

const scalars = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 100 }), fc.boolean(), fc.integer(), fc.double({ noNaN: true }));
const anything = fc
  .dictionary(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.oneof(scalars, fc.array(scalars), fc.constant(null)))
  .map((found): JsonObject => found);
const records: fc.Arbitrary<OutgoingLog> = fc.record({
  resource: anything,
  traceId: fc.integer({ min: 1, max: 1000 }).map(traceId),
  spanId: fc.integer({ min: 1, max: 1000 }).map(spanId),
  timeUnixNano: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  severity: fc.constantFrom('INFO', 'WARN', 'ERROR'),
  eventName: fc.string({ minLength: 1 }),
  body: fc.string({ unit: anyCharacter, maxLength: 300 }),
  attributes: anything,
});

test('log-events: protobuf and JSON are read as the same records, one and several in a request', () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 1, maxLength: 4 }), (given) => {
      const read = (
        [
          ['protobuf', protobufRecords()],
          ['json', jsonRecords()],
        ] as const
      ).map(([encoding, writer]) => {
        const found = readLogs(writer.request(given.map((one) => writer.write(one))), encoding);
        expect(found.rejections).toEqual([]);
        expect(readLogs(writer.request([writer.write(...given)]), encoding).records.map(plainRecord)).toEqual(
          found.records.map(plainRecord),
        );
        return found.records.map(plainRecord);
      });
      expect(read[0]).toEqual(read[1]);
      expect(read[0]).toHaveLength(given.length);
    }),
    runs,
  );
});

test('log-events: foreign values that are not texts are written as one', () => {
  const odd = scoredRun({
    tool_error: scored(0.25, {
      parts: [{ index: 0, tool: 'a\ud800b', score: 0, passed: false, explanation: '\udfff' }],
      explanation: 'x'.repeat(10_000),
    }),
  });
  for (const { body, attributes: own } of resultRecords(odd)) {
    expect(body.isWellFormed()).toBe(true);
    expect(String(own['gen_ai.evaluation.explanation']).isWellFormed()).toBe(true);
    expect(String(own['gen_ai.evaluation.explanation']).length).toBeLessThanOrEqual(4096);
  }
});
