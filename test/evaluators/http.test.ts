import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { Answer, HttpCall } from '../../evaluators/evaluator.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { noTenant, parseTraceId } from '../../src/model/ids.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { asked, type Score } from './score.ts';

const url = 'http://127.0.0.1:9100/evaluate';
const trace = agentTrace({
  agent: 'travel',
  input: 'Book me a room.',
  finalResponse: 'Booked.',
  toolCalls: [call({ name: 'book', arguments: { nights: 12345678901234567890n }, result: null, spanId: spanId(7) })],
});
const of = (more: Partial<Score> = {}, options: JsonObject = {}): Score => ({
  entry: { use: 'http', name: 'politeness', options: { url, ...options } },
  trace,
  ...more,
});
const says = (value: JsonValue): Answer => ({ kind: 'answered', value, truncated: false });
const scored = { status: 'scored', score: 0.5, explanation: 'So-so.' };

function sent(score: Score): HttpCall {
  const { requests } = asked(score, [says(scored)]);
  if (requests.length !== 1 || requests[0]?.kind !== 'call') throw new Error('not one call');
  return requests[0];
}

const rows: readonly { readonly name: string; readonly answer: Answer; readonly want: object }[] = [
  {
    name: 'a score with all that belongs to it',
    answer: says({ ...scored, label: 'fair', evidence: ['0000000000000007'], details: { tone: [1, null] } }),
    want: {
      kind: 'scored',
      score: 0.5,
      label: 'fair',
      passed: null,
      explanation: 'So-so.',
      evidence: ['0000000000000007'],
      details: { tone: [1, null] },
    },
  },
  {
    name: 'a score with the least',
    answer: says(scored),
    want: { kind: 'scored', score: 0.5, label: '', evidence: [], details: {}, parts: [] },
  },
  {
    name: 'what is absent may be null',
    answer: says({ ...scored, label: null, evidence: null, details: null, reason: null, error: null }),
    want: { kind: 'scored', score: 0.5, label: '', evidence: [] },
  },
  { name: 'unknown members are ignored', answer: says({ ...scored, model: 'x' }), want: { kind: 'scored', score: 0.5 } },
  {
    name: 'a skipped run',
    answer: says({ status: 'skipped', reason: 'no_input', explanation: 'Nobody asked.' }),
    want: { kind: 'skipped', reason: 'no_input', explanation: 'Nobody asked.' },
  },
  {
    name: 'its own failure',
    answer: says({ status: 'failed', error: 'no_stock_list', explanation: 'It is gone.', details: { since: 3 } }),
    want: { kind: 'failed', error: 'no_stock_list', explanation: 'It is gone.', details: { since: 3 } },
  },
  { name: 'a score of 1 is one', answer: says({ ...scored, score: 1 }), want: { kind: 'scored', score: 1 } },
  { name: 'a score above 1 is failed', answer: says({ ...scored, score: 1.0001 }), want: { kind: 'failed', error: 'score_out_of_range' } },
  { name: 'a score below 0 is failed', answer: says({ ...scored, score: -0.1 }), want: { kind: 'failed', error: 'score_out_of_range' } },
  {
    name: 'a score in words is failed',
    answer: says({ ...scored, score: 'high' }),
    want: { kind: 'failed', error: 'outcome_invalid', explanation: expect.stringContaining('score') as unknown },
  },
  {
    name: 'no score is failed',
    answer: says({ status: 'scored', explanation: 'x' }),
    want: { kind: 'failed', error: 'score_out_of_range' },
  },
  {
    name: 'a score without an explanation is failed',
    answer: says({ status: 'scored', score: 1 }),
    want: { kind: 'failed', error: 'outcome_invalid' },
  },
  { name: 'no status is failed', answer: says({ score: 1, explanation: 'x' }), want: { kind: 'failed', error: 'outcome_invalid' } },
  { name: 'an unknown status is failed', answer: says({ ...scored, status: 'ok' }), want: { kind: 'failed', error: 'outcome_invalid' } },
  {
    name: 'an unknown reason is failed',
    answer: says({ status: 'skipped', reason: 'too_tired', explanation: 'x' }),
    want: { kind: 'failed', error: 'outcome_invalid', explanation: expect.stringContaining('no_tool_calls') as unknown },
  },
  {
    name: 'an error that is a sentence is failed as such',
    answer: says({ status: 'failed', error: 'The run said: x', explanation: 'x' }),
    want: { kind: 'failed', error: 'outcome_invalid' },
  },
  {
    name: 'evidence that is not a span id is failed',
    answer: says({ ...scored, evidence: ['7'] }),
    want: { kind: 'failed', error: 'outcome_invalid' },
  },
  {
    name: 'a label that is a text of the run is failed',
    answer: says({ ...scored, label: 'x'.repeat(101) }),
    want: { kind: 'failed', error: 'outcome_invalid' },
  },
  {
    name: 'details that are a list are failed',
    answer: says({ ...scored, details: [1] }),
    want: { kind: 'failed', error: 'outcome_invalid' },
  },
  { name: 'a list is failed', answer: says([scored]), want: { kind: 'failed', error: 'outcome_invalid' } },
  { name: 'null is failed', answer: says(null), want: { kind: 'failed', error: 'outcome_invalid' } },
  {
    name: 'a call that failed has a reason',
    answer: { kind: 'failed', error: 'http_timed_out: no whole answer in time' },
    want: {
      kind: 'failed',
      error: 'http_timed_out: no whole answer in time',
      explanation: 'The endpoint gave no verdict: http_timed_out: no whole answer in time.',
    },
  },
];
for (const { name, answer, want } of rows) test(`http: ${name}`, () => expect(asked(of(), [answer]).verdict).toMatchObject(want));

test('http: with a threshold a score passes from there on', () => {
  const passed = (threshold: number) => asked(of({ entry: { ...of().entry, threshold } }), [says(scored)]).verdict;
  expect([passed(0.5), passed(0.51)].map((verdict) => verdict.kind === 'scored' && [verdict.passed, verdict.label])).toEqual([
    [true, 'pass'],
    [false, 'fail'],
  ]);
});

test('http: the document holds the run, its expectation, and the parameters unchanged', () => {
  const request = sent(
    of(
      { expected: { toolCalls: [{ name: 'book', toolId: 't-1' }] } },
      { headers: { 'x-key': 'k' }, timeout: '2s', parameters: { maxTokens: 3, some_tool: {} } },
    ),
  );
  expect(request).toMatchObject({ url, headers: { 'x-key': 'k' }, timeoutMs: 2_000 });
  expect(parseJson(request.body)).toMatchObject({
    run: {
      trace_id: null,
      agent: 'travel',
      input: 'Book me a room.',
      final_response: 'Booked.',
      tool_calls: [
        { name: 'book', arguments: { nights: 12345678901234567890n }, result: null, result_carried: true, span_id: '0000000000000007' },
      ],
    },
    expected: { tool_calls: [{ name: 'book', tool_id: 't-1' }] },
    parameters: { maxTokens: 3, some_tool: {} },
  });
  expect(request.body).not.toContain('x-key');
});

test('http: a run of the stream is sent with its place there', () => {
  const run: Run = {
    tenant: noTenant,
    traceId: parseTraceId('0123456789abcdef0123456789abcdef') ?? fail(),
    spanId: spanId(1),
    trace,
    dialects: ['gen_ai'],
    service: 'shop',
    resourceAttributes: {},
    traceState: '',
    startUnixNano: 1_767_225_600_000_000_000n,
    endUnixNano: 1_767_225_601_500_000_000n,
    completeness: 'complete',
    revision: 2,
    contentHash: 'h',
  };
  expect(parseJson(sent(of({ run })).body)).toMatchObject({
    run: {
      trace_id: '0123456789abcdef0123456789abcdef',
      span_id: '0000000000000001',
      service: 'shop',
      started_at: '2026-01-01T00:00:00.000000Z',
      ended_at: '2026-01-01T00:00:01.500000Z',
      completeness: 'complete',
      revision: 2,
      dialects: ['gen_ai'],
    },
  });
});

test('http: a run too large to send is skipped, and no endpoint is called', () => {
  const { requests, verdict } = asked(of({ trace: agentTrace({ input: 'x'.repeat(8 * 1024 * 1024) }) }), []);
  expect([requests.length, verdict]).toEqual([0, expect.objectContaining({ kind: 'skipped', reason: 'too_large' })]);
});

const faulty: readonly { readonly name: string; readonly entry: JsonObject; readonly paths: readonly string[] }[] = [
  { name: 'without a name and a URL', entry: {}, paths: ['name', 'options.url'] },
  { name: 'at no URL', entry: { name: 'a', options: { url: 'localhost' } }, paths: ['options.url'] },
  { name: 'with a time-out that is none', entry: { name: 'a', options: { url, timeout: 'soon' } }, paths: ['options.timeout'] },
  { name: 'with a time-out beyond its range', entry: { name: 'a', options: { url, timeout: '11m' } }, paths: ['options.timeout'] },
  {
    name: 'with a header of two lines',
    entry: { name: 'a', options: { url, headers: { 'x-a': 'b\nc: d' } } },
    paths: ['options.headers.x-a'],
  },
  {
    name: 'with parameters that break their schema',
    entry: { name: 'a', options: { url, parameters: { tone: 7 }, schema: { properties: { tone: { type: 'string' } } } } },
    paths: ['options.parameters.tone'],
  },
  { name: 'with a schema that is none', entry: { name: 'a', options: { url, schema: { type: 7 } } }, paths: ['options.schema'] },
  {
    name: 'with a schema that lies elsewhere',
    entry: { name: 'a', options: { url, schema: { $ref: 'https://example.com/schema.json' } } },
    paths: ['options.schema'],
  },
];
for (const { name, entry, paths } of faulty) {
  test(`http: an entry ${name} is refused where it is wrong`, () => {
    const made = configuredEvaluator({ use: 'http', ...entry }, evaluators);
    expect(made.kind === 'faulty' && made.faults.map(({ path }) => path.join('.'))).toEqual(paths);
  });
}

test('http: the hash of the options depends on endpoints and parameters, and not on secrets', () => {
  const hash = (options: JsonObject): string => {
    const made = configuredEvaluator({ use: 'http', name: 'a', options: { url, ...options } }, evaluators);
    return made.kind === 'ready' ? made.evaluator.optionsHash : made.faults.map(({ problem }) => problem).join();
  };
  expect(hash({ headers: { authorization: 's3cret-1' } })).toBe(hash({ headers: { authorization: 's3cret-2' } }));
  expect(hash({ url: 'http://me:s3cret@127.0.0.1:9100/evaluate?key=s3cret' })).toBe(hash({}));
  expect(new Set([hash({}), hash({ parameters: { a: 1 } }), hash({ url: 'http://127.0.0.1:9100/other' })]).size).toBe(3);
});

function fail(): never {
  throw new Error('not an id');
}
