/** The contract of every receiver of OTLP, for the same bytes over each transport: one table for both. */
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JuryError } from '../../src/model/errors.ts';
import type { Admission } from '../../src/model/ingest.ts';
import { logsRequest, logsResponse, statusMessage, traceRequest, traceResponse } from '../otlp/descriptors.ts';
import { exchange, head, openDoor, openGrpcDoor, testLimits, type Door, type DoorOptions } from './door.ts';
import { grpcSend, logsPath, tracesPath } from './grpc-client.ts';

interface Request {
  readonly signal?: 'traces' | 'logs';
  readonly body: Uint8Array;
  readonly coding?: 'gzip' | 'deflate';
  readonly token?: string;
}

interface Answer {
  /** HTTP status or gRPC code. */
  readonly status: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly partial: unknown;
}

interface Transport {
  readonly name: 'http' | 'grpc';
  readonly open: (options: DoorOptions) => Promise<Door>;
  readonly send: (port: number, request: Request) => Promise<Answer>;
}

const transports: readonly Transport[] = [
  { name: 'http', open: openDoor, send: sendHttp },
  { name: 'grpc', open: openGrpcDoor, send: sendGrpc },
];

interface Row extends Request {
  readonly name: string;
  readonly admission?: Admission;
  readonly fault?: Error;
  readonly want: {
    readonly http: number;
    readonly grpc: string;
    readonly reason?: string;
    readonly message?: RegExp;
    readonly retryAfterSeconds?: number;
    readonly spans?: number;
    readonly records?: number;
    readonly rejected?: string;
  };
}

const span = {
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 2),
  name: 'invoke_agent',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
};
const traces = (...spans: readonly object[]): Buffer => traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const logs = (...logRecords: readonly object[]): Buffer => logsRequest.encode({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
const good = traces(span);
const named = (chars: number): Buffer => traces({ ...span, name: 'x'.repeat(chars) });
const noise = Buffer.from(Array.from({ length: 999 }, (_, at) => (at * 7919) % 256));
const token = 'let-me-in';

const taken = { http: 200, grpc: 'OK', spans: 1 };
const malformed = { http: 400, grpc: 'INVALID_ARGUMENT', reason: 'otlp_malformed', message: /not a valid OTLP request/ };
const tooLarge = { http: 413, grpc: 'RESOURCE_EXHAUSTED', reason: 'otlp_too_large', message: /larger than limits/ };
const unauthenticated = { http: 401, grpc: 'UNAUTHENTICATED', reason: 'unauthenticated', message: /no valid token/ };

const rows: readonly Row[] = [
  { name: 'a span', body: good, want: taken },
  { name: 'a span in gzip', body: good, coding: 'gzip', want: taken },
  { name: 'a span in deflate', body: good, coding: 'deflate', want: taken },
  { name: 'a request without anything in it', body: Buffer.alloc(0), want: { ...taken, spans: 0 } },
  {
    name: 'log records, one of them without a trace',
    signal: 'logs',
    body: logs({ traceId: Buffer.alloc(16, 1), eventName: 'e' }, {}),
    want: { http: 200, grpc: 'OK', records: 1 },
  },
  {
    name: 'log records in gzip',
    signal: 'logs',
    body: logs({ traceId: Buffer.alloc(16, 1), eventName: 'e' }),
    coding: 'gzip',
    want: { http: 200, grpc: 'OK', records: 1 },
  },
  {
    name: 'a bad trace id beside a good span',
    body: traces({ ...span, traceId: Buffer.alloc(15, 1) }, span),
    want: { ...taken, rejected: '1', message: /^invalid_trace_id \(1\); first invalid_trace_id: item 0/ },
  },
  {
    name: 'two bad ids beside a good span, in gzip',
    body: traces({ ...span, spanId: Buffer.alloc(8) }, { ...span, traceId: Buffer.alloc(0) }, span),
    coding: 'gzip',
    want: { ...taken, rejected: '2', message: /invalid_span_id \(1\)/ },
  },
  {
    name: 'a log record with half an id',
    signal: 'logs',
    body: logs({ traceId: Buffer.alloc(1, 1) }),
    want: { http: 200, grpc: 'OK', rejected: '1', message: /^invalid_trace_id/ },
  },
  { name: 'a body as large as the limit', body: named(testLimits.bodyBytes - 1000), want: taken },
  { name: 'a body that inflates almost to the limit', body: named(testLimits.inflatedBytes - 1000), coding: 'gzip', want: taken },

  { name: 'noise', body: noise, want: malformed },
  { name: 'noise in gzip', body: noise, coding: 'gzip', want: malformed },
  { name: 'a cut body', body: good.subarray(0, 20), want: malformed },
  { name: 'JSON', body: Buffer.from('{"resourceSpans":[]}'), want: malformed },
  { name: 'a body beyond the limit', body: named(testLimits.bodyBytes), want: tooLarge },
  {
    name: 'a body that inflates beyond the limit',
    body: named(testLimits.inflatedBytes),
    coding: 'gzip',
    want: { ...tooLarge, message: /inflates to more than 1048576 bytes/ },
  },
  {
    name: 'a bomb',
    body: Buffer.alloc(64 * 1024 * 1024),
    coding: 'gzip',
    want: { ...tooLarge, message: /inflates to more than 1048576 bytes/ },
  },

  { name: 'a wrong token', body: good, token: 'let-me-on', want: unauthenticated },
  { name: 'the beginning of a token', body: good, token: 'let-me-', want: unauthenticated },
  { name: 'no token', body: good, token: '', want: unauthenticated },
  {
    name: 'a wrong token while overloaded',
    body: good,
    token: 'x',
    admission: { refuse: 'overloaded', retryAfterSeconds: 7 },
    want: unauthenticated,
  },
  {
    name: 'a span for an overloaded service',
    body: good,
    admission: { refuse: 'overloaded', retryAfterSeconds: 7 },
    want: { http: 429, grpc: 'UNAVAILABLE', reason: 'overloaded', message: /bytes are in flight/, retryAfterSeconds: 7 },
  },
  {
    name: 'a span for a service that stops',
    body: good,
    admission: { refuse: 'stopping', retryAfterSeconds: 0.2 },
    want: { http: 503, grpc: 'UNAVAILABLE', reason: 'stopping', message: /is stopping/, retryAfterSeconds: 1 },
  },
  {
    name: 'a span that finds the journal full',
    body: good,
    fault: new JuryError('OVERLOADED', 'The journal is full: 100 %, „voll“.'),
    want: { http: 429, grpc: 'UNAVAILABLE', reason: 'overloaded', message: /full: 100 %, „voll“/, retryAfterSeconds: 1 },
  },
  {
    name: 'a span on which the service fails',
    body: good,
    fault: new Error('a secret path'),
    want: { http: 500, grpc: 'INTERNAL', reason: 'http_500', message: /^The service failed to answer\.$/ },
  },
];

describe.each(transports)('otlp over $name', ({ name: transport, open, send }) => {
  let door: Door;
  beforeAll(async () => {
    door = await open({ tokens: [{ name: 'agents', value: token }] });
  });
  afterAll(() => door.receiver.stop());

  test.each(rows)('$name', async ({ admission = 'open', fault, want, ...request }) => {
    door.counts.clear();
    door.spans.length = 0;
    door.records.length = 0;
    door.admission = admission;
    door.fault = fault;
    const answer = await send(door.port, { token, ...request });
    [door.admission, door.fault] = ['open', undefined];

    expect(answer).toMatchObject({ status: String(want[transport]), retryAfterSeconds: want.retryAfterSeconds });
    expect(answer.message).toMatch(want.message ?? /^$/);
    expect(answer.partial).toBe(want.rejected);
    expect(door.spans.map(([tenant]) => tenant)).toEqual(Array(want.spans ?? 0).fill('agents'));
    expect(door.records).toHaveLength(want.records ?? 0);
    // Written down unchanged, so that it can be read again.
    if (door.spans.length + door.records.length > 0)
      expect(door.bodies.at(-1)).toMatchObject({ contentEncoding: request.coding ?? '', body: packedBody(request) });
    expect([...door.counts.keys()].filter((key) => key.startsWith('tracejury.receiver.requests'))).toEqual([
      ['tracejury.receiver.requests', transport, request.signal ?? 'traces', want[transport], want.reason ?? ''].join(' ').trim(),
    ]);
    expect((await send(door.port, { body: good, token })).status).toBe(transport === 'http' ? '200' : 'OK');
    await door.inFlight(0);
  });

  test('a wait below a second is exact over gRPC, and a second over HTTP', async () => {
    for (const [seconds, told] of [
      [0.25, { http: 1, grpc: 0.25 }],
      [1.5, { http: 2, grpc: 1.5 }],
      [0.001, { http: 1, grpc: 0.1 }],
    ] as const) {
      door.admission = { refuse: 'overloaded', retryAfterSeconds: seconds };
      expect((await send(door.port, { body: good, token })).retryAfterSeconds).toBe(told[transport]);
    }
    door.admission = 'open';
  });

  test('a sender that takes little is let in while others are put off', async () => {
    const busy: Admission = { refuse: 'overloaded', retryAfterSeconds: 7 };
    door.admission = busy;
    expect((await send(door.port, { body: good, token })).status).toBe(transport === 'http' ? '429' : 'UNAVAILABLE');
    const asked: string[] = [];
    door.modest = (sender) => asked.push(sender) > 0;
    expect((await send(door.port, { body: good, token })).status).toBe(transport === 'http' ? '200' : 'OK');
    // Its address, and the tenant that its token names.
    expect(asked).toEqual([expect.stringMatching(/127\.0\.0\.1 \S+$/)]);
  });
});

/** Compressed as in both transports. */
function packedBody({ body, coding }: Request): Buffer {
  return Buffer.from(coding === undefined ? body : coding === 'gzip' ? gzipSync(body) : deflateSync(body));
}

async function sendHttp(port: number, { signal = 'traces', body, coding, token: sent = '' }: Request): Promise<Answer> {
  const packed = packedBody({ body, ...(coding === undefined ? {} : { coding }) });
  const headers = {
    'content-type': 'application/x-protobuf',
    'content-length': packed.length,
    authorization: `Bearer ${sent}`,
    connection: 'close',
    ...(coding === undefined ? {} : { 'content-encoding': coding }),
  };
  const answer = await exchange(port, head(`/v1/${signal}`, headers), packed);
  const retry = answer.headers['retry-after'];
  const told =
    answer.status === 200
      ? partialOf(signal, answer.body)
      : { message: String(statusMessage.decode(answer.body)['message']), partial: undefined };
  return { status: String(answer.status), retryAfterSeconds: retry === undefined ? undefined : Number(retry), ...told };
}

async function sendGrpc(port: number, { signal = 'traces', body, coding, token: sent = '' }: Request): Promise<Answer> {
  const answer = await grpcSend(port, {
    path: signal === 'traces' ? tracesPath : logsPath,
    message: body,
    coding,
    metadata: { authorization: `Bearer ${sent}` },
  });
  const told = answer.code === 'OK' ? partialOf(signal, answer.body) : { message: answer.message, partial: undefined };
  return { status: answer.code, retryAfterSeconds: answer.retryAfterSeconds, ...told };
}

function partialOf(signal: 'traces' | 'logs', body: Buffer): { readonly message: string; readonly partial: unknown } {
  const read = (signal === 'traces' ? traceResponse : logsResponse).decode(body);
  const partial = (read['partialSuccess'] ?? {}) as { readonly [field: string]: unknown };
  return { message: String(partial['errorMessage'] ?? ''), partial: partial['rejectedSpans'] ?? partial['rejectedLogRecords'] };
}
