/** DNS rebinding and pages of other sites, over real sockets, on each listener. */
import { request, type OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawCall, rawSession, message } from '../receivers/grpc-client.ts';
import { goodBody } from '../receivers/otlp-http/table.ts';
import { running, type Running } from './running.ts';

interface Row {
  readonly name: string;
  readonly headers: OutgoingHttpHeaders;
  /** The outcome at a service without names of hosts, and at one with them. */
  readonly open: boolean;
  readonly named: boolean;
  /** The key that the answer names when it is not. */
  readonly key?: string;
}

const hosts = 'listen.allowed_hosts';
const origins = 'listen.allowed_origins';
const rows: readonly Row[] = [
  { name: 'localhost', headers: { host: 'localhost:4318' }, open: true, named: true },
  { name: 'another address of loopback', headers: { host: '127.0.0.9' }, open: true, named: true },
  { name: 'IPv6 loopback', headers: { host: '[::1]:4318' }, open: true, named: true },
  { name: 'a name of a stranger', headers: { host: 'evil.example' }, open: false, named: false, key: hosts },
  { name: 'a name of a stranger with a port', headers: { host: 'evil.example:4318' }, open: false, named: false, key: hosts },
  { name: 'a name that begins as loopback', headers: { host: '127.0.0.1.evil.example' }, open: false, named: false, key: hosts },
  { name: 'a name that ends as localhost', headers: { host: 'evillocalhost.example' }, open: false, named: false, key: hosts },
  { name: 'a name of the configuration', headers: { host: 'jury.example.org:443' }, open: false, named: true, key: hosts },
  { name: 'a name below one of the configuration', headers: { host: 'a.b.example.net' }, open: false, named: true, key: hosts },
  { name: 'the end of such a name', headers: { host: 'evilexample.net' }, open: false, named: false, key: hosts },
  { name: 'a page of the service', headers: { host: 'localhost:4318', origin: 'http://localhost:4318' }, open: true, named: true },
  {
    name: 'a page of another site',
    headers: { host: 'localhost:4318', origin: 'https://evil.example' },
    open: false,
    named: false,
    key: origins,
  },
  {
    name: 'a page of another port',
    headers: { host: 'localhost:4318', origin: 'http://localhost:3000' },
    open: false,
    named: false,
    key: origins,
  },
  { name: 'a page of no site', headers: { host: 'localhost:4318', origin: 'null' }, open: false, named: false, key: origins },
  {
    name: 'a page of the configuration',
    headers: { host: 'localhost:4318', origin: 'https://app.example.org' },
    open: false,
    named: true,
    key: origins,
  },
];

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: { readonly [name: string]: unknown };
}

function asked(
  url: string,
  headers: OutgoingHttpHeaders,
  { method = 'POST', body = new Uint8Array() }: { readonly method?: string; readonly body?: Uint8Array } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('latin1'), headers: response.headers }),
        );
    });
    sent.on('error', reject).end(body);
  });
}

const type = { 'content-type': 'application/x-protobuf' };
const services: { readonly [kind in 'open' | 'named']: string } = {
  open: '',
  named: 'allowed_hosts: [jury.example.org, "*.example.net"], allowed_origins: ["https://app.example.org"]',
};
const started = new Map<string, Running>();

beforeAll(async () => {
  for (const [kind, listen] of Object.entries(services)) started.set(kind, await running('', { listen }));
});
afterAll(() => Promise.all([...started.values()].map((one) => one.stop())));

for (const kind of ['open', 'named'] as const) {
  describe(`hosts of a service that names ${kind === 'open' ? 'none' : 'some'}`, () => {
    const at = (): Running => started.get(kind) as Running;

    test.each(rows)('hosts: OTLP over HTTP: $name', async ({ headers, key = '', ...row }) => {
      const { status, text } = await asked(`${at().otlp}/v1/traces`, { ...type, ...headers }, { body: goodBody });
      expect(status).toBe(row[kind] ? 200 : 403);
      if (!row[kind]) expect(text).toContain(key);
    });

    test.each(rows)('hosts: OTLP over gRPC: $name', async ({ headers: { host, ...headers }, key = '', ...row }) => {
      const session = rawSession(Number(at().grpc.split(':')[1]));
      const call = rawCall(session, { ':authority': String(host), ...headers });
      call.stream.end(message(goodBody));
      const { headers: told } = await call.answer;
      session.destroy();
      expect(told['grpc-status']).toBe(row[kind] ? '0' : '7');
      if (!row[kind]) expect(decodeURIComponent(String(told['grpc-message']))).toContain(key);
    });

    test.each(rows)('hosts: console, where something changes: $name', async ({ headers, key = '', ...row }) => {
      const { status, text } = await asked(`${at().console}/api/v1/exports/retry`, headers);
      expect(status).toBe(row[kind] ? 200 : 403);
      if (!row[kind]) expect(text).toContain(key);
    });

    test.each(rows)('hosts: console, where something is read: $name', async ({ headers, key, ...row }) => {
      const isOrigin = key === origins;
      expect((await asked(`${at().console}/api/v1/runs`, headers, { method: 'GET' })).status).toBe(row[kind] || isOrigin ? 200 : 403);
    });
  });
}

test('hosts: a page of the configuration asks first, and may read the answer; others may not', async () => {
  const { otlp } = started.get('named') as Running;
  const ask = (origin: string): Promise<Answer> =>
    asked(`${otlp}/v1/traces`, { origin, 'access-control-request-method': 'POST' }, { method: 'OPTIONS' });
  expect(await ask('https://app.example.org')).toMatchObject({
    status: 204,
    headers: { 'access-control-allow-origin': 'https://app.example.org', 'access-control-allow-methods': 'POST' },
  });
  expect(
    (await asked(`${otlp}/v1/traces`, { ...type, origin: 'https://app.example.org' }, { body: goodBody })).headers[
      'access-control-allow-origin'
    ],
  ).toBe('https://app.example.org');
  const other = await ask('https://evil.example');
  expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined]);
});

test('hosts: without tokens beyond loopback, an unknown name is refused and addresses are not', async () => {
  const service = await running('', { listen: 'insecure: true', host: '0.0.0.0' });
  const port = (address: string): string => new URL(address).port;
  const statuses = async (host: string): Promise<readonly number[]> => [
    (await asked(`http://127.0.0.1:${port(service.otlp)}/v1/traces`, { ...type, host }, { body: goodBody })).status,
    (await asked(`http://127.0.0.1:${port(service.console)}/api/v1/runs`, { host }, { method: 'GET' })).status,
  ];
  const found = await Promise.all(['evil.example', '192.0.2.7:4318', 'tracejury:4318', 'tracejury.agents.svc.cluster.local'].map(statuses));
  await service.stop();
  expect(found).toEqual([
    [403, 403],
    [200, 200],
    [200, 200],
    [200, 200],
  ]);
});
