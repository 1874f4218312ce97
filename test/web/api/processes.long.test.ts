/** The normal process of an agent, learnt by a whole service from spans, and asked for over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { loadConfigWithFiles } from '../../../src/config/load.ts';
import { isJsonObject, type JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { eventually, running, sample, type Running } from '../../service/running.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-processes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const learns =
  'evaluators:\n  - tool_error\n  - { use: process_conformance, options: { runs_min: 60, runs_max: 60 } }\n  - { use: novelty, options: { runs_min: 60, runs_max: 60 } }\n';
let lastTrace = 0;

function runSpans(tools: readonly string[], version: string): readonly Span[] {
  const trace = ++lastTrace;
  const resource = { 'service.name': 'shop', 'service.version': version };
  return [
    ...tools.map((tool, at) =>
      toolSpan({
        id: at + 2,
        parent: 1,
        trace,
        start: at * 2 + 1,
        end: at * 2 + 2,
        tool,
        arguments: '{"order":"A-1"}',
        result: 'ok',
        resource,
      }),
    ),
    agentSpan({ id: 1, trace, start: 0, end: 100, agent: 'support', input: `q ${trace}`, output: 'done', resource }),
  ];
}

const normal = ['verify', 'lookup', 'refund'];

async function send({ otlp }: Running, runs: number, tools: readonly string[], version = '1.0'): Promise<void> {
  const spans = Array.from({ length: runs }, () => runSpans(tools, version)).flat();
  const body = writeTraces(spans, 'protobuf');
  const response = await fetch(`${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  });
  expect(response.status).toBe(200);
}

async function get({ console: page }: Running, path: string): Promise<JsonObject> {
  const response = await fetch(`${page}/api/v1${path}`);
  const answer: unknown = await response.json();
  if (!response.ok || !isJsonObject(answer)) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function learnt(service: Running, version: string, runs: number): Promise<JsonObject> {
  return await eventually(async () => {
    const { processes } = (await get(service, '/processes?agent=support')) as { readonly processes?: readonly JsonObject[] };
    return processes?.find((one) => one['version'] === version && one['runs'] === runs);
  }, `${runs} runs of ${version}`);
}

async function newestVerdict(service: Running, evaluator: string, verdict: string): Promise<JsonObject> {
  return await eventually(async () => {
    const { runs } = (await get(service, `/runs?evaluator=${evaluator}&verdict=${verdict}&limit=1`)) as {
      readonly runs?: readonly JsonObject[];
    };
    const [newest] = runs ?? [];
    if (newest === undefined) return undefined;
    const run = await get(service, `/runs/${String(newest['trace_id'])}/${String(newest['span_id'])}`);
    return (run['verdicts'] as readonly JsonObject[]).find((one) => one['name'] === evaluator);
  }, `a ${verdict} of ${evaluator}`);
}

/** The places where an answer differs from the OpenAPI document. */
async function faultsOf(service: Running, path: string, answer: JsonObject): Promise<readonly unknown[]> {
  const document = (await get(service, '/openapi.json')) as unknown as {
    readonly paths: {
      readonly [path: string]: {
        readonly get: {
          readonly responses: { readonly 200: { readonly content: { readonly 'application/json': { readonly schema: JsonObject } } } };
        };
      };
    };
    readonly components: JsonObject;
  };
  const schema = document.paths[path]?.get.responses[200].content['application/json'].schema ?? false;
  if (schema === false) throw new Error(`${path} is not in the document`);
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({ ...schema, components: document.components });
  validate(answer);
  return validate.errors ?? [];
}

test('processes: learnt over OTLP, and shown as figures, a chart, rules and drift', async () => {
  const service = await running(learns);
  try {
    await send(service, 60, normal);
    expect(await learnt(service, '1.0', 60)).toMatchObject({ agent: 'support', tenant: '', frozen: true });
    await send(service, 1, ['verify', 'refund', 'lookup', 'delete_account']);
    expect(await newestVerdict(service, 'process_conformance', 'fail')).toMatchObject({
      status: 'scored',
      explanation: expect.stringContaining('refund before lookup: seen in 0 of 60 runs'),
    });
    expect(await newestVerdict(service, 'novelty', 'fail')).toMatchObject({
      label: 'novel',
      explanation: expect.stringContaining('tool delete_account'),
    });
    await send(service, 60, ['verify', 'lookup', 'approve', 'refund'], '1.1');
    await learnt(service, '1.1', 60);

    const found = await get(service, '/processes/support/1.1');
    expect(found).toMatchObject({
      version: '1.1',
      runs: 60,
      figures: { tool_calls: { runs: 60, p50: 4 }, tokens: { runs: 0, p50: null } },
      drift: { against: '1.0', against_runs: 60, new_tools: ['approve'], gone_tools: [], degrees: 1 },
      model: { runs: 60, beyond: { tools: 0, transitions: 0, orders: 0 } },
    });
    expect(await faultsOf(service, '/processes/{agent}/{version}', found)).toEqual([]);
    expect(await faultsOf(service, '/processes', await get(service, '/processes'))).toEqual([]);
    const drift = found['drift'] as JsonObject;
    expect(drift['p']).toBeLessThan(1e-10);
    expect((drift['steps'] as readonly JsonObject[]).map(({ from, to }) => `${String(from)} ${String(to)}`).toSorted()).toEqual([
      'lookup approve',
      'lookup refund',
    ]);
    expect(await get(service, '/processes/support/1.0')).toMatchObject({ drift: null });
    expect(await get(service, '/processes/support/1.0?against=1.1')).toMatchObject({ drift: { against: '1.1', gone_tools: ['approve'] } });

    const chart = await fetch(`${service.console}/api/v1/processes/support/1.1?format=mermaid`);
    expect(chart.headers.get('content-type')).toContain('text/plain');
    expect(chart.headers.get('content-disposition')).toContain('processes.mmd');
    expect(await chart.text()).toContain('-->|"60, 100 %"|');
    expect(sample(await service.metrics(), 'tracejury_process_runs_total', { tracejury_outcome: 'learnt' })).toBe(120);

    const rules = await (await fetch(`${service.console}/api/v1/processes/support/1.1?format=rules`)).text();
    const { config } = await loadConfigWithFiles({ validators, file: 'rules.yaml', text: rules, env: {}, evaluators });
    expect(config.evaluators.map(({ configured }) => configured.evaluator.id)).toEqual(
      expect.arrayContaining(['tool_call_order', 'tool_permission', 'tool_trajectory']),
    );
  } finally {
    await service.stop();
  }
});

test('processes: the answer of the API is the model of an evaluator elsewhere', async () => {
  const service = await running(learns);
  await send(service, 60, normal);
  await learnt(service, '1.0', 60);
  writeFileSync(join(folder, 'support.json'), JSON.stringify(await get(service, '/processes/support/1.0')));
  await service.stop();
  const fixed = await running('evaluators:\n  - { use: process_conformance, options: { model: support.json } }\n', {
    file: join(folder, 'tracejury.yaml'),
  });
  await send(fixed, 1, ['verify', 'refund']);
  expect(await newestVerdict(fixed, 'process_conformance', 'fail')).toMatchObject({
    explanation: expect.stringContaining('lookup missing before refund'),
  });
  expect(await get(fixed, '/processes')).toMatchObject({ processes: [] });
  await fixed.stop();
});

test('processes: a learnt process outlives the service', async () => {
  const store = `store: { url: "sqlite:${join(folder, 'outlives.db')}" }\n`;
  const service = await running(`${store}${learns}`);
  await send(service, 200, normal);
  const row = await eventually(async () => {
    const { processes } = (await get(service, '/processes')) as { readonly processes?: readonly JsonObject[] };
    return processes?.find((one) => one['frozen'] === true);
  }, 'a frozen process');
  expect(row['runs']).toBeGreaterThanOrEqual(60);
  expect(row['runs']).toBeLessThanOrEqual(120);
  await service.stop();
  const again = await running(`${store}${learns}`);
  await send(again, 1, ['refund']);
  expect(await newestVerdict(again, 'process_conformance', 'fail')).toMatchObject({ details: { learnt_runs: row['runs'] } });
  await again.stop();
});

test('processes: one that is deleted is learnt anew', async () => {
  const tokens =
    '[ { name: people, value: read-0123456789ab, may: [read] }, { name: ops, value: ops-0123456789abc, may: [read, operate] } ]';
  const service = await running(learns, { tokens });
  const as = async (token: string, method = 'DELETE'): Promise<JsonObject> => {
    const response = await fetch(`${service.console}/api/v1/processes${method === 'DELETE' ? '/support/1.0' : ''}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
  const runsOf = async (): Promise<number> => {
    const { processes } = (await as('read-0123456789ab', 'GET')) as { readonly processes?: readonly JsonObject[] };
    return Number(processes?.find(({ version }) => version === '1.0')?.['runs'] ?? 0);
  };
  await send(service, 100, normal);
  const closed = async (): Promise<number> => {
    const page = await (await fetch(`${service.console}/metrics`, { headers: { authorization: 'Bearer read-0123456789ab' } })).text();
    return [...page.matchAll(/^tracejury_process_runs_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  await eventually(async () => ((await closed()) === 100 ? true : undefined), 'all runs');
  await eventually(async () => ((await runsOf()) >= 60 ? true : undefined), 'a learnt process');
  expect(await as('read-0123456789ab')).toMatchObject({ status: 401 });
  expect(await as('ops-0123456789abc')).toMatchObject({ status: 200, deleted: true });
  expect(await runsOf()).toBe(0);
  expect(await as('ops-0123456789abc')).toMatchObject({ status: 200, deleted: false });
  await send(service, 8, normal);
  expect(await eventually(async () => ((await runsOf()) === 8 ? 8 : undefined), 'a process of the runs after the deletion')).toBe(8);
  await service.stop();
});

const refused = [
  { path: '/processes/support/9', status: 404, code: 'not_found' },
  { path: '/processes/support/9?format=mermaid', status: 404, code: 'not_found' },
  { path: '/processes/-/-', status: 404, code: 'not_found' },
  { path: '/processes/support/9?format=svg', status: 400, code: 'bad_request' },
];

test('processes: what is not there, and what cannot be read, is answered with the reason', async () => {
  const service = await running(learns);
  for (const { path, status, code } of refused) {
    const response = await fetch(`${service.console}/api/v1${path}`);
    expect([path, response.status]).toEqual([path, status]);
    expect(await response.json()).toMatchObject({ error: { code } });
  }
  await service.stop();
});
