/** Requests that no decent client sends, spoken by hand. After each of them a good request must still be taken. */
import { PassThrough } from 'node:stream';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMessage } from '../../../src/receivers/grpc/grpc-message.ts';
import { bufferPool } from '../../../src/runtime/buffer-pool.ts';
import { byteBudget } from '../../../src/receivers/byte-budget.ts';
import { traceResponse } from '../../otlp/descriptors.ts';
import { openGrpcDoor, testLimits, type Door } from '../door.ts';
import { grpcSend, logsPath, message, metricsPath, rawCall, rawSession, tracesPath } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';

interface Row {
  readonly name: string;
  readonly headers?: { readonly [name: string]: string };
  /** In the pieces in which they are sent. */
  readonly bytes?: readonly Uint8Array[];
  /** The client never ends its stream. */
  readonly open?: true;
  readonly want: {
    readonly status?: string;
    readonly code?: string;
    readonly message?: RegExp;
    readonly counted: string;
    readonly spans?: number;
  };
}

const ok = { status: '200', code: '0', counted: 'traces OK', spans: 1 };
const malformed = { status: '200', code: '3', counted: 'traces INVALID_ARGUMENT otlp_malformed' };
const tooLarge = { status: '200', code: '8', counted: 'traces RESOURCE_EXHAUSTED otlp_too_large' };
const unimplemented = { status: '200', code: '12' };
const gzip = { 'grpc-encoding': 'gzip' };

const rows: readonly Row[] = [
  { name: 'a message in single bytes', bytes: [...message(goodBody)].map((byte) => Buffer.of(byte)), want: ok },
  { name: 'a message cut behind its prefix', bytes: [message(goodBody).subarray(0, 5), goodBody], want: ok },
  {
    name: 'a content type with a parameter',
    headers: { 'content-type': 'application/grpc+proto;charset=utf-8' },
    bytes: [message(goodBody)],
    want: ok,
  },
  { name: 'a plain message although gzip is named', headers: gzip, bytes: [message(goodBody)], want: ok },
  {
    name: 'gzip of two members',
    headers: gzip,
    bytes: [message(Buffer.concat([gzipSync(goodBody.subarray(0, 9)), gzipSync(goodBody.subarray(9))]), { flag: 1 })],
    want: ok,
  },
  { name: 'deflate', headers: { 'grpc-encoding': 'deflate' }, bytes: [message(deflateSync(goodBody), { flag: 1 })], want: ok },
  { name: 'zstd', headers: { 'grpc-encoding': 'zstd' }, bytes: [message(zstdCompressSync(goodBody), { flag: 1 })], want: ok },
  { name: 'a deadline far off', headers: { 'grpc-timeout': '99999999H' }, bytes: [message(goodBody)], want: ok },
  { name: 'a deadline that is none', headers: { 'grpc-timeout': 'soon' }, bytes: [message(goodBody)], want: ok },

  { name: 'no message', want: { ...malformed, message: /no gRPC message/ } },
  { name: 'half a prefix', bytes: [Buffer.from([0, 0, 0])], want: { ...malformed, message: /no gRPC message/ } },
  {
    name: 'a flag that is none',
    bytes: [message(goodBody, { flag: 2 })],
    want: { ...malformed, message: /not the beginning of a gRPC message/ },
  },
  {
    name: 'text instead of a message',
    bytes: [Buffer.from('hello, is anybody there?')],
    want: { ...malformed, message: /not the beginning/ },
  },
  {
    name: 'fewer bytes than announced',
    bytes: [message(goodBody, { length: goodBody.length + 1 })],
    want: { ...malformed, message: /announces \d+ bytes and has \d+/ },
  },
  {
    name: 'more bytes than announced',
    bytes: [message(goodBody, { length: goodBody.length - 1 })],
    want: { ...malformed, message: /announces/ },
  },
  { name: 'two messages', bytes: [message(goodBody), message(goodBody)], want: { ...malformed, message: /announces/ } },
  {
    name: 'a compressed message of an unnamed coding',
    bytes: [message(gzipSync(goodBody), { flag: 1 })],
    want: { ...malformed, message: /grpc-encoding does not say how/ },
  },
  {
    name: 'what is not gzip',
    headers: gzip,
    bytes: [message(goodBody, { flag: 1 })],
    want: { ...malformed, message: /gzip data is broken/ },
  },
  {
    name: 'cut gzip',
    headers: gzip,
    bytes: [message(gzipSync(goodBody).subarray(0, 20), { flag: 1 })],
    want: { ...malformed, message: /gzip data is broken/ },
  },
  { name: 'an endless message of small announcement', bytes: [message(goodBody), Buffer.alloc(testLimits.bodyBytes * 2)], want: tooLarge },
  {
    name: 'a huge message that never comes',
    bytes: [message(Buffer.alloc(0), { length: 4_000_000_000 })],
    open: true,
    want: { ...tooLarge, message: /4000000000 bytes/ },
  },

  {
    name: 'metrics',
    headers: { ':path': metricsPath },
    bytes: [message(goodBody)],
    want: { ...unimplemented, message: /Metrics are not taken/, counted: 'other UNIMPLEMENTED not_found' },
  },
  {
    name: 'an unknown service',
    headers: { ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' },
    bytes: [message(goodBody)],
    want: { ...unimplemented, message: /no such service/, counted: 'other UNIMPLEMENTED not_found' },
  },
  {
    name: 'another method of the service',
    headers: { ':path': tracesPath.replace('Export', 'Import') },
    bytes: [message(goodBody)],
    want: { ...unimplemented, counted: 'other UNIMPLEMENTED not_found' },
  },
  {
    name: 'a coding that is not known',
    headers: { 'grpc-encoding': 'snappy' },
    bytes: [message(goodBody)],
    want: { ...unimplemented, message: /gzip/, counted: 'traces UNIMPLEMENTED otlp_encoding' },
  },
  {
    name: 'logs in another content type',
    headers: { ':path': logsPath, 'content-type': 'application/json' },
    bytes: [goodBody],
    want: { status: '415', counted: 'logs 415 otlp_media_type' },
  },
  {
    name: 'gRPC with JSON',
    headers: { 'content-type': 'application/grpc+json' },
    bytes: [goodBody],
    want: { status: '415', counted: 'traces 415 otlp_media_type' },
  },
  { name: 'GET', headers: { ':method': 'GET' }, want: { status: '405', counted: 'traces 405 method_not_allowed' } },
];

let door: Door;
beforeAll(async () => {
  door = await openGrpcDoor();
});
afterAll(() => door.receiver.stop());

describe('otlp_grpc frames', () => {
  test.each(rows)('otlp_grpc: $name', async ({ headers = {}, bytes = [], open, want }) => {
    door.counts.clear();
    door.spans.length = 0;
    const session = rawSession(door.port);
    const { stream, answer } = rawCall(session, headers);
    for (const piece of bytes) stream.write(piece);
    if (open === undefined) stream.end();
    const { headers: told, body } = await answer;
    session.destroy();

    expect([String(told[':status']), told['grpc-status']]).toEqual([want.status, want.code]);
    if (want.code === '0') expect(traceResponse.decode(body.subarray(5))).toEqual({});
    if (want.code === '12') expect(told['grpc-accept-encoding']).toContain('gzip');
    expect(decodeURIComponent(String(told['grpc-message'] ?? ''))).toMatch(want.message ?? /^/);
    expect([...door.counts.keys()].filter((key) => key.includes('requests'))).toEqual([`tracejury.receiver.requests grpc ${want.counted}`]);
    expect(door.spans).toHaveLength(want.spans ?? 0);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
    await door.inFlight(0);
  });
});

test('otlp_grpc: a message is read whole however it is cut, and its bytes are given back', async () => {
  const body = fc.uint8Array({ maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(body, fc.array(fc.nat({ max: 204 }), { maxLength: 6 }), async (sent, cuts) => {
      const { read, left } = reading(message(sent), cuts);
      expect(await read).toEqual(Buffer.from(sent));
      expect(left()).toBe(sent.length);
    }),
  );
});

test('otlp_grpc: noise is a message or an error of ours, and never more than is sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat({ max: 40 }), { maxLength: 4 }), async (noise, cuts) => {
      const end = await reading(Buffer.from(noise), cuts).read.then(
        ({ length }) => length,
        (error: { readonly code?: string }) => error.code,
      );
      expect(['OTLP_MALFORMED', 'OTLP_TOO_LARGE', 'OVERLOADED', noise.length - 5]).toContain(end);
    }),
  );
});

/** The message read from a stream that delivers it in the given pieces; `left` has the leased bytes. */
function reading(bytes: Buffer, cuts: readonly number[]): { readonly read: Promise<Buffer>; readonly left: () => number } {
  let held = 0;
  const telemetry = { add: () => undefined, record: () => undefined, set: (_: string, value: number) => void (held = value) };
  const source = new PassThrough();
  const lease = byteBudget({ bytesMax: 1000, telemetry })({ keepFreeBytes: 0 })();
  const read = readMessage(source, {
    encoding: 'identity',
    bodyBytesMax: 2000,
    inflatedBytesMax: 1000,
    lease,
    buffers: bufferPool({ freeBytesMax: 0 }),
    received: () => undefined,
  });
  const edges = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  edges.slice(1).forEach((edge, at) => source.write(bytes.subarray(edges[at], edge)));
  source.end();
  return { read: read.then(({ body }) => body.bytes), left: () => held };
}
