/** Experiments over HTTP, of a whole service that was sent runs which name one in their resource. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../src/model/json.ts';
import { eventually, running, type Running, sendAgentRun } from '../../service/running.ts';

let service: Running;

interface Answer {
  readonly status: number;
  readonly body: JsonObject & { readonly results?: readonly JsonObject[] };
}

async function asked(path: string): Promise<Answer> {
  const response = await fetch(`${service.console}/api/v1${path}`);
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function send(experiment: string, example: string, fails: boolean): Promise<{ readonly traceId: string }> {
  return await sendAgentRun(service.otlp, { fails, resource: { 'tracejury.experiment.id': experiment, 'tracejury.example.id': example } });
}

const results = (id: string, count: number): Promise<readonly JsonObject[]> =>
  eventually(async () => {
    const { status, body } = await asked(`/experiments/${id}/results`);
    return status === 200 && body.results?.length === count ? body.results : undefined;
  }, `${count} results of ${id}`);

beforeAll(async () => {
  service = await running('');
  for (const example of ['one', 'two', 'three']) await send('main', example, example === 'one');
  for (const example of ['one', 'two', 'four']) await send('branch', example, example !== 'four');
  await results('main', 3);
  await results('branch', 3);
});
afterAll(() => service.stop());

test('experiments: runs that name an experiment are its results, without anyone who begins it', async () => {
  const found = await results('main', 3);
  expect(found.find((one) => one['example_id'] === 'one')).toMatchObject({
    repeat: 1,
    status: 'failed',
    agent: { name: 'order_support' },
    verdicts: expect.arrayContaining([expect.objectContaining({ name: 'tool_error', verdict: 'fail', score: 0.5 })]) as unknown,
  });
  expect(await asked('/experiments/main')).toMatchObject({
    status: 200,
    body: { name: 'main', state: 'running', dataset: null, results: 3, statuses: { passed: 2, failed: 1 }, summary: { not_completed: 0 } },
  });
});

test('experiments: a run that ended in an error is a failed result with its reason', async () => {
  const resource = { 'tracejury.experiment.id': 'outage', 'tracejury.example.id': 'one' };
  await sendAgentRun(service.otlp, { fails: false, runError: '503 overloaded', resource });
  expect(await results('outage', 1)).toMatchObject([
    { status: 'failed', error: { kind: 'run_error', message: 'The run ended in an error: 503 overloaded' } },
  ]);
});

test('experiments: another run of the same example is its next repeat', async () => {
  for (let at = 0; at < 3; at++) await send('repeated', 'one', false);
  expect((await results('repeated', 3)).map((one) => one['repeat'])).toEqual([1, 2, 3]);
});

test('experiments: a run without an example, or with an id that is none, belongs to no experiment', async () => {
  await sendAgentRun(service.otlp, { resource: { 'tracejury.experiment.id': 'no-example' } });
  await send('a/b', 'one', false);
  const last = await send('last', 'one', false);
  await results('last', 1);
  expect((await asked(`/runs?trace=${last.traceId}`)).status).toBe(200);
  expect((await asked('/experiments/no-example')).status).toBe(404);
  expect(JSON.stringify((await asked('/experiments')).body)).not.toContain('a/b');
  expect(await service.metrics()).toMatch(/tracejury_experiments_results_total\{.*tracejury_outcome="added"/);
});

test('experiments: two are compared on the examples that both have', async () => {
  const { body } = await asked('/experiments/compare?a=main&b=branch');
  expect(body).toMatchObject({ examples: 2, only_a: { count: 1, examples: ['three'] }, only_b: { count: 1, examples: ['four'] } });
  expect(body['evaluators']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'tool_error', flipped_count: 1, flipped: [expect.objectContaining({ example_id: 'two' })] }),
    ]),
  );
});

test('experiments: results are those of a status, or of an example', async () => {
  const ids = async (query: string): Promise<unknown> =>
    (await asked(`/experiments/main/results?${query}`)).body.results?.map((one) => one['example_id']);
  expect(await ids('status=failed')).toEqual(['one']);
  expect(await ids('example=two')).toEqual(['two']);
  expect(await ids('status=failed&example=two')).toEqual([]);
});

test('experiments: a flipped example names both runs, and what they took', async () => {
  const { body } = await asked('/experiments/compare?a=main&b=branch');
  const own = (body['evaluators'] as readonly JsonObject[]).find((one) => one['name'] === 'tool_error');
  const runs = async (id: string): Promise<unknown> => (await results(id, 3)).find((one) => one['example_id'] === 'two')?.['trace_id'];
  expect(own?.['flipped']).toMatchObject([
    {
      a: { value: 1, trace_id: await runs('main') },
      b: { value: 0, trace_id: await runs('branch'), duration_seconds: expect.any(Number) as unknown },
    },
  ]);
});

for (const [format, type, says] of [
  ['table', 'text/plain', /^A {2}main/],
  ['markdown', 'text/markdown', /^### /],
  ['junit', 'application/xml', /^<\?xml/],
  ['json', 'application/json', /^\{"a":/],
  ['html', 'text/html', /^<!doctype html>/],
] as const) {
  test(`experiments: the comparison as ${format} is a file`, async () => {
    const response = await fetch(`${service.console}/api/v1/experiments/compare?a=main&b=branch&format=${format}`);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="main-against-branch\.\w+"$/);
    expect(await response.text()).toMatch(says);
  });
}

test('experiments: the history has the rates of each agent, oldest first, or only one agent or name', async () => {
  const { body } = await asked('/experiments/history?limit=100');
  const agents = body['agents'] as readonly (JsonObject & { readonly experiments: readonly JsonObject[] })[];
  const own = agents.find(({ agent }) => agent === 'order_support')?.experiments ?? [];
  expect(own.map(({ id }) => id).filter((id) => id === 'main' || id === 'branch')).toEqual(['main', 'branch']);
  expect(own.find(({ id }) => id === 'main')?.['evaluators']).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'tool_error', passed: 2, failed: 1 })]),
  );
  expect(body['left_out']).toBe(0);
  expect((await asked('/experiments/history?agent=nobody')).body['agents']).toEqual([]);
  expect((await asked('/experiments/history?name=main')).body['agents']).toMatchObject([{ experiments: [{ id: 'main' }] }]);
});

test('experiments: one is deleted with its results, and a second deletion does not fail', async () => {
  await send('gone', 'one', false);
  await results('gone', 1);
  const remove = async (): Promise<unknown> =>
    await (await fetch(`${service.console}/api/v1/experiments/gone`, { method: 'DELETE' })).json();
  expect([await remove(), await remove()]).toEqual([{ deleted: true }, { deleted: false }]);
  expect((await asked('/experiments/gone')).status).toBe(404);
});

test('experiments: the list has the newest first, by name and in pages', async () => {
  const first = await asked('/experiments?limit=1');
  expect(first.body['next']).toBeTypeOf('string');
  expect((await asked('/experiments?name=main')).body['experiments']).toMatchObject([{ id: 'main' }]);
  expect((await asked(`/experiments?limit=1&cursor=${String(first.body['next'])}`)).body['experiments']).toHaveLength(1);
});

test('experiments: runs that name a stored dataset are compared with what its examples expect', async () => {
  const put = async (examples: readonly JsonObject[]): Promise<void> => {
    const response = await fetch(`${service.console}/api/v1/datasets/answers/examples`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ examples }),
    });
    expect(response.status).toBe(200);
  };
  await put([
    { id: 'right', input: 'x', expect: { output: 'It is on its way.' } },
    { id: 'wrong', input: 'x', expect: { output: 'Done.', tool_calls: [{ name: 'refund' }] } },
  ]);
  const run = async (experiment: string, example: string, dataset: string, version?: string): Promise<void> => {
    const resource = {
      'tracejury.experiment.id': experiment,
      'tracejury.example.id': example,
      'tracejury.dataset.name': dataset,
      ...(version === undefined ? {} : { 'tracejury.dataset.version': version }),
    };
    await sendAgentRun(service.otlp, { fails: false, resource });
  };
  for (const example of ['right', 'wrong', 'unknown']) await run('expecting', example, 'answers');
  const found = await results('expecting', 3);
  const verdicts = (id: string): readonly unknown[] => {
    const own = (found.find((one) => one['example_id'] === id)?.['verdicts'] ?? []) as readonly JsonObject[];
    return own.map(({ name, verdict }) => `${String(name)} ${String(verdict)}`);
  };
  expect(verdicts('right')).toContain('exact_match pass');
  expect(verdicts('wrong')).toEqual(expect.arrayContaining(['exact_match fail', 'tool_trajectory fail']));
  expect(verdicts('unknown').join()).not.toContain('exact_match');
  expect(found.map((one) => `${String(one['example_id'])} ${String(one['status'])}`).toSorted()).toEqual([
    'right passed',
    'unknown passed',
    'wrong failed',
  ]);
  // A later version of the dataset is of no concern to an experiment that has begun.
  await put([{ id: 'right', input: 'x', expect: { output: 'Other.' } }]);
  await run('expecting', 'right', 'answers');
  expect((await results('expecting', 4)).at(-1)).toMatchObject({ example_id: 'right', repeat: 2, status: 'passed' });
  expect((await asked('/experiments/expecting')).body).toMatchObject({ dataset: { name: 'answers', version: 1, examples: 2 } });
  await run('expecting-newest', 'right', 'answers');
  await run('expecting-first', 'right', 'answers', '1');
  expect(await results('expecting-newest', 1)).toMatchObject([{ status: 'failed' }]);
  expect(await results('expecting-first', 1)).toMatchObject([{ status: 'passed' }]);
  await run('expecting-none', 'right', 'no-such-dataset');
  expect(await results('expecting-none', 1)).toMatchObject([{ status: 'passed' }]);
  expect((await asked('/experiments/expecting-none')).body['dataset']).toBeNull();
  expect((await asked('/experiments/compare?a=expecting-first&b=expecting-none')).body).toMatchObject({
    lost: expect.arrayContaining(['exact_match']) as unknown,
    unscored_regressions: [],
    evaluators: expect.arrayContaining([
      expect.objectContaining({
        name: 'exact_match',
        result: 'not_comparable',
        difference: expect.objectContaining({ reason: 'no_common_example' }) as unknown,
        unscored: expect.objectContaining({
          a: { runs: 1, unscored: 0 },
          b: { runs: 1, unscored: 1 },
          range: { low: -1, high: 0 },
          less_scored: { count: 1, examples: ['right'] },
        }) as unknown,
      }),
    ]) as unknown,
  });
  expect(await service.metrics()).toMatch(/tracejury_experiments_results_total\{.*tracejury_outcome="no_example"/);
});

const refused = [
  { path: '/experiments/nobody', status: 404 },
  { path: '/experiments/nobody/results', status: 404 },
  { path: '/experiments/compare?a=main&b=nobody', status: 404 },
  { path: '/experiments/compare?a=main', status: 422 },
  { path: '/experiments/..%2Fx', status: 400 },
  { path: '/experiments?limit=0', status: 400 },
  { path: '/experiments?cursor=%22', status: 400 },
] as const;

for (const { path, status } of refused) {
  test(`experiments: ${path} is ${status}`, async () => {
    expect((await asked(path)).status).toBe(status);
  });
}

test('experiments: answers are as the OpenAPI document has them', async () => {
  const document = (await asked('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  for (const [path, url] of [
    ['/experiments', '/experiments'],
    ['/experiments/{id}', '/experiments/main'],
    ['/experiments/{id}/results', '/experiments/main/results'],
    ['/experiments/compare', '/experiments/compare?a=main&b=branch'],
    ['/experiments/compare', '/experiments/compare?a=expecting-first&b=expecting-none'],
    ['/experiments/history', '/experiments/history'],
  ] as const) {
    const place = `api#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/get/responses/200/content/application~1json/schema`;
    const { body } = await asked(url);
    expect([url, ajv.validate({ $ref: place }, body), ajv.errors]).toEqual([url, true, null]);
  }
});
