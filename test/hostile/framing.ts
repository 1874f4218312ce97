/** OTLP over HTTP: what is wrong around the body. */
import { connect } from 'node:net';
import { malformed, notHttp, refused, taken, tooLarge, type Answer, type HostileCase, type Send } from './case.ts';
import { good, MiB, plain, protobuf } from './bodies.ts';
import { answersIn, asJson, asProtobuf, connected, post, raw, rawAndGone, rawUntilAnswered, requestHead, sentTo } from './senders.ts';
import type { Target } from './target.ts';

const large = 17 * MiB;
const noSuchPath = { status: '404', requests: { 'http other 404 not_found': 1 } };
const notAllowed = { status: '405', requests: { 'http traces 405 method_not_allowed': 1 } };
const unknownType = refused(415, 'otlp_media_type', /Content-Type is neither/);
const nothing = { status: 'cut off', requests: {} };
const length = (body: Uint8Array): { readonly 'content-length': number } => ({ 'content-length': body.length });
const one = { accepted: 1, runs: 1 };
const bodyOf = (trace: string): Buffer => protobuf(good(trace));
/** A whole good request with a head of one's own. */
const whole =
  (head: (body: Buffer) => string) =>
  (trace: string): Send =>
    raw(head(bodyOf(trace)), bodyOf(trace));
const good1 = taken(1, { runs: 1 });

export const framing: readonly HostileCase[] = [
  {
    name: 'a body beyond the limit that is sent to its end',
    prepare: () => post(Buffer.alloc(large)),
    want: tooLarge(/has 17825792 bytes, the limit is 16777216/),
  },
  { name: 'a body beyond the limit in pieces', prepare: () => post(Buffer.alloc(large), { pieces: 65_536 }), want: tooLarge() },
  {
    name: 'an announced length beyond the limit, and no body',
    prepare: () => rawUntilAnswered(requestHead({ ...asProtobuf, 'content-length': large })),
    want: tooLarge(),
  },
  {
    name: 'an announced length of 10^18',
    prepare: () => rawUntilAnswered(requestHead({ ...asProtobuf, 'content-length': 10n ** 18n + '' })),
    want: tooLarge(),
  },
  {
    name: 'an announced length of 2^64',
    prepare: () => raw(requestHead({ ...asProtobuf, 'content-length': 2n ** 64n + '' })),
    want: notHttp(),
  },
  { name: 'a negative length', prepare: () => raw(requestHead({ ...asProtobuf, 'content-length': -1 })), want: notHttp() },
  {
    name: 'two lengths that differ',
    prepare: () => raw(requestHead({ ...asProtobuf, 'content-length': 5, 'Content-Length': 6 }), 'hello!'),
    want: notHttp(),
  },
  {
    name: 'a length and pieces at once',
    prepare: () => raw(requestHead({ ...asProtobuf, 'content-length': 5, 'transfer-encoding': 'chunked' }), '0\r\n\r\n'),
    want: notHttp(),
  },
  {
    name: 'pieces that are pieces twice',
    prepare: () => raw(requestHead({ ...asProtobuf, 'transfer-encoding': 'chunked, chunked' }), '0\r\n\r\n'),
    want: notHttp(),
  },
  {
    name: 'an unknown transfer encoding',
    prepare: () => raw(requestHead({ ...asProtobuf, 'transfer-encoding': 'cow' }), '0\r\n\r\n'),
    want: notHttp(),
  },
  {
    name: 'a piece of 2^64 bytes',
    prepare: () => raw(requestHead({ ...asProtobuf, 'transfer-encoding': 'chunked' }), 'ffffffffffffffffff\r\n'),
    want: notHttp(),
  },
  {
    name: 'a piece with 20 KiB of extensions',
    prepare: () => raw(requestHead({ ...asProtobuf, 'transfer-encoding': 'chunked' }), `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`),
    want: { status: '413', requests: { 'http other 413 http_413': 1 } },
  },
  {
    name: 'trailers without end',
    prepare: () => raw(requestHead({ ...asProtobuf, 'transfer-encoding': 'chunked' }), `0\r\n${'x: y\r\n'.repeat(20_000)}`),
    want: notHttp(431),
  },
  {
    name: 'a body that ends before its length',
    prepare: (trace) => rawAndGone(requestHead({ ...asProtobuf, 'content-length': 1_000 }), bodyOf(trace)),
    want: notHttp(),
  },
  {
    name: 'pieces that end before their end',
    prepare: () => rawAndGone(requestHead({ ...asProtobuf, 'transfer-encoding': 'chunked' }), 'ff\r\nabc'),
    want: notHttp(),
  },
  {
    name: 'headers that end before their end',
    prepare: () => rawAndGone('POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-ty'),
    want: notHttp(),
  },
  {
    name: 'a body behind 100-continue',
    prepare: whole((body) => requestHead({ ...asProtobuf, ...length(body), expect: '100-continue', connection: 'close' })),
    want: good1,
  },
  {
    name: 'an unknown expectation',
    prepare: whole((body) => requestHead({ ...asProtobuf, ...length(body), expect: 'miracles', connection: 'close' })),
    want: good1,
  },
  {
    name: 'HTTP/1.0 without a host',
    prepare: whole((body) => `POST /v1/traces HTTP/1.0\r\ncontent-type: application/x-protobuf\r\ncontent-length: ${body.length}\r\n\r\n`),
    want: good1,
  },
  {
    name: 'HTTP/1.1 without a host',
    prepare: whole(
      (body) =>
        `POST /v1/traces HTTP/1.1\r\ncontent-type: application/x-protobuf\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`,
    ),
    want: good1,
  },
  { name: 'HTTP/0.9', prepare: () => raw('GET /v1/traces\r\n\r\n'), want: notAllowed },
  { name: 'HTTP/9.9', prepare: () => raw('POST /v1/traces HTTP/9.9\r\nhost: x\r\n\r\n'), want: notHttp() },
  {
    name: 'HTTP/2 on the port of HTTP',
    prepare: () => raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    want: { status: 'cut off', requests: { 'http other 400 is_http2': 1 } },
  },
  {
    name: 'TLS on a port without it',
    prepare: () => raw(Buffer.from('1603010200010001fc0303', 'hex')),
    want: { status: '400', requests: { 'http other 400 is_tls': 1 } },
  },
  {
    name: 'a wish to speak HTTP/2',
    prepare: whole((body) => requestHead({ ...asProtobuf, ...length(body), connection: 'upgrade, close', upgrade: 'h2c' })),
    want: good1,
  },
  { name: 'a method in small letters', prepare: () => raw('post /v1/traces HTTP/1.1\r\nhost: x\r\n\r\n'), want: notHttp() },
  { name: 'DELETE', prepare: (trace) => post(bodyOf(trace), { method: 'DELETE' }), want: notAllowed },
  { name: 'HEAD', prepare: () => post(Buffer.alloc(0), { method: 'HEAD' }), want: notAllowed },
  { name: 'TRACE', prepare: () => post(Buffer.alloc(0), { method: 'TRACE' }), want: notAllowed },
  { name: 'CONNECT', prepare: () => raw('CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n'), want: nothing },
  { name: 'a slash behind the path', prepare: (trace) => post(bodyOf(trace), { path: '/v1/traces/' }), want: noSuchPath },
  { name: 'a path that climbs', prepare: (trace) => post(bodyOf(trace), { path: '/v1/traces/../../etc/passwd' }), want: noSuchPath },
  { name: 'a path in capitals', prepare: (trace) => post(bodyOf(trace), { path: '/V1/TRACES' }), want: noSuchPath },
  {
    name: 'a path that names a host',
    prepare: (trace) => post(bodyOf(trace), { path: 'http://evil.example/v1/traces' }),
    want: noSuchPath,
  },
  { name: 'a path of 100 KiB', prepare: () => raw(requestHead(asProtobuf, { path: `/${'a'.repeat(102_400)}` })), want: notHttp(431) },
  { name: 'a path with a byte of zero', prepare: () => raw(requestHead(asProtobuf, { path: '/v1/\u0000' })), want: notHttp() },
  { name: 'headers of 20 KiB', prepare: () => raw(requestHead({ ...asProtobuf, cookie: 'x'.repeat(20_480) })), want: notHttp(431) },
  {
    name: 'a thousand headers',
    prepare: () => raw(requestHead(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x-${at}`, 'y'.repeat(20)])))),
    want: notHttp(431),
  },
  { name: 'a header without a colon', prepare: () => raw('POST /v1/traces HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n'), want: notHttp() },
  {
    name: 'a header with a byte of zero',
    prepare: () => raw('POST /v1/traces HTTP/1.1\r\nhost: x\r\nx: a\u0000b\r\n\r\n'),
    want: notHttp(),
  },
  { name: 'a header that is folded', prepare: () => raw('POST /v1/traces HTTP/1.1\r\nhost: x\r\nx: a\r\n b\r\n\r\n'), want: notHttp() },
  {
    name: 'two content types in one',
    prepare: (trace) => post(bodyOf(trace), { headers: { 'content-type': 'application/x-protobuf, application/json' } }),
    want: unknownType,
  },
  {
    name: 'JSON that claims to be UTF-16',
    prepare: () => post(Buffer.from('{}', 'utf16le'), { headers: { 'content-type': 'application/json; charset=utf-16' } }),
    want: malformed(),
  },
  {
    name: 'a token that is 4 KiB of noise',
    prepare: (trace) => post(bodyOf(trace), { headers: { ...asProtobuf, authorization: `Bearer ${'\u00ff'.repeat(2_048)}` } }),
    want: good1,
  },
  {
    name: 'fifty requests in one write',
    prepare: (trace) => pipelined(trace, 50),
    want: {
      status: '50 × 200',
      ...one,
      accepted: 50,
      requests: { 'http traces 200': 50 },
      counts: { tracejury_spans_duplicate_total: 49 },
    },
  },
  {
    name: 'a request behind one that is too large',
    prepare: (trace) =>
      rawUntilAnswered(
        requestHead({ ...asProtobuf, 'content-length': large }),
        requestHead({ ...asProtobuf, ...length(bodyOf(trace)) }),
        bodyOf(trace),
      ),
    want: tooLarge(),
  },
  {
    name: 'blank lines, then a request',
    prepare: whole((body) => `\r\n\r\n\r\n${requestHead({ ...asProtobuf, ...length(body), connection: 'close' })}`),
    want: good1,
  },
  { name: 'two hundred connections that say nothing', prepare: (trace) => crowded(trace, 200, ''), want: good1 },
  {
    name: 'two hundred connections in the middle of their headers',
    prepare: (trace) => crowded(trace, 200, 'POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-'),
    want: good1,
  },
  {
    name: 'two hundred connections that are reset in the middle of a body',
    prepare: (trace) => crowded(trace, 200, `${requestHead({ ...asProtobuf, 'content-length': 1_000 })}abc`),
    want: good1,
  },
  {
    name: 'a body in single bytes',
    prepare: (trace) => post(protobuf(good(trace), plain(trace)), { pieces: 1 }),
    want: taken(2, { runs: 1 }),
  },
  {
    name: 'a body that trickles',
    prepare: (trace) => trickled(requestHead({ ...asProtobuf, ...length(bodyOf(trace)), connection: 'close' }), bodyOf(trace)),
    want: good1,
  },
  { name: 'an empty body as JSON', prepare: () => post(Buffer.alloc(0), { headers: asJson }), want: malformed(/not JSON/) },
  { name: 'an empty body as protobuf', prepare: () => post(Buffer.alloc(0)), want: taken(0) },
];

function pipelined(trace: string, count: number): Send {
  const body = bodyOf(trace);
  const request = (connection: string): Buffer =>
    Buffer.concat([Buffer.from(requestHead({ ...asProtobuf, ...length(body), connection })), body]);
  const bytes = Buffer.concat(Array.from({ length: count }, (_, at) => request(at === count - 1 ? 'close' : 'keep-alive')));
  return async ({ http }) => {
    const answers = answersIn((await sentTo(http, bytes, false)) ?? Buffer.alloc(0));
    const statuses = new Set(answers.map(({ status }) => status));
    return { status: `${answers.length} × ${[...statuses].join()}`, says: '', rejected: 0 };
  };
}

/** A good request while others are in the way, which then go away without a word. */
function crowded(trace: string, count: number, says: string): Send {
  const request = post(bodyOf(trace));
  return async (at: Target): Promise<Answer> => {
    const sockets = await Promise.all(Array.from({ length: count }, () => connected(at.http)));
    for (const socket of sockets) if (says !== '') socket.write(says);
    const answer = await request(at);
    for (const socket of sockets) socket.on('error', () => undefined).resetAndDestroy();
    return answer;
  };
}

function trickled(head: string, body: Buffer): Send {
  return ({ http }) =>
    new Promise((resolve) => {
      const received: Buffer[] = [];
      let at = 0;
      const socket = connect(http, '127.0.0.1', () => {
        socket.write(head);
        const timer = setInterval(() => (at < body.length ? socket.write(body.subarray(at, (at += 8))) : clearInterval(timer)), 1);
      });
      socket.on('data', (chunk: Buffer) => received.push(chunk));
      socket.on('end', () => resolve(answersIn(Buffer.concat(received))[0] ?? { status: 'cut off', says: '', rejected: 0 }));
    });
}
