/** Requests, good and hostile, and what each must be answered. */
import { constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { logsRequest, traceRequest } from '../../otlp/descriptors.ts';
import { testLimits } from '../door.ts';

export interface Row {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string | number };
  readonly body?: Uint8Array;
  /** The body is sent in pieces and without a length. */
  readonly pieces?: number;
  readonly want: {
    readonly status: number;
    readonly code?: number;
    /** In the Status, or in the partial success. */
    readonly message?: RegExp;
    readonly rejected?: string;
    readonly spans?: number;
    readonly records?: number;
    readonly headers?: { readonly [name: string]: string | RegExp };
    /** Further counts than that of the request. */
    readonly counts?: { readonly [metric: string]: number };
  };
}

const span = {
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 2),
  name: 'invoke_agent',
  startTimeUnixNano: '1',
  endTimeUnixNano: '2',
};
const jsonSpan = { ...span, traceId: '01'.repeat(16), spanId: '02'.repeat(8) };
const traces = (...spans: readonly object[]): Buffer => traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const json = (...spans: readonly object[]): Buffer => Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
const logs = (...logRecords: readonly object[]): Buffer => logsRequest.encode({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });

export const goodBody: Buffer = traces(span);
const protobuf = { 'content-type': 'application/x-protobuf' };
const asJson = { 'content-type': 'application/json' };
const large = Buffer.alloc(testLimits.bodyBytes + 1);
const bomb = Buffer.alloc(64 * 1024 * 1024);
const big = json({ ...jsonSpan, name: 'x'.repeat(700_000) });
const ok = { status: 200, spans: 1, counts: { 'tracejury.receiver.spans accepted': 1 } };
const malformed = { status: 400, code: 3, message: /not a valid OTLP request/ };
const tooLarge = { status: 413, code: 8, message: /larger than limits/ };
const rejected = (reason: string): Row['want'] => ({
  status: 200,
  spans: 1,
  rejected: '1',
  message: new RegExp(`^${reason} \\(1\\); first ${reason}: item 0 of scope 0 of resource 0`),
  counts: { 'tracejury.receiver.spans accepted': 1, [`tracejury.receiver.spans rejected ${reason}`]: 1 },
});

export const rows: readonly Row[] = [
  {
    name: 'a span in protobuf',
    headers: protobuf,
    body: goodBody,
    want: { ...ok, counts: { ...ok.counts, 'tracejury.receiver.bytes http traces': goodBody.length } },
  },
  { name: 'a span as application/protobuf', headers: { 'content-type': 'application/protobuf' }, body: goodBody, want: ok },
  { name: 'a span in JSON', headers: asJson, body: json(jsonSpan), want: ok },
  {
    name: 'JSON with a charset and other letters',
    headers: { 'content-type': 'Application/JSON; Charset=utf-8' },
    body: json(jsonSpan),
    want: ok,
  },
  { name: 'JSON with a byte order mark', headers: asJson, body: Buffer.concat([Buffer.from('\ufeff'), json(jsonSpan)]), want: ok },
  { name: 'a query behind the path', path: '/v1/traces?a=b', headers: protobuf, body: goodBody, want: ok },
  { name: 'a body in pieces', headers: protobuf, body: goodBody, pieces: 5, want: ok },
  {
    name: 'a body as large as the limit allows',
    headers: asJson,
    body: Buffer.concat([json(jsonSpan), Buffer.alloc(testLimits.bodyBytes - json(jsonSpan).length, ' ')]),
    want: ok,
  },
  { name: 'identity by name', headers: { ...protobuf, 'content-encoding': 'identity' }, body: goodBody, want: ok },
  { name: 'gzip', headers: { ...protobuf, 'content-encoding': 'gzip' }, body: gzipSync(goodBody), want: ok },
  {
    name: 'gzip in upper case and in pieces',
    headers: { ...protobuf, 'content-encoding': 'GZIP' },
    body: gzipSync(goodBody),
    pieces: 3,
    want: ok,
  },
  {
    name: 'gzip of two members',
    headers: { ...protobuf, 'content-encoding': 'x-gzip' },
    body: Buffer.concat([gzipSync(goodBody.subarray(0, 9)), gzipSync(goodBody.subarray(9))]),
    want: ok,
  },
  { name: 'gzip of a large body', headers: { ...asJson, 'content-encoding': 'gzip' }, body: gzipSync(big), want: ok },
  { name: 'deflate', headers: { ...protobuf, 'content-encoding': 'deflate' }, body: deflateSync(goodBody), want: ok },
  { name: 'zstd', headers: { ...protobuf, 'content-encoding': 'zstd' }, body: zstdCompressSync(goodBody), want: ok },
  { name: 'an empty protobuf body', headers: protobuf, body: new Uint8Array(), want: { status: 200, spans: 0 } },
  { name: 'a protobuf type and no body at all', headers: protobuf, want: { status: 200, spans: 0 } },
  {
    name: 'log records',
    path: '/v1/logs',
    headers: protobuf,
    body: logs({ traceId: Buffer.alloc(16, 1), eventName: 'e' }, {}),
    want: {
      status: 200,
      records: 1,
      counts: { 'tracejury.receiver.log_records accepted': 1, 'tracejury.receiver.log_records ignored no_trace_id': 1 },
    },
  },
  {
    name: 'log records in JSON, one with half an id',
    path: '/v1/logs',
    headers: asJson,
    body: Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ traceId: '01' }] }] }] })),
    want: {
      status: 200,
      records: 0,
      rejected: '1',
      message: /^invalid_trace_id \(1\)/,
      counts: { 'tracejury.receiver.log_records rejected invalid_trace_id': 1 },
    },
  },
  {
    name: 'a trace id of 15 bytes beside a good span',
    headers: protobuf,
    body: traces({ ...span, traceId: Buffer.alloc(15, 1) }, span),
    want: rejected('invalid_trace_id'),
  },
  {
    name: 'a span id of zeros beside a good span',
    headers: asJson,
    body: json({ ...jsonSpan, spanId: '0'.repeat(16) }, jsonSpan),
    want: rejected('invalid_span_id'),
  },
  {
    name: 'a negative time beside a good span',
    headers: asJson,
    body: json({ ...jsonSpan, startTimeUnixNano: '-5' }, jsonSpan),
    want: rejected('invalid_time'),
  },
  {
    name: 'prototype names everywhere',
    headers: asJson,
    body: Buffer.from(
      `{"__proto__":{"spans":[]},"constructor":1,"resourceSpans":[{"__proto__":[],"scopeSpans":[{"spans":[{"traceId":"${jsonSpan.traceId}","spanId":"${jsonSpan.spanId}","toString":1,"attributes":[{"key":"__proto__","value":{"kvlistValue":{"values":[{"key":"__proto__","value":{"stringValue":"x"}}]}}}]}]}]}]}`,
    ),
    want: ok,
  },

  { name: 'a cut protobuf body', headers: protobuf, body: goodBody.subarray(0, 20), want: malformed },
  { name: 'JSON sent as protobuf', headers: protobuf, body: json(jsonSpan), want: malformed },
  { name: 'protobuf sent as JSON', headers: asJson, body: goodBody, want: malformed },
  { name: 'an empty JSON body', headers: asJson, body: new Uint8Array(), want: malformed },
  { name: 'a cut JSON body', headers: asJson, body: json(jsonSpan).subarray(0, 50), want: malformed },
  {
    name: 'JSON nested 20,000 deep',
    headers: asJson,
    body: Buffer.from(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`),
    want: malformed,
  },
  { name: 'noise', headers: protobuf, body: Buffer.from(Array.from({ length: 999 }, (_, at) => (at * 7919) % 256)), want: malformed },
  { name: 'gzip of noise', headers: { ...protobuf, 'content-encoding': 'gzip' }, body: gzipSync(Buffer.from('hello')), want: malformed },
  {
    name: 'what is not gzip',
    headers: { ...protobuf, 'content-encoding': 'gzip' },
    body: goodBody,
    want: { ...malformed, message: /gzip data is broken/ },
  },
  {
    name: 'cut gzip',
    headers: { ...protobuf, 'content-encoding': 'gzip' },
    body: gzipSync(goodBody).subarray(0, 20),
    want: { ...malformed, message: /gzip data is broken/ },
  },
  {
    name: 'gzip of nothing at all',
    headers: { ...protobuf, 'content-encoding': 'gzip' },
    body: new Uint8Array(),
    want: { ...malformed, message: /gzip data is broken/ },
  },
  {
    name: 'raw deflate, which HTTP does not mean by deflate',
    headers: { ...protobuf, 'content-encoding': 'deflate' },
    body: deflateRawSync(goodBody),
    want: { ...malformed, message: /deflate data is broken/ },
  },
  {
    name: 'bytes behind deflate data',
    headers: { ...protobuf, 'content-encoding': 'deflate' },
    body: Buffer.concat([deflateSync(goodBody), Buffer.alloc(200_000, 1)]),
    want: { ...malformed, message: /bytes behind its deflate data/ },
  },
  {
    name: 'cut zstd',
    headers: { ...protobuf, 'content-encoding': 'zstd' },
    body: zstdCompressSync(Buffer.alloc(5_000, 'ab')).subarray(0, 15),
    want: { ...malformed, message: /zstd data is broken/ },
  },
  {
    name: 'zstd that wants a window of 128 MiB',
    headers: { ...protobuf, 'content-encoding': 'zstd' },
    body: zstdCompressSync(bomb, { params: { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 } }),
    want: { ...malformed, message: /zstd data is broken/ },
  },

  {
    name: 'a gzip bomb',
    headers: { ...protobuf, 'content-encoding': 'gzip' },
    body: gzipSync(bomb),
    want: { ...tooLarge, message: /inflates to more than 1048576 bytes/ },
  },
  {
    name: 'a deflate bomb in pieces',
    headers: { ...asJson, 'content-encoding': 'deflate' },
    body: deflateSync(bomb),
    pieces: 4_000,
    want: { ...tooLarge, message: /inflates to more than/ },
  },
  {
    name: 'a zstd bomb',
    headers: { ...protobuf, 'content-encoding': 'zstd' },
    body: zstdCompressSync(bomb.subarray(0, 8 * 1024 * 1024)),
    want: { ...tooLarge, message: /inflates to more than/ },
  },
  { name: 'a length beyond the limit', headers: protobuf, body: large, want: { ...tooLarge, headers: { connection: 'close' } } },
  {
    name: 'a body in pieces beyond the limit',
    headers: protobuf,
    body: large,
    pieces: 16_384,
    want: { ...tooLarge, headers: { connection: 'close' } },
  },
  {
    name: 'a gzip body beyond the limit as sent',
    headers: { ...protobuf, 'content-encoding': 'gzip' },
    body: gzipSync(large, { level: 0 }),
    pieces: 16_384,
    want: tooLarge,
  },

  {
    name: 'no content type',
    headers: {},
    body: goodBody,
    want: { status: 415, code: 3, message: /Content-Type is neither/, headers: { 'content-type': 'application/json' } },
  },
  { name: 'text', headers: { 'content-type': 'text/plain' }, body: goodBody, want: { status: 415, code: 3 } },
  { name: 'a content type that is none', headers: { 'content-type': ';;/' }, body: goodBody, want: { status: 415, code: 3 } },
  { name: 'a form', headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: goodBody, want: { status: 415, code: 3 } },
  {
    name: 'an unknown encoding',
    headers: { ...protobuf, 'content-encoding': 'br' },
    body: goodBody,
    want: { status: 415, code: 3, message: /Content-Encoding is not/ },
  },
  {
    name: 'an encoding twice',
    headers: { ...protobuf, 'content-encoding': 'gzip, gzip' },
    body: gzipSync(gzipSync(goodBody)),
    want: { status: 415, code: 3 },
  },
  {
    name: 'metrics',
    path: '/v1/metrics',
    headers: protobuf,
    body: goodBody,
    want: { status: 404, code: 5, message: /Metrics are not taken/ },
  },
  {
    name: 'an unknown path',
    path: '/admin',
    headers: asJson,
    body: Buffer.from('{}'),
    want: { status: 404, code: 5, message: /nothing at this path/ },
  },
  { name: 'a path that cannot be decoded', path: '/v1/%ZZ', headers: asJson, body: Buffer.from('{}'), want: { status: 400, code: 3 } },
  { name: 'GET', method: 'GET', want: { status: 405, code: 12, headers: { allow: 'POST' } } },
  { name: 'PUT with a body', method: 'PUT', headers: protobuf, body: goodBody, want: { status: 405, code: 12 } },
  { name: 'a method that HTTP servers rarely meet', method: 'PROPFIND', want: { status: 405, code: 12 } },
];
