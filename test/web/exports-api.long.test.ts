/** An operator's view of scores that a backend does not take, and the remedies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { otlpSink, readCarrier, type Sink } from '../exporters/otlp-sink.ts';
import { otlpTarget } from '../exporters/otlp-target.ts';
import { eventually, running, sample, sendAgentRun, type Running } from '../service/running.ts';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.stop();
});

interface Bench {
  readonly service: Running;
  readonly sink: Sink;
  /** The answer of the backend from now on. */
  status: number;
  get(path: string): Promise<JsonObject>;
  post(path: string, headers?: { readonly [name: string]: string }): Promise<{ readonly status: number; readonly body: JsonObject }>;
  list(path: string, key: string): Promise<readonly JsonObject[]>;
}

async function bench(status: number, { tokens = '[]', name = 'traces', store = '' } = {}): Promise<Bench> {
  const own = { status };
  const sink = await otlpSink((response) => {
    response.statusCode = own.status;
    response.end();
  });
  open.push({ stop: () => sink.close() });
  const service = await running(`export: [ { to: span_events, name: ${name}, endpoint: "${sink.url}" } ]\n${store}`, { tokens });
  open.push(service);
  const get = async (path: string): Promise<JsonObject> => (await (await fetch(`${service.console}/api/v1${path}`)).json()) as JsonObject;
  return Object.assign(own, {
    service,
    sink,
    get,
    list: async (path: string, key: string) => ((await get(path))[key] ?? []) as readonly JsonObject[],
    async post(path: string, headers = {}) {
      const answer = await fetch(`${service.console}/api/v1${path}`, { method: 'POST', headers });
      return { status: answer.status, body: (await answer.json()) as JsonObject };
    },
  });
}

const time = /^2\d{3}-.*Z$/;
const names = (rows: readonly JsonObject[]): readonly unknown[] => rows.map(({ trace_id: id }) => String(id)).toSorted();

test('api: dead letters are listed with their reason, by exporter and as a metric, and sent again when they are retried', async () => {
  const own = await bench(400);
  const runs = await Promise.all(['a', 'b', 'c'].map((agent) => sendAgentRun(own.service.otlp, { agent })));
  const dead = await eventually(async () => {
    const found = await own.list('/exports?state=dead', 'exports');
    return found.length === 3 ? found : undefined;
  }, 'three dead letters');
  expect(names(dead)).toEqual(runs.map(({ traceId }) => traceId).toSorted());
  expect(dead[0]).toMatchObject({
    exporter: 'traces',
    part: 'rules',
    revision: 1,
    state: 'dead',
    attempts: 1,
    not_before: null,
    reason: 'status 400',
    tenant: '',
  });
  expect(await own.list('/exporters', 'exporters')).toEqual([
    {
      name: 'traces',
      kind: 'span_events',
      sends: 'scores',
      configured: true,
      circuit: 'closed',
      retry_at: null,
      fault: null,
      to_send: 0,
      not_stored: 0,
      sending: 0,
      waiting: 0,
      dead: 3,
      oldest_at: null,
      oldest_age_seconds: null,
      sent_at: null,
      last_failure: { at: expect.stringMatching(time), error: 'status 400', reason: 'http_400', todo: '' },
    },
  ]);
  expect(await own.list('/exports?state=waiting', 'exports')).toEqual([]);
  expect(await own.list('/exports?exporter=other', 'exports')).toEqual([]);
  const first = await own.get('/exports?limit=2');
  const second = await own.get(`/exports?limit=2&cursor=${String(first['next'])}`);
  expect([...(first['exports'] as readonly JsonObject[]), ...(second['exports'] as readonly JsonObject[])]).toEqual(dead);
  expect(second['next']).toBeNull();
  await eventually(
    async () => (sample(await own.service.metrics(), 'tracejury_exporter_dead', { tracejury_exporter: 'traces' }) === 3 ? true : undefined),
    'the metric',
  );

  own.status = 200;
  const before = own.sink.received.length;
  expect(await own.post('/exports/retry?exporter=other')).toMatchObject({ status: 200, body: { retried: 0 } });
  expect(await own.post(`/exports/retry?id=${String(dead[1]?.['id'])}`)).toMatchObject({ status: 200, body: { retried: 1 } });
  expect(await own.post('/exports/retry')).toMatchObject({ status: 200, body: { retried: 2 } });
  await eventually(async () => ((await own.list('/exports', 'exports')).length === 0 ? true : undefined), 'nothing left');
  expect(
    own.sink.received
      .slice(before)
      .map((request) => readCarrier(request).span.traceId)
      .toSorted(),
  ).toEqual(names(dead));
});

test('api: rows that wait for a backend that refuses the key are counted, and none is given up', async () => {
  const own = await bench(401);
  for (let run = 0; run < 6; run++) await sendAgentRun(own.service.otlp, { agent: `agent ${run}` });
  const waiting = await eventually(async () => {
    const [exporter] = await own.list('/exporters', 'exporters');
    return exporter?.['circuit'] !== 'closed' && exporter?.['waiting'] === 6 ? exporter : undefined;
  }, 'an open circuit');
  expect(waiting).toMatchObject({
    name: 'traces',
    configured: true,
    fault: 'status 401: a key in headers is refused',
    to_send: 6,
    not_stored: 0,
    waiting: 6,
    dead: 0,
    oldest_at: expect.stringMatching(time),
    oldest_age_seconds: expect.any(Number),
    sent_at: null,
    last_failure: {
      at: expect.stringMatching(time),
      error: 'status 401: a key in headers is refused',
      reason: 'http_401',
      todo: 'Look at the keys, and whether they are of this address.',
    },
  });
  const { circuit, retry_at: retryAt } = waiting;
  expect(retryAt).toEqual(circuit === 'open' ? expect.stringMatching(time) : null);
  expect(sample(await own.service.metrics(), 'tracejury_exporter_circuit', { tracejury_exporter: 'traces' })).toBeGreaterThan(0);
  own.status = 200;
  await eventually(
    async () =>
      (await own.list('/exporters', 'exporters')).every(({ waiting: left, to_send: toSend }) => left === 0 && toSend === 0)
        ? true
        : undefined,
    'everything sent',
  );
  expect(await own.list('/exporters', 'exporters')).toMatchObject([
    {
      circuit: 'closed',
      fault: null,
      retry_at: null,
      oldest_age_seconds: null,
      sent_at: expect.stringMatching(time),
      last_failure: { reason: 'http_401' },
    },
  ]);
});

test('api: rows that wait for a removed entry are shown as such, and all answers about exporters match the document', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-exporters-'));
  open.push({ stop: async () => rmSync(folder, { recursive: true }) });
  const store = `store: { url: "sqlite:${folder}/tracejury.db" }\n`;
  const first = await bench(503, { name: 'old', store });
  for (let run = 0; run < 3; run++) await sendAgentRun(first.service.otlp, { agent: `agent ${run}` });
  await eventually(async () => ((await first.list('/exporters', 'exporters'))[0]?.['waiting'] === 3 ? true : undefined), 'three rows');
  await first.service.stop();
  const second = await bench(503, { name: 'other', store });
  await sendAgentRun(second.service.otlp, { agent: 'agent 3' });
  const told = await eventually(async () => {
    const found = await second.get('/exporters');
    const [, other] = (found['exporters'] ?? []) as readonly JsonObject[];
    return other?.['to_send'] === 1 && other['last_failure'] !== null ? found : undefined;
  }, 'a failure');
  expect(told['exporters']).toMatchObject([
    {
      name: 'old',
      configured: false,
      circuit: null,
      to_send: 3,
      not_stored: 0,
      sending: 0,
      waiting: 3,
      dead: 0,
      oldest_at: expect.stringMatching(time),
      oldest_age_seconds: expect.any(Number),
      sent_at: null,
      last_failure: null,
    },
    { name: 'other', configured: true, to_send: 1, last_failure: { reason: 'http_503' } },
  ]);
  expect(told['exporters']).toMatchObject([
    { kind: null, sends: 'scores' },
    { kind: 'span_events', sends: 'scores' },
  ]);
  expect(await faultsOf(told, second.get)).toBeNull();
});

/** Faults of an answer of `/exporters` by the API's document. */
async function faultsOf(told: JsonObject, get: Bench['get']): Promise<unknown> {
  const { paths, components } = (await get('/openapi.json')) as {
    readonly paths: {
      readonly [path: string]: {
        readonly get: {
          readonly responses: { readonly 200: { readonly content: { readonly 'application/json': { readonly schema: JsonObject } } } };
        };
      };
    };
    readonly components: JsonObject;
  };
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({
    ...paths['/exporters']?.get.responses['200'].content['application/json'].schema,
    components,
  });
  validate(told);
  return validate.errors;
}

test('api: forwarded spans and pushed metrics have rows as well, which show whose backend is behind', async () => {
  let status = 401;
  const target = await otlpTarget((response) => {
    response.statusCode = status;
    return '';
  });
  open.push({ stop: () => target.close() });
  const service = await running(
    `export: [ { to: forward, name: on, endpoint: "${target.url}" }, { to: metrics, endpoint: "${target.url}", interval: 1s } ]\n`,
  );
  open.push(service);
  const get = async (path: string): Promise<JsonObject> => (await (await fetch(`${service.console}/api/v1${path}`)).json()) as JsonObject;
  const rows = async (): Promise<readonly JsonObject[]> => (await get('/exporters'))['exporters'] as readonly JsonObject[];
  // Scores that came too late to go on their spans have a row like those of other entries.
  const own = async (ready: (row: JsonObject) => boolean): Promise<readonly JsonObject[] | undefined> => {
    const found = (await rows()).filter(({ sends }) => sends !== 'scores');
    return found.every(ready) ? found : undefined;
  };
  await sendAgentRun(service.otlp, { spanBySpan: true });
  const failure = {
    at: expect.stringMatching(time),
    error: 'status 401: a key in headers is refused',
    reason: 'http_401',
    todo: 'Look at the keys, and whether they are of this address.',
  };
  const noneWaits = {
    to_send: null,
    not_stored: null,
    sending: null,
    waiting: null,
    dead: null,
    oldest_at: null,
    oldest_age_seconds: null,
    circuit: null,
    retry_at: null,
  };
  // On a busy machine the target may first answer later than a push waits.
  const isRefused = ({ last_failure: last }: JsonObject): boolean => isJsonObject(last) && last['reason'] === failure.reason;
  const behind = await eventually(async () => own(isRefused), 'a refusal of each');
  expect(behind).toEqual([
    {
      ...noneWaits,
      name: 'metrics',
      kind: 'metrics',
      sends: 'metrics',
      configured: true,
      fault: failure.error,
      sent_at: null,
      last_failure: failure,
    },
    {
      name: 'on',
      kind: 'forward',
      sends: 'spans',
      configured: true,
      circuit: expect.any(String),
      retry_at: behind[1]?.['circuit'] === 'open' ? expect.stringMatching(time) : null,
      fault: failure.error,
      to_send: 3,
      not_stored: null,
      sending: expect.any(Number),
      waiting: null,
      dead: null,
      oldest_at: expect.stringMatching(time),
      oldest_age_seconds: expect.any(Number),
      sent_at: null,
      last_failure: failure,
    },
  ]);
  expect((await rows()).map(({ name, kind, sends, configured }) => [name, kind, sends, configured])).toEqual([
    ['metrics', 'metrics', 'metrics', true],
    ['on', 'forward', 'scores', true],
    ['on', 'forward', 'spans', true],
  ]);
  expect(await faultsOf(await get('/exporters'), get)).toBeNull();
  status = 200;
  const sent = await eventually(
    async () =>
      own(({ sent_at: sentAt, to_send: toSend, fault }) => sentAt !== null && fault === null && (toSend === null || toSend === 0)),
    'everything sent',
  );
  expect(sent).toEqual([
    {
      ...noneWaits,
      name: 'metrics',
      kind: 'metrics',
      sends: 'metrics',
      configured: true,
      fault: null,
      sent_at: expect.stringMatching(time),
      last_failure: failure,
    },
    {
      name: 'on',
      kind: 'forward',
      sends: 'spans',
      configured: true,
      circuit: 'closed',
      retry_at: null,
      fault: null,
      to_send: 0,
      not_stored: null,
      sending: 0,
      waiting: null,
      dead: null,
      oldest_at: null,
      oldest_age_seconds: null,
      sent_at: expect.stringMatching(time),
      last_failure: failure,
    },
  ]);
});

test('api: a retry needs a token that may operate, once there are tokens', async () => {
  const read = '{ name: people, value: token-of-reader-0, may: [read] }';
  const operate = '{ name: ops, value: token-of-operator, may: [operate] }';
  for (const [tokens, none, reader, operator] of [
    ['[]', 200, 200, 200],
    [`[ ${read} ]`, 401, 401, 401],
    [`[ ${operate} ]`, 401, 401, 200],
    [`[ ${read}, ${operate} ]`, 401, 401, 200],
  ] as const) {
    const own = await bench(200, { tokens });
    const asked = async (authorization?: string): Promise<number> =>
      (await own.post('/exports/retry', authorization === undefined ? {} : { authorization })).status;
    expect([tokens, await asked(), await asked('Bearer token-of-reader-0'), await asked('Bearer token-of-operator')]).toEqual([
      tokens,
      none,
      reader,
      operator,
    ]);
  }
});

test('api: a page of another site retries nothing, and a GET changes nothing', async () => {
  const own = await bench(200);
  expect(await own.post('/exports/retry', { 'sec-fetch-site': 'cross-site' })).toMatchObject({
    status: 403,
    body: { error: { code: 'other_site' } },
  });
  expect((await own.post('/exports/retry', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  expect((await fetch(`${own.service.console}/api/v1/exports/retry`)).status).toBe(404);
  expect(await own.post('/exports/retry?id=many')).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('id must be integer') } },
  });
  expect((await own.post('/runs')).status).toBe(404);
});
