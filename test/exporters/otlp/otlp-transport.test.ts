/** OTLP on its way to a backend, over HTTP and over gRPC. */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { logsUrl, otlpTransport, type OtlpTransport, type OtlpTransportSettings } from '../../../src/exporters/otlp/otlp-transport.ts';
import type { Answer } from '../../../src/exporters/delivery/http-client.ts';
import { retryStatus } from '../../../src/otlp/write/responses.ts';
import { eventually } from '../../service/running.ts';
import { grpcTarget, type GrpcReply } from '../grpc-target.ts';
import { otlpTarget } from '../otlp-target.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const protobuf = 'application/x-protobuf';
const body = Buffer.from('0a0b0c0d'.repeat(1_000), 'hex');

function wireTo(url: string, more: Partial<OtlpTransportSettings> = {}): OtlpTransport {
  const wire = otlpTransport({ urls: { traces: `${url}/v1/traces`, logs: `${url}/v1/logs` }, ...more });
  ends.push(wire.stop);
  return wire;
}

async function overGrpc(
  reply?: (at: number) => GrpcReply,
  more: Partial<OtlpTransportSettings> = {},
): Promise<{ readonly target: Awaited<ReturnType<typeof grpcTarget>>; readonly wire: OtlpTransport }> {
  const target = await grpcTarget((_, at) => reply?.(at) ?? Buffer.alloc(0));
  ends.push(target.close);
  return { target, wire: wireTo(target.url, { protocol: 'grpc', ...more }) };
}

for (const compression of ['none', 'gzip'] as const) {
  test(`otlp-wire: HTTP brings the very bytes, compression ${compression}`, async () => {
    const target = await otlpTarget();
    ends.push(target.close);
    const wire = wireTo(target.url, { compression, headers: { 'x-key': 'k' } });
    expect(await wire.send('traces', protobuf, body)).toEqual({ kind: 'answered', status: 200, body: Buffer.alloc(0) });
    await wire.send('logs', 'application/json', body);
    expect(
      target.taken.map((request) => [
        request.path,
        request.headers['content-type'],
        request.headers['x-key'],
        request.headers['content-encoding'],
      ]),
    ).toEqual([
      ['/v1/traces', protobuf, 'k', compression === 'gzip' ? 'gzip' : undefined],
      ['/v1/logs', 'application/json', 'k', compression === 'gzip' ? 'gzip' : undefined],
    ]);
    for (const request of target.taken) expect((compression === 'gzip' ? gunzipSync(request.body) : request.body).equals(body)).toBe(true);
  });

  test(`otlp-wire: gRPC brings the very bytes, compression ${compression}`, async () => {
    const { target, wire } = await overGrpc(() => Buffer.from('partial'), { compression, headers: { 'X-Key': 'k' } });
    expect(await wire.send('traces', protobuf, body)).toEqual({ kind: 'answered', status: 200, body: Buffer.from('partial') });
    await wire.send('logs', protobuf, Buffer.alloc(0));
    expect(target.taken.map(({ signal, headers, body: { length } }) => [signal, headers['x-key'], length])).toEqual([
      ['traces', 'k', body.length],
      ['logs', 'k', 0],
    ]);
    expect(target.taken[0]?.body.equals(body)).toBe(true);
  });
}

/** The same answers as over HTTP, so that their readers need not know the transport. */
const replies: readonly { readonly name: string; readonly reply: GrpcReply; readonly want: Partial<Answer> }[] = [
  { name: 'what is wrong with it is final', reply: { code: status.INVALID_ARGUMENT }, want: { status: 400 } },
  { name: 'a receiver that is away', reply: { code: status.UNAVAILABLE }, want: { status: 503 } },
  {
    name: 'a receiver that names a time to come back',
    reply: { code: status.UNAVAILABLE, statusDetails: retryStatus(14, 'busy', 3) },
    want: { status: 503, retryAfterMs: 3_000 },
  },
  { name: 'too much at once', reply: { code: status.RESOURCE_EXHAUSTED, text: 'rate limit reached' }, want: { status: 429 } },
  {
    name: 'too much at once, and when to come back',
    reply: { code: status.RESOURCE_EXHAUSTED, statusDetails: retryStatus(8, 'exceeds the rate', 2) },
    want: { status: 429, retryAfterMs: 2_000 },
  },
  {
    name: 'too large, in words of a library',
    reply: { code: status.RESOURCE_EXHAUSTED, text: 'grpc: received message larger than max (4000 vs. 1000)' },
    want: { status: 413 },
  },
  { name: 'no such service', reply: { code: status.UNIMPLEMENTED }, want: { status: 501 } },
  { name: 'a wrong key', reply: { code: status.UNAUTHENTICATED }, want: { status: 401 } },
  { name: 'a key that may not', reply: { code: status.PERMISSION_DENIED }, want: { status: 403 } },
  { name: 'an unknown fault', reply: { code: status.INTERNAL }, want: { status: 500 } },
  {
    name: 'details that cannot be read',
    reply: { code: status.UNAVAILABLE, statusDetails: Buffer.from([0x1a, 0xff]) },
    want: { status: 503 },
  },
];
for (const { name, reply, want } of replies) {
  test(`otlp-wire: gRPC answers ${name}`, async () => {
    const { wire } = await overGrpc(() => reply);
    expect(await wire.send('traces', protobuf, body)).toEqual({ kind: 'answered', body: Buffer.alloc(0), ...want });
  });
}

test('otlp-wire: a receiver of gRPC that sends nothing is left, and asked over a new connection', async () => {
  const { target, wire } = await overGrpc((at) => (at === 0 ? 'silence' : Buffer.alloc(0)), { timeoutMs: 1_000 });
  expect(await wire.send('traces', protobuf, body)).toEqual({ kind: 'unanswered', fault: 'no answer within 1000 ms' });
  await eventually(async () => ((await wire.send('traces', protobuf, body)).kind === 'answered' ? true : undefined), 'an answer');
  expect(target.taken).not.toHaveLength(0);
});

test('otlp-wire: a receiver of gRPC that went away is asked again where it was', async () => {
  const first = await grpcTarget();
  const wire = wireTo(first.url, { protocol: 'grpc' });
  expect(await wire.send('traces', protobuf, body)).toMatchObject({ status: 200 });
  await first.close();
  expect(await wire.send('traces', protobuf, body)).toMatchObject({ kind: 'unanswered' });
  const second = await grpcTarget(undefined, first.port);
  ends.push(second.close);
  expect(await wire.send('traces', protobuf, body)).toMatchObject({ status: 200 });
});

test('otlp-wire: a compressed message of gRPC is marked so, and a server of only HTTP/2 is named by its status', async () => {
  const [chunks, headers]: [Buffer[], unknown[]] = [[], []];
  const server = createServer((request, response) => {
    headers.push(request.headers['grpc-encoding'], request.headers['te'], request.headers[':path']);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.statusCode = 404;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  const wire = wireTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { protocol: 'grpc', compression: 'gzip' });
  expect(await wire.send('traces', protobuf, body)).toMatchObject({ kind: 'answered', status: 404 });
  expect(headers).toEqual(['gzip', 'trailers', '/opentelemetry.proto.collector.trace.v1.TraceService/Export']);
  const sent = Buffer.concat(chunks);
  expect([sent.readUInt8(0), sent.readUInt32BE(1)]).toEqual([1, sent.length - 5]);
  expect(gunzipSync(sent.subarray(5)).equals(body)).toBe(true);
});

test('otlp-wire: log records go beside the spans', () => {
  expect(['https://a.example/x/v1/traces', 'https://a.example/otlp'].map(logsUrl)).toEqual([
    'https://a.example/x/v1/logs',
    'https://a.example/otlp',
  ]);
});
