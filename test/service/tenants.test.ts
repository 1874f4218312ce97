/** Several tenants on one service: spans of one move no figure of another, and a token may see only its tenant. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonText, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { eventually, running, sample, type Running } from './running.ts';

const honestRuns = 60;
let service: Running;
let judge: ChatServer;

beforeAll(async () => {
  judge = await chatServer((response, request) =>
    says(
      jsonText({
        tasks: [
          { number: 1, explanation: 'So it is.', completed: !request.body.messages.some(({ content }) => content.includes('a bad one')) },
        ],
      }),
    )(response, request),
  );
  const config = `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: [ "answer" ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small, api_key: secret } }\n`;
  service = await running(config, {
    tokens:
      '[ { name: honest, value: honest-secret-9f27c1d0, may: [ ingest, read ], sees: own }, { name: hostile, value: hostile-secret-9f27c1d0, may: [ ingest ] }, { name: people, value: people-secret-9f27c1d0, may: [ read ] } ]',
  });
  const started = Date.now();
  const spans = Array.from({ length: honestRuns }, (_, at) => runOf(at + 1, { started, input: 'a good one' })).flat();
  await send('honest', spans);
  // It claims to represent 2^56 runs, and to be drawn at any rate.
  await send('hostile', runOf(500, { started, input: 'a bad one', traceState: 'ot=rv:ffffffffffffff;th:ffffffffffffff' }));
  await eventually(
    async () =>
      (sample(await metrics(), 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'done', tracejury_tenant: 'hostile' }) ===
        1 &&
        (await get('people', '/rates')).rates?.[0]?.['rate'] !== undefined &&
        ((await get('people', '/rates')).rates?.[0]?.['rate'] as JsonObject | undefined)?.['n'] === honestRuns + 1) ||
      undefined,
    'all verdicts',
  );
});
afterAll(async () => {
  await service.stop();
  await judge.close();
});

function runOf(
  trace: number,
  { started, input, traceState = '' }: { readonly started: number; readonly input: string; readonly traceState?: string },
): readonly Span[] {
  const [start, end] = [started - 1_000, started];
  return [
    toolSpan({ id: 2, trace, parent: 1, tool: `tool of ${input}`, result: 'r', start, end }),
    { ...agentSpan({ id: 1, trace, agent: 'a', input, output: 'done', start, end }), traceState },
  ];
}

async function send(token: string, spans: readonly Span[]): Promise<void> {
  const response = await fetch(`${service.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', authorization: `Bearer ${token}-secret-9f27c1d0` },
    body: new Uint8Array(writeTraces(spans, 'protobuf')),
  });
  expect(response.status).toBe(200);
}

interface Answer extends Record<'rates' | 'summary' | 'tools' | 'runs' | 'judges' | 'decisions', readonly JsonObject[] | undefined> {
  readonly upstream?: JsonObject;
  readonly error?: JsonObject;
}

async function asked(token: string, path: string): Promise<Response> {
  return await fetch(`${service.console}${path}`, { headers: { authorization: `Bearer ${token}-secret-9f27c1d0` } });
}

async function get(token: string, path: string): Promise<Answer> {
  return (await (await asked(token, `/api/v1${path}`)).json()) as Answer;
}

async function metrics(): Promise<string> {
  return await (await asked('people', '/metrics')).text();
}

test('tenants: a run that claims to represent all others has a bounded part of the rate of all tenants, and the answer admits it', async () => {
  const { rates, upstream } = await get('people', '/rates?by=tenant');
  const [all, ...each] = rates ?? [];
  expect(all).toMatchObject({ name: 'done', tenant: null, weights: { capped: 1 }, rate: { n: honestRuns + 1 } });
  expect((all?.['rate'] as JsonObject | undefined)?.['point']).toBeCloseTo(0.95, 6);
  expect(each.map(({ tenant, rate }) => [tenant, (rate as JsonObject)['point'], (rate as JsonObject)['n']])).toEqual([
    ['honest', 1, honestRuns],
    ['hostile', null, null],
  ]);
  expect(upstream).toEqual({ probability_min: 0.0001, raised: 1 });
  expect(sample(await metrics(), 'tracejury_sampling_raised_total')).toBe(1);
});

test('tenants: figures are about one tenant only where it is named', async () => {
  const ofTenant = async (tenant: string) => ({
    rate: ((await get('people', `/rates?tenant=${tenant}`)).rates ?? []).map(({ rate, tenant: of }) => [of, (rate as JsonObject)['point']]),
    counts: ((await get('people', `/summary?tenant=${tenant}&evaluator=done&bucket=day`)).summary ?? []).map(({ verdict, count }) => [
      verdict,
      count,
    ]),
    tools: ((await get('people', `/tools?tenant=${tenant}`)).tools ?? []).map(({ name, calls }) => [name, calls]),
  });
  expect(await ofTenant('honest')).toEqual({
    rate: [['honest', 1]],
    counts: [['pass', honestRuns]],
    tools: [['tool of a good one', honestRuns]],
  });
  expect(await ofTenant('hostile')).toEqual({ rate: [['hostile', null]], counts: [['fail', 1]], tools: [['tool of a bad one', 1]] });
  expect(await ofTenant('')).toMatchObject({ counts: [], tools: [] });
});

test('tenants: a token that sees one tenant gets nothing of another, on any path', async () => {
  const counts = ((await get('honest', '/summary?evaluator=done&bucket=day')).summary ?? []).map(({ verdict }) => verdict);
  expect(counts).toEqual(['pass']);
  expect((await get('honest', '/rates')).rates).toMatchObject([{ tenant: 'honest', rate: { point: 1 }, weights: { capped: 0 } }]);
  expect((await get('honest', '/runs?limit=200')).runs?.map(({ tenant }) => tenant)).toEqual(
    Array.from({ length: honestRuns }, () => 'honest'),
  );
  expect(await get('honest', '/judges')).toMatchObject({ budgets: [], drift: [] });
  const foreign = '0'.repeat(29) + '1f4';
  expect((await get('people', `/decisions/${foreign}`)).decisions).not.toEqual([]);
  expect((await get('honest', `/decisions/${foreign}`)).decisions).toEqual([]);
  const statuses = async (...paths: readonly string[]) =>
    await Promise.all(paths.map(async (path) => (await asked('honest', path)).status));
  expect(
    await statuses(
      '/metrics',
      '/api/v1/evaluability',
      '/api/v1/exporters',
      '/api/v1/exports',
      '/api/v1/rates?tenant=hostile',
      '/api/v1/runs?tenant=',
    ),
  ).toEqual([403, 403, 403, 403, 403, 403]);
  expect(
    await statuses(
      '/',
      '/api/v1/openapi.json',
      '/api/v1/tools',
      `/api/v1/runs/${foreign}/${'0'.repeat(15)}1`,
      '/api/v1/runs?tenant=honest',
    ),
  ).toEqual([200, 200, 200, 404, 200]);
  expect(
    (
      await fetch(`${service.console}/api/v1/exports/retry`, {
        method: 'POST',
        headers: { authorization: 'Bearer honest-secret-9f27c1d0' },
      })
    ).status,
  ).toBe(401);
});

test('tenants: result metrics have them as a label, and each has rates', async () => {
  const page = await metrics();
  for (const [tenant, count] of [
    ['honest', honestRuns],
    ['hostile', 1],
  ] as const) {
    expect(sample(page, 'tracejury_runs_total', { tracejury_tenant: tenant })).toBe(count);
    expect(sample(page, 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'tool_error', tracejury_tenant: tenant })).toBe(
      count,
    );
    expect(sample(page, 'tracejury_decisions_total', { gen_ai_evaluation_name: 'tool_error', tracejury_tenant: tenant })).toBe(count);
  }
});
