/** OTLP over gRPC: frames, messages and sessions that no decent client sends. */
import { gzipSync } from 'node:zlib';
import { logsPath, message, metricsPath, rawCall, rawSession } from '../receivers/grpc-client.ts';
import { good, MiB, plain, protobuf } from './bodies.ts';
import type { Answer, HostileCase, Send, Wanted } from './case.ts';
import { call, connected, grpcAnswer } from './senders.ts';
import type { Target } from './target.ts';

const bodyOf = (trace: string): Buffer => protobuf(good(trace));
const answered = (status: string, labels: string, more: Partial<Wanted> = {}): Wanted => ({
  status,
  requests: { [`grpc ${labels}`]: 1 },
  ...more,
});
const taken = (more: Partial<Wanted> = {}): Wanted => answered('code 0', 'traces OK', { accepted: 1, runs: 1, ...more });
const malformed = answered('code 3', 'traces INVALID_ARGUMENT otlp_malformed');
const tooLarge = answered('code 8', 'traces RESOURCE_EXHAUSTED otlp_too_large');
const notFound = answered('code 12', 'other UNIMPLEMENTED not_found');
const notGrpc = answered('415', 'traces 415 otlp_media_type');
const gzip = { 'grpc-encoding': 'gzip' };

export const grpcCases: readonly HostileCase[] = [
  {
    name: 'a bad span beside a good one',
    prepare: (trace) => call({ bytes: [message(protobuf(plain(trace, { spanId: '' }), good(trace)))] }),
    want: taken({ rejected: { invalid_span_id: 1 }, says: /^invalid_span_id \(1\)/ }),
  },
  { name: 'a message beyond the limit', prepare: () => call({ bytes: [message(Buffer.alloc(17 * MiB))] }), want: tooLarge },
  {
    name: 'a message of 4 GiB that is announced and does not come',
    prepare: () => call({ bytes: [message(Buffer.alloc(10), { length: 0xffff_ffff })], open: true }),
    want: tooLarge,
  },
  {
    name: 'a message that inflates beyond the limit',
    prepare: () => call({ headers: gzip, bytes: [message(gzipSync(Buffer.alloc(65 * MiB)), { flag: 1 })] }),
    want: tooLarge,
  },
  { name: 'no message', prepare: () => call({}), want: malformed },
  { name: 'half a prefix', prepare: () => call({ bytes: [Buffer.alloc(3)] }), want: malformed },
  { name: 'a prefix of noise', prepare: () => call({ bytes: [Buffer.from('hello there')] }), want: malformed },
  {
    name: 'a message shorter than its length',
    prepare: (trace) => call({ bytes: [message(bodyOf(trace), { length: 5_000 })] }),
    want: malformed,
  },
  {
    name: 'a message longer than its length',
    prepare: (trace) => call({ bytes: [message(bodyOf(trace), { length: 3 })] }),
    want: malformed,
  },
  { name: 'two messages', prepare: (trace) => call({ bytes: [message(bodyOf(trace)), message(bodyOf(trace))] }), want: malformed },
  { name: 'flag 255', prepare: (trace) => call({ bytes: [message(bodyOf(trace), { flag: 255 })] }), want: malformed },
  {
    name: 'compressed without saying how',
    prepare: (trace) => call({ bytes: [message(gzipSync(bodyOf(trace)), { flag: 1 })] }),
    want: malformed,
  },
  {
    name: 'said to be compressed and plain',
    prepare: (trace) => call({ headers: gzip, bytes: [message(bodyOf(trace), { flag: 1 })] }),
    want: malformed,
  },
  {
    name: 'gzip that is cut',
    prepare: (trace) => call({ headers: gzip, bytes: [message(gzipSync(bodyOf(trace)).subarray(0, -3), { flag: 1 })] }),
    want: malformed,
  },
  {
    name: 'an unknown coding',
    prepare: (trace) => call({ headers: { 'grpc-encoding': 'snappy' }, bytes: [message(bodyOf(trace), { flag: 1 })] }),
    want: answered('code 12', 'traces UNIMPLEMENTED otlp_encoding'),
  },
  { name: 'a message of no bytes', prepare: () => call({ bytes: [message(Buffer.alloc(0))] }), want: answered('code 0', 'traces OK') },
  {
    name: 'spans sent to the logs',
    prepare: (trace) => call({ headers: { ':path': logsPath }, bytes: [message(bodyOf(trace))] }),
    want: answered('code 0', 'logs OK', { rejected: { malformed: 1 } }),
  },
  {
    name: 'metrics',
    prepare: (trace) => call({ headers: { ':path': metricsPath }, bytes: [message(bodyOf(trace))] }),
    want: { ...notFound, says: /Metrics are not taken/ },
  },
  {
    name: 'an unknown service',
    prepare: (trace) => call({ headers: { ':path': '/a.b/C' }, bytes: [message(bodyOf(trace))] }),
    want: notFound,
  },
  {
    name: 'a path of 8 KiB',
    prepare: (trace) => call({ headers: { ':path': `/${'a'.repeat(8_192)}` }, bytes: [message(bodyOf(trace))] }),
    want: notFound,
  },
  { name: 'GET', prepare: () => call({ headers: { ':method': 'GET' } }), want: answered('405', 'traces 405 method_not_allowed') },
  {
    name: 'gRPC for browsers',
    prepare: (trace) => call({ headers: { 'content-type': 'application/grpc-web' }, bytes: [message(bodyOf(trace))] }),
    want: notGrpc,
  },
  {
    name: 'gRPC in JSON',
    prepare: () => call({ headers: { 'content-type': 'application/grpc+json' }, bytes: [message(Buffer.from('{}'))] }),
    want: notGrpc,
  },
  {
    name: 'OTLP over HTTP/2 that is not gRPC',
    prepare: (trace) => call({ headers: { 'content-type': 'application/x-protobuf' }, bytes: [bodyOf(trace)] }),
    want: notGrpc,
  },
  {
    name: 'metadata of 64 KiB',
    prepare: (trace) =>
      call({
        headers: Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`x-${at}`, 'y'.repeat(4_096)])),
        bytes: [message(bodyOf(trace))],
      }),
    want: { status: 'cut off', requests: {} },
  },
  {
    name: 'a deadline of nothing',
    prepare: (trace) => call({ headers: { 'grpc-timeout': '0n' }, bytes: [message(bodyOf(trace))] }),
    want: taken(),
  },
  {
    name: 'a message in single bytes',
    prepare: (trace) => call({ bytes: [...message(bodyOf(trace))].map((byte) => Buffer.of(byte)) }),
    want: taken(),
  },
  {
    name: 'five hundred calls at once on one session',
    prepare: (trace) => many(trace, 500),
    want: {
      status: '500 × code 0',
      accepted: 500,
      runs: 1,
      requests: { 'grpc traces OK': 500 },
      counts: { tracejury_spans_duplicate_total: 499 },
    },
  },
  {
    name: 'a hundred calls that are never finished, then a session that is cut',
    prepare: (trace) => unfinished(trace, 100),
    want: taken(),
  },
  { name: 'two thousand calls that are taken back at once', prepare: (trace) => takenBack(trace, 2_000), want: taken() },
  {
    name: 'pings without end',
    prepare: (trace) => pinged(trace),
    want: taken({ counts: { 'tracejury_receiver_connections_ended_total{tracejury_transport="grpc",tracejury_reason="pings"}': 1 } }),
  },
  {
    name: 'HTTP/1.1',
    prepare: (trace) => spoken(trace, 'POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    want: taken({ counts: { 'tracejury_receiver_connections_ended_total{tracejury_transport="grpc",tracejury_reason="not_http2"}': 1 } }),
  },
  {
    name: 'the words of HTTP/2, then noise',
    prepare: (trace) =>
      spoken(trace, `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\u0000\u0000\u0004\u0004\u0000\u0000\u0000\u0000\u0000'}${'noise!'.repeat(100)}`),
    want: taken({
      counts: { 'tracejury_receiver_connections_ended_total{tracejury_transport="grpc",tracejury_reason="protocol_error"}': 1 },
    }),
  },
];

/** The same span in many calls: all are taken, one is kept. */
function many(trace: string, count: number): Send {
  const bytes = message(bodyOf(trace));
  return async ({ grpc }) => {
    const session = rawSession(grpc);
    const answers = await Promise.all(
      Array.from({ length: count }, async () => {
        const { stream, answer } = rawCall(session);
        stream.end(bytes);
        const { headers, body } = await answer;
        return grpcAnswer(headers, body);
      }),
    );
    session.destroy();
    return { status: `${answers.length} × ${[...new Set(answers.map(({ status }) => status))].join()}`, says: '', rejected: 0 };
  };
}

const goodCall = (trace: string): Send => call({ bytes: [message(bodyOf(trace))] });

function unfinished(trace: string, count: number): Send {
  return async (at: Target): Promise<Answer> => {
    const session = rawSession(at.grpc);
    for (let calls = 0; calls < count; calls++) rawCall(session).stream.write(Buffer.from([0, 0, 0, 0, 9, 1]));
    const answer = await goodCall(trace)(at);
    session.destroy();
    return answer;
  };
}

function takenBack(trace: string, count: number): Send {
  return async (at: Target): Promise<Answer> => {
    const session = rawSession(at.grpc);
    for (let calls = 0; calls < count && !session.destroyed; calls++) {
      rawCall(session).stream.destroy();
      if (calls % 50 === 0) await new Promise(setImmediate);
    }
    const answer = await goodCall(trace)(at);
    session.destroy();
    return answer;
  };
}

function pinged(trace: string): Send {
  return async (at: Target): Promise<Answer> => {
    const session = rawSession(at.grpc);
    const closed = new Promise((resolve) => session.once('close', resolve));
    const ping = (): void => {
      if (!session.destroyed) session.ping(ping);
    };
    session.once('connect', ping);
    await closed;
    return goodCall(trace)(at);
  };
}

/** Words on a bare connection, which is cut off; then a good call. */
function spoken(trace: string, words: string): Send {
  return async (at: Target): Promise<Answer> => {
    const socket = (await connected(at.grpc)).on('error', () => undefined).resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(Buffer.from(words, 'latin1'));
    await closed;
    return goodCall(trace)(at);
  };
}
