import { afterEach, expect, test } from 'vitest';
import type { HttpCall } from '../../../evaluators/evaluator.ts';
import { httpCalls, type HttpCalls } from '../../../src/judges/client/http-calls.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import type { ClientTls } from '../../../src/model/client-tls.ts';
import { tlsOptions } from '../../../src/receivers/tls.ts';
import { knownClient, mutualTls } from '../../receivers/certificates.ts';
import { chatServer, status, tlsChatServer, type ChatServer, type Play } from '../chat-server.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Bench {
  readonly calls: HttpCalls;
  readonly server: ChatServer;
  readonly slept: readonly number[];
  readonly call: (more?: Partial<HttpCall>) => ReturnType<HttpCalls['call']>;
  readonly counts: () => { readonly [outcome: string]: number };
}

async function bench(...script: readonly Play[]): Promise<Bench> {
  return benchAt(await chatServer(...script));
}

function benchAt(server: ChatServer, tls?: ClientTls): Bench {
  const telemetry = metricRegistry();
  const slept: number[] = [];
  const calls = httpCalls({
    telemetry,
    clock: manualClock(Date.parse('2026-01-01T00:00:00Z')),
    random: () => 0,
    sleep: async (ms) => void slept.push(ms),
  });
  open.push({ close: () => calls.stop() }, server);
  const points = () => telemetry.snapshot().find(({ name }) => name === 'tracejury.judge.requests')?.points ?? [];
  return {
    calls,
    server,
    slept,
    call: (more = {}) =>
      calls.call(
        'http:politeness',
        { kind: 'call', url: `${server.baseUrl}/evaluate`, headers: {}, timeoutMs: 60_000, body: '{"run":{}}', ...more },
        tls,
      ),
    counts: () =>
      Object.fromEntries(
        points().map((point) => [
          `${point.labels['tracejury.judge'] ?? ''} ${point.labels['tracejury.outcome'] ?? ''}`,
          point.kind === 'number' ? point.value : 0,
        ]),
      ),
  };
}

const sends =
  (text: string | Buffer): Play =>
  (response) =>
    void response.end(text);
const good = sends('{"status":"scored"}');
const value = { status: 'scored' };

const answers: readonly {
  readonly name: string;
  readonly script: readonly Play[];
  readonly requests: number;
  readonly want: object;
  readonly timeoutMs?: number;
}[] = [
  { name: 'a JSON answer is read', script: [good], requests: 1, want: { kind: 'answered', value } },
  {
    name: 'whole numbers of any length are exact',
    script: [sends('{"n":12345678901234567890}')],
    requests: 1,
    want: { kind: 'answered', value: { n: 12345678901234567890n } },
  },
  { name: 'another status of success is one', script: [status(201, {}, value)], requests: 1, want: { kind: 'answered', value } },
  { name: 'busy answers are asked again', script: [status(503), status(429), good], requests: 3, want: { kind: 'answered', value } },
  {
    name: 'attempts at a busy endpoint are bounded',
    script: [status(500)],
    requests: 3,
    want: { kind: 'failed', error: 'http_unavailable: status 500' },
  },
  {
    name: 'a refusal is not asked again',
    script: [status(403), good],
    requests: 1,
    want: { kind: 'failed', error: 'http_refused: status 403' },
  },
  {
    name: 'an endpoint that is not there is not asked again',
    script: [status(404), good],
    requests: 1,
    want: { kind: 'failed', error: 'http_refused: status 404' },
  },
  {
    name: 'a redirect is not followed',
    script: [status(307, { location: '/v1/elsewhere' }), good],
    requests: 1,
    want: { kind: 'failed', error: 'http_redirected: status 307, and redirects are not followed' },
  },
  {
    name: 'no content is failed',
    script: [status(204)],
    requests: 1,
    want: { kind: 'failed', error: 'http_answer_invalid: the endpoint did not send JSON' },
  },
  {
    name: 'a body that is not JSON is failed',
    script: [sends('<html>')],
    requests: 1,
    want: { kind: 'failed', error: 'http_answer_invalid: the endpoint did not send JSON' },
  },
  {
    name: 'JSON too deep for anybody is failed',
    script: [sends('['.repeat(5_000) + ']'.repeat(5_000))],
    requests: 1,
    want: { kind: 'failed', error: 'http_answer_invalid: the endpoint did not send JSON' },
  },
  {
    name: 'an answer too large is given up',
    script: [sends(Buffer.alloc(1024 * 1024 + 1, 32)), good],
    requests: 1,
    want: { kind: 'failed', error: 'http_answer_too_large: more than 1048576 bytes' },
  },
  {
    name: 'an endpoint that hangs times out, and gets a rest',
    script: [() => {}],
    requests: 1,
    want: { kind: 'failed', error: 'http_timed_out: no whole answer in time' },
    timeoutMs: 50,
  },
  {
    name: 'an answer that never ends times out',
    script: [(response) => void response.write('{"status":')],
    requests: 1,
    want: { kind: 'failed', error: 'http_timed_out: no whole answer in time' },
    timeoutMs: 50,
  },
  {
    name: 'a connection that breaks is tried again',
    script: [(response) => void response.destroy(), good],
    requests: 2,
    want: { kind: 'answered', value },
  },
];
const ways = {
  HTTP: bench,
  'HTTPS with certificates': async (...script: readonly Play[]) =>
    benchAt(await tlsChatServer(tlsOptions(mutualTls), ...script), knownClient),
};
for (const [way, made] of Object.entries(ways))
  for (const { name, script, requests, want, timeoutMs } of answers) {
    test(`http calls: over ${way}, ${name}`, async () => {
      const { server, call, slept } = await made(...script);
      const answer = await call(timeoutMs === undefined ? {} : { timeoutMs });
      expect(answer).toMatchObject(want);
      expect(answer.kind === 'failed' && answer.error.includes('secret')).toBe(false);
      // On a busy machine a request may end before it arrives, so attempts that time out are counted by the rests between them.
      expect(timeoutMs === undefined ? server.requests.length : slept.length + 1).toBe(requests);
    });
  }

test('http calls: the document goes as JSON with the headers that are given', async () => {
  const { server, call } = await bench(good);
  await call({ headers: { 'x-team': 'shop', 'content-type': 'text/plain' }, body: '{"run":{"agent":"é"}}' });
  expect(server.requests[0]).toMatchObject({
    url: '/v1/evaluate',
    headers: { 'x-team': 'shop', 'content-type': 'application/json', accept: 'application/json' },
    body: { run: { agent: 'é' } },
  });
  expect(server.requests[0]?.headers.authorization).toBeUndefined();
});

test('http calls: the user of the URL goes as a header, unless that is given', async () => {
  const { server, call } = await bench(good);
  const url = `${server.baseUrl.replace('://', '://me:s3%3Acret@')}/evaluate`;
  await call({ url });
  await call({ url, headers: { authorization: 'Bearer k' } });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${Buffer.from('me:s3:cret').toString('base64')}`,
    'Bearer k',
  ]);
});

test('http calls: Retry-After is honoured, else rests double; attempts are counted', async () => {
  const { slept, call, counts } = await bench(status(429, { 'retry-after': '7' }), status(503), good);
  await call();
  expect(slept).toEqual([7_000, 500]);
  expect(counts()).toEqual({ 'http:politeness retried': 2, 'http:politeness answered': 1 });
});

test('http calls: an absent endpoint is failed after bounded attempts', async () => {
  const { server, call, counts } = await bench(good);
  await server.close();
  expect(await call()).toEqual({ kind: 'failed', error: 'http_unavailable: no connection' });
  expect(counts()).toEqual({ 'http:politeness retried': 2, 'http:politeness failed': 1 });
});

test('http calls: stop gives up the call on its way and sends nothing more', async () => {
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const { calls, server, call } = await bench(() => arrived());
  const first = call();
  await asked;
  await calls.stop();
  expect([await first, await call()]).toEqual([
    { kind: 'failed', error: 'http_stopped: the call was given up' },
    { kind: 'failed', error: 'http_stopped: the service is stopping' },
  ]);
  expect(server.requests).toHaveLength(1);
});
