/** People's verdicts, sent over HTTP to a whole service. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { annotationSchema, annotationsAtOnceMax, readAnnotation } from '../../../src/web/api/annotations.ts';
import { eventually, running, sample, sendAgentRun, type Running } from '../../service/running.ts';

let service: Running;
let sent: { readonly traceId: string; readonly spanId: string };
const more: Running[] = [];
beforeAll(async () => {
  service = await running('redact: [ { match: email } ]\n');
  sent = await sendAgentRun(service.otlp);
  await eventually(async () => (await asked(`/runs/${sent.traceId}/${sent.spanId}`)).status === 200 || undefined, 'the run');
});
afterAll(() => service.stop());
afterEach(async () => {
  for (const one of more.splice(0)) await one.stop();
});

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

async function asked(path: string, init: RequestInit = {}, at = service): Promise<Answer> {
  const response = await fetch(`${at.console}/api/v1${path}`, init);
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function say(
  annotations: JsonValue,
  { headers = {}, at = service }: { readonly headers?: { readonly [name: string]: string }; readonly at?: Running } = {},
): Promise<Answer> {
  return asked(
    '/annotations',
    { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: jsonText({ annotations }) },
    at,
  );
}

async function heard(spanId = sent.spanId): Promise<readonly JsonObject[]> {
  return ((await asked(`/runs/${sent.traceId}/${spanId}`)).body['annotations'] ?? []) as readonly JsonObject[];
}

const results = ({ body }: Answer): unknown =>
  (body['annotations'] as readonly JsonObject[]).map(({ status, error }) =>
    isJsonObject(error) ? `${String(status)}: ${String(error['message'])}` : status,
  );

test('annotations: what is said of a run stands with it, and the newer word of one annotator counts', async () => {
  const one = {
    trace_id: sent.traceId,
    name: 'tool_error',
    by: 'ann',
    label: 'fail',
    score: 0.25,
    passed: false,
    explanation: 'The mail never came.',
    at: '2026-01-02T03:04:05Z',
  };
  expect(await say([one, { ...one, by: 'user-7', kind: 'user', at: null, span_id: sent.spanId.toUpperCase() }])).toMatchObject({
    status: 200,
    body: {
      taken: 2,
      refused: 0,
      annotations: [{ trace_id: sent.traceId, name: 'tool_error', by: 'ann', status: 'attached', error: null }, { status: 'attached' }],
    },
  });
  expect((await heard())[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{32}-[0-9a-f]{24}$/),
    tool_call: null,
    name: 'tool_error',
    by: 'ann',
    kind: 'human',
    label: 'fail',
    score: 0.25,
    passed: false,
    explanation: 'The mail never came.',
    at: '2026-01-02T03:04:05.000000Z',
    probability: null,
  });
  expect(results(await say([{ ...one, at: '2026-01-01' }]))).toEqual(['outdated']);
  expect(results(await say([{ ...one, at: '2026-01-03', passed: true, label: null, score: null }]))).toEqual(['attached']);
  expect(await heard()).toMatchObject([
    { by: 'ann', passed: true, label: null, score: null },
    { by: 'user-7', kind: 'user', passed: false },
  ]);
  expect((await asked('/runs?annotated=true')).body).toMatchObject({ runs: [{ trace_id: sent.traceId }] });
  expect((await asked('/runs?annotated=false')).body).toMatchObject({ runs: [] });
});

test('annotations: one is taken back by its id, attached or waiting, once and again', async () => {
  const said = { name: 'tone', by: 'ann', passed: false };
  const ids = ({ body }: Answer): readonly unknown[] => (body['annotations'] as readonly JsonObject[]).map(({ id }) => id);
  const [attached, outdated, bad] = ids(
    await say([
      { ...said, trace_id: sent.traceId },
      { ...said, trace_id: sent.traceId, at: '2026-01-01' },
      { ...said, trace_id: 'none' },
    ]),
  );
  const [waiting] = ids(await say([{ ...said, trace_id: 'd'.repeat(32) }]));
  expect([outdated, bad]).toEqual([null, null]);
  expect((await heard()).find(({ name }) => name === 'tone')?.['id']).toBe(attached);
  const taken = async (id: unknown): Promise<unknown> => {
    const { status, body } = await asked(`/annotations/${String(id)}`, { method: 'DELETE' });
    return [status, body['deleted']];
  };
  expect([await taken(attached), await taken(attached), await taken(waiting), await taken(waiting)]).toEqual([
    [200, true],
    [200, false],
    [200, true],
    [200, false],
  ]);
  expect((await heard()).some(({ name }) => name === 'tone')).toBe(false);
  // Said once more it is there once more, under the same id.
  expect(ids(await say([{ ...said, trace_id: sent.traceId }]))).toEqual([attached]);
  expect(await taken(attached)).toEqual([200, true]);
  expect((await asked('/annotations/7', { method: 'DELETE' })).status).toBe(400);
  expect(sample(await service.metrics(), 'tracejury_annotations_total', { tracejury_outcome: 'deleted' })).toBe(3);
});

test('annotations: a word on one tool call, by the id of its span, is compared with the verdict on that call', async () => {
  const calls = ((await asked(`/runs/${sent.traceId}/${sent.spanId}`)).body['tool_calls'] ?? []) as readonly JsonObject[];
  const failed = String(calls.find(({ name }) => name === 'notify')?.['span_id']);
  const word = { trace_id: sent.traceId, name: 'tool_error', by: 'cid', tool_call: failed.toUpperCase(), passed: true };
  expect(results(await say([word, { ...word, tool_call: 'none' }]))).toEqual(['attached', 'attached']);
  expect((await heard()).filter(({ by }) => by === 'cid').map(({ tool_call: call }) => call)).toEqual([failed, 'none'].toSorted());
  const judges = (await asked('/judges?evaluator=tool_error')).body['judges'] as readonly JsonObject[];
  expect(judges.find(({ about }) => about === 'tool_call')).toMatchObject({ name: 'tool_error', runs: 1, false_alarms: 1, missed: 0 });
  for (const { id } of (await heard()).filter(({ by }) => by === 'cid')) await asked(`/annotations/${String(id)}`, { method: 'DELETE' });
});

test('annotations: a thumb that comes before the spans waits for them', async () => {
  const early = 'c'.repeat(32);
  expect(results(await say([{ trace_id: early, name: 'thumb', by: 'u', kind: 'user', passed: true }]))).toEqual(['waiting']);
  const span = {
    traceId: early,
    spanId: '1'.repeat(16),
    name: 'run',
    kind: 1,
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: [{ key: 'agent.name', value: { stringValue: 'late' } }],
  };
  await fetch(`${service.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: jsonText({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  });
  const run = await eventually(async () => {
    const { status, body } = await asked(`/runs/${early}/${'1'.repeat(16)}`);
    return status === 200 ? body : undefined;
  }, 'the run');
  expect(run['annotations']).toMatchObject([{ name: 'thumb', by: 'u', passed: true }]);
  expect(results(await say([{ trace_id: early, name: 'thumb', by: 'u', kind: 'user', passed: false }]))).toEqual(['attached']);
  await eventually(
    async () =>
      sample(await service.metrics(), 'tracejury_annotations_total', { tracejury_annotator_kind: 'user', tracejury_outcome: 'waiting' }) ===
      1
        ? true
        : undefined,
    'the count',
  );
});

const good = { trace_id: 'd'.repeat(32), name: 'n', by: 'b', passed: true } as const;
const faulty: readonly (readonly [string, JsonValue, RegExp])[] = [
  ['no object', 'yes', /not an object/],
  ['a key that is not known', { ...good, verdict: 1 }, /"verdict" is unknown/],
  ['no trace id', { name: 'n', by: 'b', passed: true }, /trace_id/],
  ['a trace id of zeros', { ...good, trace_id: '0'.repeat(32) }, /trace_id/],
  ['half a span id', { ...good, span_id: 'abc' }, /span_id/],
  ['a tool call that is a number', { ...good, tool_call: 5 }, /tool_call is not a text/],
  ['no name', { ...good, name: '' }, /name is not a text/],
  ['nobody', { ...good, by: null }, /by is not a text/],
  ['a long annotator', { ...good, by: 'x'.repeat(201) }, /by is not a text/],
  ['a number for a label', { ...good, label: 3 }, /label is not a text/],
  ['a score beyond 1', { ...good, score: 1.1 }, /score/],
  ['a score as a text', { ...good, score: '1' }, /score/],
  ['passed as a text', { ...good, passed: 'yes' }, /passed/],
  ['nothing said', { ...good, passed: null }, /has no label, score or passed/],
  ['a long explanation', { ...good, explanation: 'x'.repeat(4_001) }, /explanation/],
  ['an unknown kind', { ...good, kind: 'judge' }, /kind/],
  ['no time', { ...good, at: 'yesterday' }, /at is not a time/],
  ['a time in the future', { ...good, at: '2999-01-01' }, /future/],
  ['a tenant that is a number', { ...good, tenant: 1 }, /tenant/],
];

test('annotations: a faulty one is refused by itself, with what is wrong', async () => {
  const answer = await say([...faulty.map(([, entry]) => entry), { ...good, trace_id: 'D'.repeat(32), explanation: null }]);
  expect(answer).toMatchObject({ status: 207, body: { taken: 1, refused: faulty.length } });
  for (const [at, [name, , message]] of faulty.entries())
    expect([name, (results(answer) as readonly string[])[at]]).toEqual([name, expect.stringMatching(message)]);
  expect((await say([{ ...good, by: 7 }])).status).toBe(422);
});

test('annotations: the schema of the OpenAPI document and the reader agree', () => {
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(annotationSchema);
  const beyondSchema = new Set(['a trace id of zeros', 'nothing said', 'no time', 'a time in the future']);
  for (const [name, entry] of faulty)
    expect([name, isValid(entry), 'fault' in readAnnotation(entry, 1e15)]).toEqual([name, beyondSchema.has(name), true]);
  for (const entry of [
    good,
    { ...good, span_id: 'a'.repeat(16), tenant: 't', kind: 'user', label: 'l', score: 0, explanation: '', at: '2000-01-01' },
    { ...good, span_id: null, tenant: null, kind: null, label: null, score: null, explanation: null, at: null },
  ])
    expect([entry, isValid(entry), 'annotation' in readAnnotation(entry, 1e15)]).toEqual([entry, true, true]);
});

const bodies: readonly (readonly [string, string, number, RegExp])[] = [
  ['no JSON', '{', 400, /could not be read/],
  ['a prototype for a key', '{"annotations":[{"__proto__":{}}]}', 400, /could not be read/],
  ['no list', '{}', 400, /annotations/],
  ['an empty list', '{"annotations":[]}', 400, /annotations/],
  ['another key beside it', '{"annotations":[1],"more":1}', 400, /more/],
  ['too many', jsonText({ annotations: Array.from({ length: annotationsAtOnceMax + 1 }, () => good) }), 400, /annotations/],
  ['too large', jsonText({ annotations: ['x'.repeat(5 * 1024 * 1024)] }), 413, /too large/],
];
for (const [name, body, status, message] of bodies) {
  test(`annotations: a body with ${name} is answered ${status}`, async () => {
    const answer = await asked('/annotations', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(answer).toMatchObject({
      status,
      body: { error: { message: expect.stringMatching(message), todo: expect.stringMatching(/./) } },
    });
  });
}

test('annotations: what is redacted is not kept, and two people stay two', async () => {
  const say1 = { trace_id: sent.traceId, name: 'redacted', passed: true, explanation: 'Ask ann@example.com about it.' };
  expect(
    results(
      await say([
        { ...say1, by: 'ann@example.com' },
        { ...say1, by: 'bob@example.com' },
      ]),
    ),
  ).toEqual(['attached', 'attached']);
  const own = (await heard()).filter(({ name }) => name === 'redacted');
  expect(own).toMatchObject([
    { by: expect.stringMatching(/^redacted-[0-9a-f]{16}$/), explanation: expect.not.stringContaining('ann@') },
    { by: expect.stringMatching(/^redacted-/) },
  ]);
  expect(own[0]?.['by']).not.toBe(own[1]?.['by']);
});

test('annotations: an annotator needs a token that may annotate, once there are tokens', async () => {
  const [read, operate, annotate] = [
    '{ name: people, value: token-of-reader-0, may: [read] }',
    '{ name: ops, value: token-of-operator, may: [operate] }',
    '{ name: graders, value: token-of-grader-0, may: [annotate] }',
  ];
  for (const [tokens, none, reader, operator, grader] of [
    ['[]', 200, 200, 200, 200],
    [`[ ${read} ]`, 401, 401, 401, 401],
    [`[ ${read}, ${operate}, ${annotate} ]`, 401, 401, 401, 200],
  ] as const) {
    const at = await running('', { tokens });
    more.push(at);
    const status = async (token?: string): Promise<number> =>
      (await say([good], { at, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status;
    expect([
      tokens,
      await status(),
      await status('token-of-reader-0'),
      await status('token-of-operator'),
      await status('token-of-grader-0'),
    ]).toEqual([tokens, none, reader, operator, grader]);
    expect([
      tokens,
      (
        await asked(
          `/annotations/${'0'.repeat(32)}-${'0'.repeat(24)}`,
          { method: 'DELETE', headers: { authorization: 'Bearer token-of-operator' } },
          at,
        )
      ).status,
    ]).toEqual([tokens, operator]);
    const others = { headers: { authorization: 'Bearer token-of-grader-0' } };
    if (tokens !== '[]')
      expect([
        (await asked('/runs', others, at)).status,
        (await asked('/exports/retry', { ...others, method: 'POST' }, at)).status,
      ]).toEqual([401, 401]);
  }
});

test('annotations: a page of another site cannot annotate', async () => {
  expect(await say([good], { headers: { 'sec-fetch-site': 'cross-site' } })).toMatchObject({
    status: 403,
    body: { error: { code: 'other_site' } },
  });
});
