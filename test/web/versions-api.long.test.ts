/** Figures by version, asked over HTTP of a whole service. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample, type Running } from '../service/running.ts';

let service: Running;
const versions = ['1.0', '1.1'] as const;
const runsEach = 200;
const now = Date.now() - 3_600_000;

/** One run in twenty of version 1.0 fails, and one in four of version 1.1; each run takes two or four seconds. */
function runSpans(trace: number, version: string, isBad: boolean): readonly Span[] {
  const start = now + trace;
  const resource = { 'service.name': 'shop', 'service.version': version };
  const root = trace * 10;
  return [
    agentSpan({
      id: root,
      trace,
      agent: 'support',
      input: 'Where is it?',
      start,
      end: start + (version === '1.0' ? 2_000 : 4_000),
      resource,
      attributes: { task: trace % 2 === 0 ? 'even' : 'odd' },
    }),
    modelSpan({
      id: root + 1,
      parent: root,
      trace,
      start: start + 1,
      resource,
      says: 'There.',
      attributes: {
        'gen_ai.system_instructions': [{ type: 'text', content: `Be kind, ${version}.` }],
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': version === '1.0' ? 10 : 20,
      },
    }),
    toolSpan({
      id: root + 2,
      parent: root,
      trace,
      start: start + 2,
      tool: 'find',
      resource,
      ...(isBad ? { status: 'error', message: 'down' } : { result: 'ok' }),
    }),
  ];
}

beforeAll(async () => {
  service = await running(
    'evaluators: [ tool_error ]\nprices: { m: { input_per_million: 10, output_per_million: 100 } }\nlimits: { metric_versions: 1 }\n',
  );
  const spans = versions.flatMap((version, which) =>
    Array.from({ length: runsEach }, (_, at) => runSpans(1 + which * runsEach + at, version, at % (which === 0 ? 20 : 4) === 0)).flat(),
  );
  for (let at = 0; at < spans.length; at += 300)
    await fetch(`${service.otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: writeTraces(spans.slice(at, at + 300), 'protobuf'),
    });
  await eventually(async () => {
    const { versions: told } = await get('/versions?agent=support');
    return (told as readonly JsonObject[]).reduce((sum, { runs }) => sum + Number(runs), 0) === 2 * runsEach || undefined;
  }, 'all runs in the sums');
});
afterAll(() => service.stop());

async function get(path: string, status = 200): Promise<{ readonly [key: string]: unknown }> {
  const response = await fetch(`${service.console}/api/v1${path}`);
  expect(response.status).toBe(status);
  return (await response.json()) as { readonly [key: string]: unknown };
}

test('versions API: lists the versions of an agent with runs, rates, tokens, cost and durations, the newest first', async () => {
  const { versions: told, whole } = await get('/versions?agent=support');
  expect(whole).toBe(true);
  expect(told).toMatchObject([
    {
      agent: 'support',
      version: '1.1',
      runs: runsEach,
      input_tokens_per_run: 100,
      output_tokens_per_run: 20,
      cost_per_run: expect.closeTo(0.003, 10),
      costed_runs: runsEach,
      mean_seconds: 4,
      models: [{ name: 'm', runs: runsEach }],
      prompts: [{ runs: runsEach, name: expect.stringMatching(/^[0-9a-f]{12}$/) }],
      evaluators: [{ name: 'tool_error', measure: 'pass_rate', rate: { point: 0.75, n: runsEach, confidence: 0.99 } }],
    },
    { version: '1.0', output_tokens_per_run: 10, evaluators: [{ rate: { point: 0.95 } }] },
  ]);
  const [newest] = told as readonly [{ readonly median_seconds: number; readonly p95_seconds: number; readonly first_seen: string }];
  for (const seconds of [newest.median_seconds, newest.p95_seconds]) expect(Math.abs(seconds - 4)).toBeLessThan(0.2);
  expect(Math.abs(Date.parse(newest.first_seen) - (now + runsEach + 1))).toBeLessThanOrEqual(1);
});

test('versions API: compares the newest version with the one before, within tasks, and reports that it is worse', async () => {
  const { comparison } = await get('/versions?agent=support');
  expect(comparison).toMatchObject({
    version: '1.1',
    against: '1.0',
    confidence: 0.99,
    evaluators: [
      {
        name: 'tool_error',
        version: { point: 0.75 },
        against: { point: 0.95 },
        difference: { point: expect.closeTo(-0.2, 10), not_estimable: null },
        tasks: 2,
        word: 'worse',
      },
    ],
  });
  const [{ difference, p }] = (comparison as { evaluators: readonly [{ difference: { low: number; high: number }; p: number }] })
    .evaluators;
  expect(difference.high).toBeLessThan(0);
  expect(difference.low).toBeLessThan(-0.2);
  expect(p).toBeLessThan(0.001);
});

test('versions API: compares the named versions, and lists the known ones when one is unknown', async () => {
  const { comparison } = await get('/versions?agent=support&version=1.0&against=1.1');
  expect(comparison).toMatchObject({ version: '1.0', against: '1.1', evaluators: [{ word: 'better' }] });
  // Nothing came before the first one.
  expect((await get('/versions?agent=support&version=1.0'))['comparison']).toBeNull();
  const { error } = await get('/versions?agent=support&version=9', 400);
  expect(error).toMatchObject({
    message: expect.stringContaining('version is "9", which this agent has no runs of.'),
    todo: 'Name one of "1.1", "1.0".',
  });
});

test('versions API: without an agent there is no comparison, and an unknown agent has no versions', async () => {
  expect(await get('/versions')).toMatchObject({ versions: [{ version: '1.1' }, { version: '1.0' }], comparison: null });
  expect(await get('/versions?agent=none')).toMatchObject({ versions: [], comparison: null });
});

test('versions API: the summary, the tools and the rates are split by version and filtered by it', async () => {
  const counted = async (query: string, verdict: string): Promise<number> =>
    ((await get(`/summary?bucket=day${query}`))['summary'] as readonly JsonObject[])
      .filter((row) => row['verdict'] === verdict)
      .reduce((sum, { count }) => sum + Number(count), 0);
  const { summary } = await get('/summary?bucket=day&by=version');
  expect([...new Set((summary as readonly JsonObject[]).map(({ version }) => version))]).toEqual(['1.0', '1.1']);
  expect([await counted('&version=1.0', 'pass'), await counted('&version=1.1', 'pass'), await counted('&version=1.1', 'fail')]).toEqual([
    190, 150, 50,
  ]);
  expect(await counted('&by=version', 'pass')).toBe(340);
  const { tools } = await get('/tools?by=version');
  expect((tools as readonly JsonObject[]).map(({ version, calls, errors }) => [version, calls, errors])).toEqual([
    ['1.0', 200, 10],
    ['1.1', 200, 50],
  ]);
  const { rates } = await get('/rates?evaluator=tool_error&by=version');
  expect((rates as readonly JsonObject[]).map(({ version, judged }) => [version, (judged as JsonObject)['point']])).toEqual([
    [null, expect.closeTo(0.85, 10)],
    ['1.0', expect.closeTo(0.95, 10)],
    ['1.1', expect.closeTo(0.75, 10)],
  ]);
});

test('versions API: figures are split by model and prompt as well, and runs are found by prompt', async () => {
  const { versions: told } = await get('/versions?agent=support&version=1.0&against=1.1');
  const prompts = (told as readonly { prompts: readonly { name: string }[] }[]).map((one) => one.prompts[0]?.name ?? '');
  expect(new Set(prompts).size).toBe(2);
  const { tools } = await get('/tools?by=prompt');
  expect(new Set((tools as readonly JsonObject[]).map(({ prompt }) => prompt))).toEqual(new Set(prompts));
  expect((await get('/tools?by=model'))['tools']).toMatchObject([{ model: 'm', calls: 400, errors: 60 }]);
  expect((await get('/tools?model=none'))['tools']).toEqual([]);
  const { runs } = await get(`/runs?prompt=${prompts[0] ?? ''}&limit=1`);
  expect(runs).toMatchObject([{ version: '1.1' }]);
});

test('versions API: metrics distinguish as many versions as the configuration allows', async () => {
  const page = await service.metrics();
  const results = (version: string): number | undefined =>
    sample(page, 'tracejury_evaluation_results_total', {
      tracejury_target_service_version: version,
      gen_ai_evaluation_score_label: 'pass',
    });
  expect([results('1.0'), results('1.1'), results('other')]).toEqual([190, undefined, 150]);
});

test('versions API: a comparison is as the OpenAPI document has it', async () => {
  const document = await get('/openapi.json');
  const { components } = document as { readonly components: JsonObject };
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({
    $ref: '#/components/schemas/VersionComparison',
    components,
  });
  const { comparison } = await get('/versions?agent=support');
  expect(validate(comparison)).toBe(true);
  expect(validate({ ...(comparison as JsonObject), confidence: 'high' })).toBe(false);
});
