/** The HTTP client against servers on loopback: what it bounds, and what ends a request. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { httpClient, type HttpAnswer, type HttpClient, type HttpClientOptions, type HttpRequest } from '../../src/http/http-client.ts';
import type { ClientTls } from '../../src/model/client-tls.ts';
import { tlsOptions } from '../../src/receivers/tls.ts';
import { knownClient, mutualTls, trust } from '../receivers/certificates.ts';

interface Bench {
  readonly url: string;
  readonly client: HttpClient;
  readonly requests: readonly { readonly request: IncomingMessage; readonly body: string }[];
  /** Connections that were made, and those that are open. */
  readonly connections: { made: number; open: number };
  readonly send: (more?: Partial<HttpRequest>) => Promise<HttpAnswer>;
}

async function bench(play: RequestListener, { tls, ...options }: HttpClientOptions & { readonly isTls?: boolean } = {}): Promise<Bench> {
  const requests: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({ request, body: Buffer.concat(chunks).toString() });
      play(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : https.createServer(tlsOptions(mutualTls), listener);
  const connections = { made: 0, open: 0 };
  server.on('connection', (socket: Socket) => {
    connections.made++;
    connections.open++;
    socket.on('close', () => connections.open--);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  const client = httpClient({ ...(tls === undefined ? {} : { tls }), ...options });
  onTestFinished(async () => {
    client.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const send = (more: Partial<HttpRequest> = {}): Promise<HttpAnswer> =>
    client.send({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 60_000, answerBytesMax: 1024, ...more });
  return { url, client, requests, connections, send };
}

const says =
  (body: string | Buffer, head: { readonly [name: string]: string | string[] } = {}, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status, head).end(body);
const stopsInTheMiddle: RequestListener = (_, response) => void response.write('{"choices":');
const packed = (encoding: string, body: Buffer): RequestListener => says(body, { 'content-encoding': encoding });
const kilobyte = Buffer.alloc(1024, 97);

const answers: readonly { readonly name: string; readonly play: RequestListener; readonly want: object }[] = [
  { name: 'an answer with its status', play: says('no', {}, 404), want: { kind: 'answered', status: 404, isCut: false } },
  {
    name: 'headers by lower-case name, several values joined',
    play: says('', { 'X-A': 'one', 'X-B': ['two', 'three'] }),
    want: { headers: { 'x-a': 'one', 'x-b': 'two, three' } },
  },
  { name: 'a redirect is an answer', play: says('', { location: '/y' }, 307), want: { kind: 'answered', status: 307 } },
  { name: 'an answer as large as the limit is whole', play: says(kilobyte), want: { body: kilobyte, isCut: false } },
  { name: 'a larger one is cut', play: says(Buffer.concat([kilobyte, kilobyte])), want: { body: kilobyte, isCut: true } },
  { name: 'gzip', play: packed('gzip', gzipSync('yes')), want: { body: Buffer.from('yes') } },
  { name: 'gzip by its old name, in capitals', play: packed(' X-GZIP ', gzipSync('yes')), want: { body: Buffer.from('yes') } },
  { name: 'deflate', play: packed('deflate', deflateSync('yes')), want: { body: Buffer.from('yes') } },
  { name: 'brotli', play: packed('br', brotliCompressSync('yes')), want: { body: Buffer.from('yes') } },
  {
    name: 'the limit holds after decompression',
    play: packed('gzip', gzipSync(Buffer.alloc(2 ** 26, 97))),
    want: { body: kilobyte, isCut: true },
  },
  { name: 'gzip that is none', play: packed('gzip', kilobyte), want: { kind: 'unanswered', reason: 'failed', code: 'Z_DATA_ERROR' } },
  {
    name: 'a status that HTTP does not have',
    play: says('', {}, 999),
    want: { kind: 'unanswered', reason: 'failed', code: 'HPE_INVALID_STATUS' },
  },
  {
    name: 'a connection that ends before the answer',
    play: (request) => void request.socket.destroy(),
    want: { kind: 'unanswered', reason: 'failed', code: 'ECONNRESET' },
  },
  {
    name: 'a connection that ends within the answer',
    play: (request, response) => void response.writeHead(200, { 'content-length': 100 }).write('{', () => request.socket.destroy()),
    want: { kind: 'unanswered', reason: 'failed', code: 'ECONNRESET' },
  },
];
const ways: { readonly [way: string]: ClientTls | undefined } = { HTTP: undefined, 'HTTPS with certificates': knownClient };
for (const [way, tls] of Object.entries(ways)) {
  const over = tls === undefined ? {} : { tls };
  for (const { name, play, want } of answers)
    test(`http client: over ${way}: ${name}`, async () => {
      expect(await (await bench(play, over)).send()).toMatchObject(want);
    });

  for (const [name, play] of Object.entries({ 'that does not begin': () => undefined, 'that stops in its middle': stopsInTheMiddle }))
    test(`http client: over ${way}: an answer ${name} times out, and ends the connection`, async () => {
      const { send, connections } = await bench(play, over);
      expect(await send({ timeoutMs: 200 })).toEqual({ kind: 'unanswered', reason: 'timed_out', phase: 'request', afterMs: 200 });
      await expect.poll(() => connections.open, { timeout: 60_000 }).toBe(0);
    });

  test(`http client: over ${way}: an abort ends an answer that stopped in its middle, also after garbage collections`, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const begun = Promise.withResolvers<void>();
    const { send } = await bench((request, response) => {
      stopsInTheMiddle(request, response);
      begun.resolve();
    }, over);
    const stopping = new AbortController();
    // Only the request holds these two, as a caller may have it.
    const answer = send({ timeoutMs: 60_000, signal: AbortSignal.any([stopping.signal, new AbortController().signal]) });
    await begun.promise;
    for (let round = 0; round < 3; round++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    stopping.abort();
    expect(await answer).toEqual({ kind: 'unanswered', reason: 'aborted' });
  });

  test(`http client: over ${way}: a time limit ends an answer that stopped in its middle, also after garbage collections`, async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { send } = await bench((request, response) => {
      stopsInTheMiddle(request, response);
      setTimeout(collect, 10);
    }, over);
    expect(await send({ timeoutMs: 300 })).toMatchObject({ reason: 'timed_out' });
  });

  test(`http client: over ${way}: requests one after the other share a connection, and stop ends it`, async () => {
    const { send, client, connections } = await bench(says('yes'), over);
    for (let nth = 0; nth < 3; nth++) {
      expect(await send()).toMatchObject({ kind: 'answered' });
      // undici reuses a connection one turn of the event loop after its answer.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connections).toEqual({ made: 1, open: 1 });
    client.stop();
    await expect.poll(() => connections.open, { timeout: 60_000 }).toBe(0);
  });

  test(`http client: over ${way}: stop ends a request under way`, async () => {
    const begun = Promise.withResolvers<void>();
    const { send, client } = await bench(() => begun.resolve(), over);
    const answer = send();
    await begun.promise;
    client.stop();
    expect(await answer).toEqual({ kind: 'unanswered', reason: 'failed', code: 'ECONNRESET' });
  });

  test(`http client: over ${way}: sends the method, the path with its query, the headers and the bytes`, async () => {
    const { send, url, requests } = await bench(says(''), over);
    await send({ method: 'PATCH', url: `${url}/a%20b?c=d&e`, headers: { 'X-Own': 'é' }, body: Buffer.from('bytes') });
    const [{ request, body } = {}] = requests;
    expect([request?.method, request?.url, request?.headers['x-own'], request?.headers['content-length'], body]).toEqual([
      'PATCH',
      '/x/a%20b?c=d&e',
      'é',
      '5',
      'bytes',
    ]);
  });
}

test('http client: a signal that is aborted already lets nothing be sent', async () => {
  const { send, requests } = await bench(says('yes'));
  expect(await send({ signal: AbortSignal.abort() })).toEqual({ kind: 'unanswered', reason: 'aborted' });
  expect(requests).toEqual([]);
});

const users: readonly {
  readonly name: string;
  readonly user: string;
  readonly headers: HttpRequest['headers'];
  readonly want: string | undefined;
}[] = [
  { name: 'no user', user: '', headers: {}, want: undefined },
  { name: 'a user of the URL is the header', user: 'me:p%40ss@', headers: {}, want: `Basic ${btoa('me:p@ss')}` },
  { name: 'a header that is given wins', user: 'me:pass@', headers: { Authorization: 'Bearer key' }, want: 'Bearer key' },
  { name: 'a text that is not an escape stays', user: 'me:100%@', headers: {}, want: `Basic ${btoa('me:100%')}` },
];
for (const { name, user, headers, want } of users)
  test(`http client: authorization: ${name}`, async () => {
    const { send, url, requests } = await bench(says(''));
    await send({ url: url.replace('://', `://${user}`), headers });
    expect(requests[0]?.request.headers.authorization).toBe(want);
  });

const unreachable: readonly {
  readonly name: string;
  readonly options: HttpClientOptions;
  readonly url: string;
  readonly timeoutMs?: number;
  readonly want: object;
}[] = [
  { name: 'nobody listens', options: {}, url: 'http://127.0.0.1:1/', want: { reason: 'failed', code: 'ECONNREFUSED' } },
  { name: 'no URL', options: {}, url: 'nonsense', want: { reason: 'failed', code: 'ERR_INVALID_URL' } },
  {
    name: 'the lookup refuses the name, with its own code',
    options: { lookup: (_, __, done) => done(Object.assign(new Error('no'), { code: 'ADDRESS_NOT_PUBLIC' }), '') },
    url: 'http://name.test/',
    want: { reason: 'failed', code: 'ADDRESS_NOT_PUBLIC' },
  },
  {
    name: 'the lookup never answers',
    options: { lookup: () => undefined },
    url: 'http://name.test/',
    timeoutMs: 200,
    want: { reason: 'timed_out', afterMs: 200 },
  },
];
for (const { name, options, url, timeoutMs = 60_000, want } of unreachable)
  test(`http client: no connection: ${name}`, async () => {
    const client = httpClient(options);
    onTestFinished(() => client.stop());
    expect(await client.send({ url, headers: {}, timeoutMs, answerBytesMax: 10 })).toMatchObject({ kind: 'unanswered', ...want });
  });

test('http client: the connection goes to the address that the lookup gives', async () => {
  const asked: string[] = [];
  const { send, url } = await bench(says('yes'), {
    lookup: (hostname, options, done) => {
      asked.push(hostname);
      if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    },
  });
  expect(await send({ url: url.replace('127.0.0.1', 'name.test') })).toMatchObject({ kind: 'answered' });
  expect(asked).toEqual(['name.test']);
});

const trials: readonly { readonly name: string; readonly tls: ClientTls; readonly want: object }[] = [
  { name: 'with a certificate that the server knows', tls: knownClient, want: { kind: 'answered' } },
  { name: 'without one', tls: trust, want: { kind: 'unanswered', reason: 'failed' } },
  { name: 'to a server whom it does not trust', tls: {}, want: { kind: 'unanswered', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } },
];
for (const { name, tls, want } of trials)
  test(`http client: client certificates: ${name}`, async () => {
    expect(await (await bench(says('yes'), { tls })).send()).toMatchObject(want);
  });
