/** Runs as a file, asked over HTTP of a whole service. */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonArray, parseJson, type JsonObject } from '../../../src/model/json.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { eventually, running, sendAgentRun, type Running } from '../../service/running.ts';

let service: Running;
const sent: { readonly traceId: string; readonly spanId: string }[] = [];
const hostile = '=cmd|"/c calc"!A1';

beforeAll(async () => {
  service = await running('store: { url: "memory:", content: all }\n');
  for (const [at, input] of ['Where is it?', hostile, 'two,\nlines'].entries())
    sent.push(await sendAgentRun(service.otlp, { agent: at === 2 ? 'shipping' : 'billing', input, fails: at === 0 }));
  const stored = async (path: string, key: string, count: number): Promise<true | undefined> => {
    const list = ((await (await get(path)).json()) as JsonObject)[key];
    return list !== undefined && isJsonArray(list) && list.length === count ? true : undefined;
  };
  await eventually(() => stored('/runs', 'runs', 3), 'all runs in the store');
  for (const { traceId, spanId } of sent)
    await eventually(() => stored(`/runs/${traceId}/${spanId}/spans`, 'spans', 3), 'the spans of a run');
});
afterAll(() => service.stop());

const get = (path: string): Promise<Response> => fetch(`${service.console}/api/v1${path}`);

async function table(query: string): Promise<readonly { readonly [column: string]: string }[]> {
  const response = await get(`/runs/export?${query}`);
  expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'attachment; filename="runs.csv"',
  ]);
  return parse(await response.text(), { columns: true });
}

const name = (at: number): string => `${sent[at]?.traceId}/${sent[at]?.spanId}`;

test('export: a table has a row for each run of the filter, newest first, and no formula', async () => {
  const rows = await table('agent=billing');
  expect(rows.map((row) => row['trace_id'])).toEqual([sent[1]?.traceId, sent[0]?.traceId]);
  expect(rows[0]).toMatchObject({
    agent: 'billing',
    input_excerpt: `'${hostile}`,
    cost_usd: '',
    'tool_error verdict': 'pass',
    'tool_error score': '1',
  });
  expect(rows[1]).toMatchObject({ input_excerpt: 'Where is it?', 'tool_error verdict': 'fail', 'tool_error score': '0.5' });
});

test('export: a table of selected runs, and of a limit', async () => {
  expect((await table(`runs=${name(2)},${name(0)}`)).map((row) => row['trace_id'])).toEqual([sent[2]?.traceId, sent[0]?.traceId]);
  expect((await table('limit=1')).map((row) => row['agent'])).toEqual(['shipping']);
  expect(await table('agent=none')).toEqual([]);
});

test('export: spans of selected runs are read as those of the runs', async () => {
  const response = await get(`/runs/export?format=otlp&runs=${name(0)},${name(1)}`);
  expect([response.status, response.headers.get('content-type'), response.headers.get('tracejury-left-out')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
    '0',
  ]);
  const lines = (await response.text()).trim().split('\n');
  const spans = lines.flatMap((line) => readTraces(Buffer.from(line), 'json').spans);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([sent[0]?.traceId, sent[1]?.traceId]));
  expect(spans).toHaveLength(6);
});

const refused: readonly (readonly [string, number, string])[] = [
  ['format=xml', 400, 'bad_request'],
  ['runs=abc', 400, 'bad_request'],
  [`runs=${'a'.repeat(32)}/${'b'.repeat(16)}`, 404, 'not_found'],
  [`runs=${'a'.repeat(32)}/${'b'.repeat(16)}&agent=x`, 400, 'bad_request'],
  ['limit=10001', 400, 'bad_request'],
  ['text=%21', 400, 'bad_request'],
  ['agent=none&format=otlp', 404, 'not_kept'],
];
for (const [query, status, code] of refused) {
  test(`export: ${query.slice(0, 30)} is answered ${status}`, async () => {
    const response = await get(`/runs/export?${query}`);
    expect([response.status, (parseJson(await response.text()) as { readonly error: { readonly code: string } }).error.code]).toEqual([
      status,
      code,
    ]);
  });
}
