/** Datasets over HTTP, of a whole service that was sent runs by a real SDK. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { eventually, running, type Running, sendAgentRun } from '../../service/running.ts';

let service: Running;
let sent: { readonly traceId: string; readonly spanId: string };
const more: Running[] = [];
beforeAll(async () => {
  service = await running('redact: [ { match: email } ]\n');
  sent = await sendAgentRun(service.otlp, { input: 'Where is A-1 of ann@example.org?' });
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

async function asked(path: string, { method = 'GET', body, headers = {}, at = service }: Asking = {}): Promise<Answer> {
  const response = await fetch(`${at.console}/api/v1${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: jsonText(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

interface Asking {
  readonly method?: string;
  readonly body?: JsonValue;
  readonly headers?: { readonly [name: string]: string };
  readonly at?: Running;
}

const add = (name: string, body: JsonValue, asking: Asking = {}): Promise<Answer> =>
  asked(`/datasets/${name}/examples`, { method: 'POST', body, ...asking });

const plain = (id: string, input = `question ${id}`): JsonObject => ({ id, input });

test('datasets: a run becomes a draft, redacted, with its calls, its answer and its origin', async () => {
  const { traceId, spanId } = sent;
  expect(
    await add('of-runs', { runs: [{ trace_id: traceId }, { trace_id: traceId, span_id: 'f'.repeat(16) }], tags: ['mail'], by: 'ann' }),
  ).toEqual({
    status: 200,
    body: {
      version: 1,
      added: 1,
      changed: 0,
      changed_reviewed: 0,
      removed: 0,
      unchanged: 0,
      left_out: [],
      no_example: [{ trace_id: traceId, span_id: 'f'.repeat(16), reason: 'not_stored' }],
    },
  });
  const { body } = await asked('/datasets/of-runs/examples');
  expect(body).toMatchObject({
    version: 1,
    next: null,
    examples: [
      {
        id: `${traceId}-${spanId}`,
        since: 1,
        input: 'Where is A-1 of [redacted]?',
        expect: {
          tool_calls: [
            { name: 'find_order', arguments: { order_id: 'A-1' } },
            { name: 'notify', arguments: { order_id: 'A-1' } },
          ],
          output: 'It is on its way.',
        },
        tags: ['mail'],
        review: 'draft',
        origin: { trace_id: traceId, span_id: spanId, by: 'ann' },
      },
    ],
  });
  expect((await asked('/datasets')).body).toMatchObject({
    datasets: [{ name: 'of-runs', version: 1, examples: 1, drafts: 1 }],
    next: null,
  });
});

test('datasets: changes of two examples at the same time are both written', async () => {
  await add('raced', { examples: [plain('a'), plain('b'), plain('c')] });
  const answers = await Promise.all(
    ['a', 'b', 'c'].map((id) =>
      asked(`/datasets/raced/examples/${id}`, { method: 'PUT', body: { example: { input: `new ${id}` }, since: 1 } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body['version']))).toEqual(new Set([2, 3, 4]));
});

test('datasets: an example that is edited keeps its history, and a reviewed one is not replaced by its run', async () => {
  const id = `${sent.traceId}-${sent.spanId}`;
  await add('edited', { runs: [{ trace_id: sent.traceId }] });
  const path = `/datasets/edited/examples/${id}`;
  const example = { input: 'Where is it? Tell bob@example.org', expect: { output: 'On its way.' }, review: 'reviewed' };
  expect(await asked(path, { method: 'PUT', body: { example, since: 1, by: 'bob', note: 'mended' } })).toMatchObject({
    status: 200,
    body: { version: 2, changed: 1, changed_reviewed: 0 },
  });
  expect(await asked(path, { method: 'PUT', body: { example: { input: 'late' }, since: 1 } })).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict', message: 'The example has changed in version 2.' } },
  });
  // A change of another example does not conflict.
  await add('edited', { examples: [plain('other')] });
  expect(await asked(path, { method: 'PUT', body: { example: { ...example, split: 'test' }, since: 2 } })).toMatchObject({
    status: 200,
    body: { version: 4 },
  });
  expect((await asked(path)).body).toMatchObject({
    since: 4,
    input: 'Where is it? Tell [redacted]',
    split: 'test',
    origin: { trace_id: sent.traceId },
  });
  expect((await asked(`${path}?version=1`)).body).toMatchObject({ since: 1, review: 'draft' });
  const { history } = (await asked(`${path}/history`)).body as { readonly history: readonly JsonObject[] };
  expect(history.map(({ from, until, by, note }) => [from, until, by, note])).toEqual([
    [4, null, 'api', null],
    [2, 4, 'bob', 'mended'],
    [1, 2, 'api', null],
  ]);
  expect((await add('edited', { runs: [{ trace_id: sent.traceId }] })).body).toMatchObject({
    version: 4,
    left_out: [{ id, reason: 'kept' }],
  });
  expect((await add('edited', { runs: [{ trace_id: sent.traceId }], replace: true })).body).toMatchObject({
    version: 5,
    changed: 1,
    changed_reviewed: 1,
  });
  expect((await add('edited', { examples: [plain('other', 'whole')] })).body).toMatchObject({ changed: 1, changed_reviewed: 1 });
  expect((await asked('/datasets/edited/diff?from=1&to=5')).body).toMatchObject({
    added: 1,
    changed: 0,
    removed: 0,
    examples: [{ id: 'other', change: 'added', before: null }],
  });
});

test('datasets: examples, versions and differences come by pages', async () => {
  for (let at = 0; at < 5; at++)
    await add('pages', { examples: [{ ...plain(`e${at}`), split: at % 2 === 0 ? 'a' : 'b', tags: at < 2 ? ['x'] : [] }], note: `n${at}` });
  const pages: unknown[] = [];
  for (const [list, path] of [
    ['examples', '/datasets/pages/examples?limit=2&split=a'],
    ['versions', '/datasets/pages/versions?limit=2'],
    ['examples', '/datasets/pages/diff?limit=2&from=1&to=5'],
  ] as const) {
    let cursor = '';
    do {
      const { body, status } = await asked(`${path}${cursor}`);
      expect(status).toBe(200);
      pages.push((body[list] as readonly JsonObject[]).map(({ id, version }) => id ?? version));
      cursor = body['next'] === null ? '' : `&cursor=${String(body['next'])}`;
    } while (cursor !== '');
  }
  expect(pages).toEqual([['e0', 'e2'], ['e4'], [5, 4], [3, 2], [1], ['e1', 'e2'], ['e3', 'e4']]);
  expect((await asked('/datasets/pages/examples?tag=x&version=1')).body).toMatchObject({ version: 1, examples: [{ id: 'e0' }] });
  expect((await asked('/datasets/pages/diff')).body).toMatchObject({ from: 4, to: 5, added: 1 });
});

test('datasets: examples and datasets are removed, once and again', async () => {
  await add('gone', { examples: [plain('a'), plain('b')] });
  const remove = (path: string): Promise<Answer> => asked(path, { method: 'DELETE' });
  expect((await remove('/datasets/gone/examples/a?by=ann')).body).toEqual({ deleted: true, version: 2 });
  expect((await remove('/datasets/gone/examples/a')).body).toEqual({ deleted: false, version: 2 });
  expect((await asked('/datasets/gone/examples/a?version=1')).status).toBe(200);
  expect((await remove('/datasets/gone')).body).toEqual({ deleted: true });
  expect((await remove('/datasets/gone')).body).toEqual({ deleted: false });
  expect((await remove('/datasets/gone/examples/a')).status).toBe(404);
});

test.each<{ readonly name: string; readonly path: string; readonly asking?: Asking; readonly status: number; readonly message: RegExp }>([
  { name: 'no such dataset', path: '/datasets/none', status: 404, message: /no such dataset, version or example/ },
  { name: 'no such version', path: '/datasets/known/examples?version=9', status: 404, message: /no such dataset/ },
  { name: 'no such example', path: '/datasets/known/examples/none/history', status: 404, message: /no such dataset/ },
  { name: 'versions of no dataset', path: '/datasets/none/versions', status: 404, message: /no such dataset/ },
  {
    name: 'a difference of versions that are not there',
    path: '/datasets/known/diff?from=1&to=9',
    status: 404,
    message: /no such dataset/,
  },
  { name: 'a wrong name', path: '/datasets/a%20b', status: 400, message: /name/ },
  { name: 'a cursor of another API', path: '/datasets/known/examples?cursor=x', status: 400, message: /cursor/ },
  { name: 'an unknown key', path: '/datasets/known/examples', asking: { method: 'POST', body: { run: [] } }, status: 400, message: /run/ },
  {
    name: 'nothing to add',
    path: '/datasets/known/examples',
    asking: { method: 'POST', body: {} },
    status: 422,
    message: /names no run and no example/,
  },
  {
    name: 'faulty examples',
    path: '/datasets/known/examples',
    asking: { method: 'POST', body: { examples: [plain('x'), { input: 'no id' }, { id: 'a', expect: { tool_call: [] } }] } },
    status: 422,
    message: /examples\[1\]\.id is missing; examples\[2\]\.expect\.tool_call is not known/,
  },
  {
    name: 'a trace that is not stored',
    path: '/datasets/known/examples',
    asking: { method: 'POST', body: { runs: [{ trace_id: 'd'.repeat(32) }] } },
    status: 422,
    message: /no run of the trace d/,
  },
  {
    name: 'a version that is not the expected one',
    path: '/datasets/known/examples',
    asking: { method: 'POST', body: { examples: [plain('x')], expected_version: 0 } },
    status: 409,
    message: /newest version is 1/,
  },
  {
    name: 'a change without an example',
    path: '/datasets/known/examples/a',
    asking: { method: 'PUT', body: {} },
    status: 400,
    message: /example/,
  },
  {
    name: 'an example with another id',
    path: '/datasets/known/examples/a',
    asking: { method: 'PUT', body: { example: plain('b') } },
    status: 422,
    message: /has the id "b"/,
  },
  {
    name: 'a new example that is there',
    path: '/datasets/known/examples/a',
    asking: { method: 'PUT', body: { example: plain('a'), since: 0 } },
    status: 409,
    message: /changed in version 1/,
  },
  {
    name: 'an example of no dataset',
    path: '/datasets/none/examples/a',
    asking: { method: 'PUT', body: { example: plain('a') } },
    status: 404,
    message: /no such dataset/,
  },
])('datasets: $name is refused', async ({ path, asking = {}, status, message }) => {
  await add('known', { examples: [plain('a')] });
  const answer = await asked(path, asking);
  expect(answer.body['error']).toMatchObject({ message: expect.stringMatching(message) });
  expect(answer.status).toBe(status);
});

test('datasets: a change needs the right annotate, and a token that sees one tenant reads only that tenant', async () => {
  const tokens =
    '[ { name: own, value: own-token-0123456789, may: [read], sees: own }, { name: all, value: all-token-0123456789, may: [read] }, { name: ann, value: ann-token-0123456789, may: [annotate] } ]';
  const at = await running('', { tokens });
  more.push(at);
  const as = (token: string): Asking => ({ at, headers: { authorization: `Bearer ${token}` } });
  expect((await add('d', { examples: [plain('a')] }, as('all-token-0123456789'))).status).toBe(401);
  expect((await add('d', { examples: [plain('a')] }, as('ann-token-0123456789'))).status).toBe(200);
  expect(
    (await asked('/datasets/d/examples?tenant=own', { ...as('ann-token-0123456789'), method: 'POST', body: { examples: [plain('mine')] } }))
      .status,
  ).toBe(200);
  const names = ({ body }: Answer): unknown =>
    (body['datasets'] as readonly JsonObject[]).map(({ name, tenant }) => `${String(tenant)}/${String(name)}`);
  expect(names(await asked('/datasets', as('all-token-0123456789')))).toEqual(['/d', 'own/d']);
  expect(names(await asked('/datasets', as('own-token-0123456789')))).toEqual(['own/d']);
  expect((await asked('/datasets/d/examples', as('own-token-0123456789'))).body).toMatchObject({ examples: [{ id: 'mine' }] });
  expect((await asked('/datasets/d/examples?tenant=', as('own-token-0123456789'))).status).toBe(403);
});

test('datasets: answers have the form that the OpenAPI document states, and paths have all their methods', async () => {
  await add('form', { examples: [{ ...plain('a'), expect: { output: 'x' } }], runs: [{ trace_id: sent.traceId }] });
  const document = (await asked('/openapi.json')).body;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  const paths = document['paths'] as { readonly [path: string]: { readonly [method: string]: unknown } };
  expect(Object.keys(paths['/datasets/{name}/examples/{id}'] ?? {}).toSorted()).toEqual(['delete', 'get', 'put']);
  for (const [path, url] of [
    ['/datasets', '/datasets'],
    ['/datasets/{name}', '/datasets/form'],
    ['/datasets/{name}/versions', '/datasets/form/versions'],
    ['/datasets/{name}/examples', '/datasets/form/examples'],
    ['/datasets/{name}/examples/{id}', '/datasets/form/examples/a'],
    ['/datasets/{name}/examples/{id}/history', '/datasets/form/examples/a/history'],
    ['/datasets/{name}/diff', '/datasets/form/diff?from=1&to=1'],
  ] as const) {
    const place = `api#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/get/responses/200/content/application~1json/schema`;
    const { body, status } = await asked(url);
    expect([url, status]).toEqual([url, 200]);
    expect([url, ajv.validate({ $ref: place }, body), ajv.errors]).toEqual([url, true, null]);
  }
});
