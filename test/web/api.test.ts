/** The read API, asked over HTTP of a whole service that was sent runs by a real SDK. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, jsonText, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { eventually, running, sendAgentRun, type Running } from '../service/running.ts';

let service: Running;
const sent: { readonly traceId: string; readonly spanId: string }[] = [];
const agents = ['billing', 'shipping', 'shipping'];

beforeAll(async () => {
  service = await running('');
  for (const [at, agent] of agents.entries())
    sent.push(await sendAgentRun(service.otlp, { agent, fails: at !== 2, input: 'Which order is 1234567890123456789?' }));
  await eventually(async () => ((await list('/runs')).length === agents.length ? true : undefined), 'all runs in the store');
  await eventually(
    async () => ((await list(`/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/spans`, 'spans')).length === 3 ? true : undefined),
    'the spans of a run that failed',
  );
});
afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

async function get(path: string, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
  const response = await fetch(`${service.console}/api/v1${path}`, { headers });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function found(path: string): Promise<JsonObject> {
  const { status, body } = await get(path);
  expect(status).toBe(200);
  return body;
}

/** The entries of a list of one page. */
async function list(path: string, key = path.split(/[/?]/)[1] ?? ''): Promise<readonly JsonObject[]> {
  return objects((await found(path))[key]);
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonArray(value)) throw new Error('no list');
  return value.map((one) => {
    if (!isJsonObject(one)) throw new Error('no object');
    return one;
  });
}

function named(rows: readonly JsonObject[], name: string): JsonObject | undefined {
  return rows.find((row) => row['name'] === name);
}

test('api: runs come newest first, with their verdicts and without their long fields', async () => {
  const { next } = await found('/runs');
  expect(next).toBeNull();
  const runs = await list('/runs');
  expect(runs.map((run) => String(run['trace_id'])).toSorted()).toEqual(sent.map(({ traceId }) => traceId).toSorted());
  const failing = runs.find((run) => run['trace_id'] === sent[0]?.traceId);
  expect(failing).toMatchObject({
    span_id: sent[0]?.spanId,
    tenant: '',
    agent: 'billing',
    service: 'shop',
    session_id: 's-1',
    completeness: 'complete',
    revision: 1,
  });
  expect(failing?.['started_at']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/);
  expect(named(objects(failing?.['verdicts']), 'tool_error')).toMatchObject({ status: 'scored', passed: false, score: 0.5 });
  expect(Object.keys(failing ?? {})).not.toContain('input');
  expect(failing).toMatchObject({ input_excerpt: 'Which order is 1234567890123456789?', labels: [], cost_usd: null });
  expect(failing?.['duration_seconds']).toBeGreaterThanOrEqual(0);
});

const filters: readonly (readonly [string, readonly number[]])[] = [
  ['agent=billing', [0]],
  ['service=shop', [0, 1, 2]],
  ['evaluator=tool_error&verdict=fail', [0, 1]],
  ['evaluator=tool_error&verdict=fail&agent=shipping', [1]],
  ['verdict=skipped&evaluator=tool_error', []],
  ['session=s-1', [0, 1, 2]],
  ['from=2001-01-01&to=2002-01-01T00:00:00Z', []],
  ['from=2001-01-01', [0, 1, 2]],
  ['tenant=', [0, 1, 2]],
  ['tenant=team', []],
  ['tool=find_order', [0, 1, 2]],
  ['tool=find', []],
  ['label=good', []],
  ['min_duration=0&max_duration=3600', [0, 1, 2]],
  ['min_duration=3600', []],
  ['issue=000000000000', []],
  ['min_cost=0', []],
  ['status=ok', [0, 1, 2]],
  ['status=error', []],
];
for (const [query, wanted] of filters) {
  test(`api: runs?${query}`, async () => {
    const runs = await list(`/runs?${query}`);
    expect(runs.map((run) => sent.findIndex(({ traceId }) => traceId === run['trace_id'])).toSorted((one, other) => one - other)).toEqual(
      wanted,
    );
  });
}

test('api: pages follow one another', async () => {
  const seen: string[] = [];
  for (let cursor = ''; seen.length < 10;) {
    const page = await found(`/runs?limit=1${cursor}`);
    seen.push(...objects(page['runs']).map((run) => String(run['trace_id'])));
    if (typeof page['next'] !== 'string') break;
    cursor = `&cursor=${page['next']}`;
  }
  expect(seen.toSorted()).toEqual(sent.map(({ traceId }) => traceId).toSorted());
});

test('api: one run has its tool calls, explanations, evidence and decisions', async () => {
  const run = await found(`/runs/${sent[0]?.traceId}/${sent[0]?.spanId}`);
  expect(run).toMatchObject({
    agent: 'billing',
    content_kept: true,
    final_response: 'It is on its way.',
    tool_calls: [
      { name: 'find_order', arguments: { order_id: 'A-1' } },
      { name: 'notify', error: { message: 'mail server down' } },
    ],
  });
  const verdict = named(objects(run['verdicts']), 'tool_error');
  expect(verdict).toMatchObject({ passed: false, sample_probability: 1, evidence: [objects(run['tool_calls'])[1]?.['span_id']] });
  expect(verdict?.['explanation']).toContain('notify');
  expect(named(objects(run['decisions']), 'tool_error')).toMatchObject({ decision: 'scored' });
});

test('api: the spans of a run come whole as a file of OTLP/JSON lines', async () => {
  const response = await fetch(`${service.console}/api/v1/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/otlp`);
  expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
    'attachment; filename="run.otlp.jsonl"',
  ]);
  const text = await response.text();
  expect([
    text.endsWith('\n'),
    readTraces(Buffer.from(text), 'json')
      .spans.map(({ name }) => name)
      .toSorted(),
  ]).toEqual([true, ['find', 'notify', 'run']]);
});

test('api: sessions come with the figures of their runs', async () => {
  const page = await found('/sessions');
  expect([page['next'], page['searched_to']]).toEqual([null, null]);
  const sessions = objects(page['sessions']);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({ id: 's-1', tenant: '', agents: ['billing', 'shipping'], turns: 3, whole: true, cost_usd: null });
  expect(sessions[0]?.['worst']).toMatchObject({ verdict: 'fail' });
  expect(await list('/sessions?agent=none')).toEqual([]);
  expect(await list('/sessions?agent=billing&verdict=fail&evaluator=tool_error')).toHaveLength(1);
});

test('api: sessions, decisions, tools, summary and evaluability', async () => {
  expect(await list('/sessions/s-1', 'runs')).toHaveLength(3);
  expect(await list('/sessions/none', 'runs')).toEqual([]);
  expect((await list(`/decisions/${sent[1]?.traceId}`)).map(({ name }) => name)).toEqual([
    'run_error',
    'tool_call_validity',
    'tool_efficiency',
    'tool_error',
  ]);
  expect(await list('/tools')).toContainEqual(
    expect.objectContaining({
      agent: 'shipping',
      name: 'notify',
      calls: 2,
      errors: 1,
      not_executed: 0,
      error_rate: expect.objectContaining({ point: 0.5, n: 2 }),
    }),
  );
  expect(await list('/tools?agent=none')).toEqual([]);
  const summary = await list('/summary?evaluator=tool_error&bucket=day');
  expect(summary.reduce((sum, { count }) => sum + Number(count), 0)).toBe(3);
  expect(await list('/evaluability')).toContainEqual(
    expect.objectContaining({ agent: 'shipping', name: 'tool_error', outcome: 'scored', count: 2 }),
  );
});

test('api: the worst turn of a session is its run with the lowest score, by evaluator', async () => {
  const session = await found('/sessions/s-1/worst-turns');
  const [first] = sent;
  expect(session).toMatchObject({ turns: 3, whole: true, next: null });
  expect(named(objects(session['worst_turns']), 'tool_error')).toMatchObject({
    scored_turns: 3,
    worst_turn: 1,
    passed: false,
    trace_id: first?.traceId,
    span_id: first?.spanId,
  });
  expect(await found('/sessions/none/worst-turns')).toMatchObject({ worst_turns: [], turns: 0, whole: true });
  expect(await found('/sessions/s-1/worst-turns?tenant=other')).toMatchObject({ worst_turns: [], turns: 0 });
});

const refused: readonly (readonly [string, number, RegExp])[] = [
  ['/runs?limit=0', 400, /limit must be >= 1/],
  ['/runs?limit=many', 400, /limit must be integer/],
  ['/runs?verdict=good', 400, /verdict must be equal to one of the allowed values: pass, fail, raw, skipped, error/],
  ['/runs?status=crashed', 400, /status must be equal to one of the allowed values: ok, error, paused/],
  ['/runs?agnet=x', 400, /agnet is unknown/],
  ['/runs?from=yesterday', 400, /from is "yesterday", which is not a time/],
  ['/runs?cursor=nonsense', 400, /cursor is not from this API/],
  ['/runs?trace=xyz', 400, /trace must match pattern/],
  ['/runs/abc/def', 400, /trace must match pattern/],
  [`/runs/${'a'.repeat(32)}/${'b'.repeat(16)}`, 404, /has no such run/],
  [`/runs/${'a'.repeat(32)}/${'b'.repeat(16)}/otlp`, 404, /has no such run/],
  ['/summary?from=2026-01-02&to=2026-01-01', 400, /from is not before to/],
  ['/summary?from=2020-01-01&bucket=minute', 400, /more than 1500 steps apart/],
  ['/nothing', 404, /does not exist/],
];
for (const [path, status, message] of refused) {
  test(`api: ${path.slice(0, 60)} is answered ${status}`, async () => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    const { error } = answer.body as { readonly error?: { readonly message: string; readonly todo: string } };
    expect(error?.message).toMatch(message);
    expect(error?.todo).toMatch(/./);
  });
}

describe('the OpenAPI document', () => {
  test('api: the document has every served route, and answers are as it describes', async () => {
    const document = (await found('/openapi.json')) as { readonly paths: { readonly [path: string]: JsonObject } };
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    const examples: { readonly [path: string]: string } = {
      '/runs': '/runs',
      '/runs/{trace}/{span}': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}`,
      '/runs/{trace}/{span}/spans': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/spans`,
      '/runs/{trace}/{span}/tool-calls': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/tool-calls`,
      '/runs/{trace}/{span}/timeline': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/timeline`,
      '/runs/{trace}/{span}/spans/{id}': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/spans/${sent[0]?.spanId}`,
      '/runs/{trace}/{span}/conversation': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/conversation`,
      '/runs/{trace}/{span}/related': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/related`,
      '/runs/{trace}/{span}/example': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/example`,
      '/runs/{trace}/{span}/questions/{name}': `/runs/${sent[0]?.traceId}/${sent[0]?.spanId}/questions/tool_error`,
      '/decisions/{trace}': `/decisions/${sent[0]?.traceId}`,
      '/sessions': '/sessions',
      '/sessions/{id}': '/sessions/s-1',
      '/sessions/{id}/worst-turns': '/sessions/s-1/worst-turns',
      '/summary': '/summary',
      '/tools': '/tools',
      '/evaluability': '/evaluability',
      '/overview': '/overview',
      '/models': '/models',
      '/distributions': '/distributions?of=score&by=evaluator',
      '/settings': '/settings',
      '/replicas': '/replicas',
      '/notices': '/notices',
      '/evaluators': '/evaluators',
      '/exporters': '/exporters',
      '/exports': '/exports',
      '/exports/retry': '/exports/retry',
      '/annotations': '/annotations',
      '/annotations/{id}': `/annotations/${'0'.repeat(32)}-${'0'.repeat(24)}`,
      '/rates': '/rates?evaluator=tool_error&by=agent',
      '/judges': '/judges',
      '/processes': '/processes',
      '/datasets': '/datasets',
      '/datasets/{name}': '/datasets/d',
      '/datasets/{name}/versions': '/datasets/d/versions',
      '/datasets/{name}/examples': '/datasets/d/examples',
      '/datasets/{name}/diff': '/datasets/d/diff?from=1&to=1',
      '/datasets/{name}/examples/{id}': '/datasets/d/examples/a',
      '/datasets/{name}/examples/{id}/history': '/datasets/d/examples/a/history',
      '/versions': '/versions?agent=order_support',
      '/alerts': '/alerts',
      '/issues': '/issues',
      '/issues/{id}': `/issues/${String((await list('/issues', 'issues'))[0]?.['id'])}`,
      '/issues/{id}/differences': `/issues/${String((await list('/issues', 'issues'))[0]?.['id'])}/differences`,
      '/session': '/session',
      '/addresses': '/addresses',
      '/experiments': '/experiments',
      '/experiments/compare': '/experiments/compare?a=e&b=e',
      '/experiments/{id}': '/experiments/e',
      '/experiments/{id}/results': '/experiments/e/results',
      '/experiments/history': '/experiments/history',
      '/datasets/{name}/forms': '/datasets/d/forms',
      '/queues': '/queues',
    };
    await fetch(`${service.console}/api/v1/datasets/d/examples`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: jsonText({ examples: [{ id: 'a', input: 'x' }] }),
    });
    await sendAgentRun(service.otlp, { resource: { 'tracejury.experiment.id': 'e', 'tracejury.example.id': 'a' } });
    await eventually(async () => (await fetch(`${service.console}/api/v1/experiments/e`)).ok || undefined, 'the experiment');
    // The tests of these have an answer of theirs.
    const elsewhere = [
      '/alerts/{name}/silence',
      '/alerts/{name}/acknowledge',
      '/demo',
      '/runs/live',
      '/runs/export',
      '/runs/{trace}/{span}/otlp',
      '/processes/{agent}/{version}',
      '/datasets/{name}/export',
      '/datasets/{name}/import',
      ...['', '/answers', '/items', '/items/{item}', '/leases/{item}', '/next', '/skip'].map((rest) => `/queues/{name}${rest}`),
    ];
    expect(Object.keys(document.paths).toSorted()).toEqual([...Object.keys(examples), ...elsewhere].toSorted());
    for (const [path, example] of Object.entries(examples)) {
      const [method = ''] = Object.keys(document.paths[path] ?? {});
      const place = `api#/paths/${path.replaceAll('/', '~1')}/${method}/responses/200/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: encodeURI(place) });
      expect({
        path,
        valid: validate(
          method === 'get'
            ? await found(example)
            : await (
                await fetch(
                  `${service.console}/api/v1${example}`,
                  example === '/annotations'
                    ? {
                        method: 'POST',
                        headers: { 'content-type': 'application/json' },
                        body: jsonText({ annotations: [{ trace_id: sent[0]?.traceId ?? '', name: 'n', by: 'b', score: 1 }] }),
                      }
                    : { method: method.toUpperCase() },
                )
              ).json(),
        ),
        errors: validate.errors,
      }).toEqual({ path, valid: true, errors: null });
    }
  });
});

test('api: a run whose content is not kept has the reason, in the place of fields that would look empty', async () => {
  const bare = await running('store: { url: "memory:", content: none }\n');
  const { traceId, spanId } = await sendAgentRun(bare.otlp);
  const run = await eventually(async () => {
    const answer = await fetch(`${bare.console}/api/v1/runs/${traceId}/${spanId}`);
    return answer.status === 200 ? ((await answer.json()) as JsonObject) : undefined;
  }, 'the run');
  expect(run).toMatchObject({ agent: 'order_support', content_kept: false, content_gone: { reason: 'switched_off' } });
  expect(Object.keys(run).filter((key) => ['input', 'final_response', 'tool_calls'].includes(key))).toEqual([]);
  expect(named(objects(run['verdicts']), 'tool_error')).toMatchObject({ passed: false });
  await bare.stop();
});

test('api: a caller without a token that may read is turned away', async () => {
  const guarded = await running('', {
    tokens: '[ { name: people, value: secret-of-people, may: [read] }, { name: agents, value: secret-of-agents, may: [ingest] } ]',
  });
  const asked = async (authorization?: string): Promise<number> =>
    (await fetch(`${guarded.console}/api/v1/runs`, { headers: authorization === undefined ? {} : { authorization } })).status;
  expect([await asked(), await asked('Bearer secret-of-agents'), await asked('Bearer secret-of-people')]).toEqual([401, 401, 200]);
  await guarded.stop();
});
