/** Sends OTLP requests: over HTTP to one URL per signal, or over gRPC to methods of one host. */
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { gzip } from 'node:zlib';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import { rejectedItems, retryDelayMs } from '../../otlp/read/responses.ts';
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { httpClient, timeoutMsDefault, type Answer } from '../delivery/http-client.ts';
import type { OtlpProtocol } from '../settings.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { noGrpcFault } from '../delivery/export-outcome.ts';

export interface OtlpTransportSettings {
  /** The whole URL of each signal. gRPC takes the host and the port of the URL for traces. */
  readonly urls: { readonly [signal in OtlpSignal]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly protocol?: OtlpProtocol;
  readonly compression?: 'none' | 'gzip';
  readonly tls?: ClientTls;
  /** Timeout of one request. */
  readonly timeoutMs?: number;
}

export interface OtlpTransport {
  /** Sends one request; resolves, never rejects. Maps a gRPC status to the equivalent HTTP status. */
  send(signal: OtlpSignal, contentType: string, body: Buffer): Promise<Answer>;
  /** The URL of such requests; over gRPC the host, the port and the method. */
  url(signal: OtlpSignal): string;
  /** Ends the connections. */
  stop(): void;
}

/** The fastest level, as the exporter must cost little. */
const gzipLevel = 1;

export function otlpTransport(settings: OtlpTransportSettings): OtlpTransport {
  const { urls, protocol, compression } = settings;
  const { send, stop } = protocol === 'grpc' ? overGrpc(settings) : overHttp(settings);
  const url = (signal: OtlpSignal): string => (protocol === 'grpc' ? new URL(methods[signal], urls.traces).href : urls[signal]);
  if (compression !== 'gzip') return { send: (signal, contentType, body) => send({ signal, contentType, isGzip: false }, body), url, stop };
  return { send: async (signal, contentType, body) => await send({ signal, contentType, isGzip: true }, await zipped(body)), url, stop };
}

interface ConnectionRequest {
  readonly signal: OtlpSignal;
  readonly contentType: string;
  readonly isGzip: boolean;
}

interface Connection {
  send(request: ConnectionRequest, body: Buffer): Promise<Answer>;
  stop(): void;
}

function overHttp({ urls, headers, tls, timeoutMs }: OtlpTransportSettings): Connection {
  const client = httpClient({ tls, timeoutMs });
  return {
    send: ({ signal, contentType, isGzip }, body) =>
      client.send(
        { url: urls[signal], headers: { ...headers, 'content-type': contentType, ...(isGzip ? { 'content-encoding': 'gzip' } : {}) } },
        body,
      ),
    stop: client.stop,
  };
}

const methods: { readonly [signal in OtlpSignal]: string } = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
};

function overGrpc({ urls, headers = {}, tls, timeoutMs = timeoutMsDefault }: OtlpTransportSettings): Connection {
  const client = grpcClient({ origin: new URL(urls.traces).origin, headers, timeoutMs, ...(tls === undefined ? {} : { tls }) });
  return { send: ({ signal, isGzip }, body) => client.call({ method: methods[signal], isGzip }, body), stop: client.stop };
}

/** Number of items that a partial success rejects. */
export function rejectedIn(answer: Answer, signal: OtlpSignal, encoding: OtlpEncoding): number {
  if (answer.kind === 'unanswered' || answer.status >= 300 || answer.isPage === true) return 0;
  return rejectedItems(answer.body, signal, encoding);
}

/** The URL for log records beside the one for spans. A URL that does not end in `/v1/traces` serves both. */
export function logsUrl(tracesUrl: string): string {
  const url = new URL(tracesUrl);
  url.pathname = url.pathname.replace(/\/v1\/traces$/, '/v1/logs');
  return url.href;
}

/** Compresses in the thread pool of libuv. */
function zipped(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(body, { level: gzipLevel }, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
}

interface GrpcClientOptions {
  readonly origin: string;
  /** Headers of every call. */
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly tls?: ClientTls;
}

interface GrpcClient {
  /** Resolves, never rejects. `method`: the whole path. Maps a gRPC status to the equivalent HTTP status. */
  call(request: { readonly method: string; readonly isGzip: boolean }, message: Buffer): Promise<Answer>;
  /** Closes the connection and aborts the calls in progress. */
  stop(): void;
}

const answerBytesMax = 64 * 1024;
const prefixBytes = 5;
/** Default message limit of gRPC receivers. */
const usualMessageBytesMax = 4 * 1024 * 1024;

/**
 * Unary gRPC calls on Node's HTTP/2 (decision 3), over one connection. From "gRPC over HTTP2":
 *
 *     message = compressed: 1 byte (0 or 1), length: 4 bytes (big-endian), `length` bytes
 *     answer  = headers, at most one message, and trailers with `grpc-status`; or headers that include it
 */
function grpcClient({ origin, headers, timeoutMs, tls }: GrpcClientOptions): GrpcClient {
  let session: ClientHttp2Session | undefined;
  /** The error that ended a connection, as its calls only learn that it closed. */
  const faults = new WeakMap<ClientHttp2Session, string>();
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const common: OutgoingHttpHeaders = {
    ...own,
    ':method': 'POST',
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'tracejury',
    'grpc-timeout': `${timeoutMs}m`,
  };

  /** Opens a new connection when the last one has ended or is about to. */
  function connected(): ClientHttp2Session {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const next = http2.connect(origin, tls ?? {});
    next.on('error', (error) => faults.set(next, codeOf(error)));
    next.on('goaway', () => next.close());
    // A call in progress keeps the process alive, an idle connection does not.
    next.unref();
    session = next;
    return next;
  }

  return {
    async call({ method, isGzip }, message) {
      const at = connected();
      try {
        const stream = at.request({ ...common, ':path': method, ...(isGzip ? { 'grpc-encoding': 'gzip' } : {}) });
        const answer = await replyOf(stream, timeoutMs, () => {
          stream.cork();
          stream.write(prefix(message.length, isGzip));
          stream.end(message);
          stream.uncork();
        });
        // A silent peer may be gone, so the next call opens a new connection.
        if (answer === 'late') at.destroy();
        return answer === 'late' ? { kind: 'unanswered', fault: `no answer within ${timeoutMs} ms` } : answerOf(answer, message.length);
      } catch (error) {
        // The call fails before the connection emits its error.
        await turn();
        return { kind: 'unanswered', fault: faults.get(at) ?? (at.destroyed ? 'ECONNRESET' : codeOf(error)) };
      }
    },
    stop: () => session?.destroy(),
  };
}

interface GrpcReply {
  readonly httpStatus: number;
  readonly grpcStatus: number | undefined;
  readonly message: string;
  readonly details: string | undefined;
  readonly body: Buffer;
}

/** Rejects when the connection breaks. */
function replyOf(stream: ClientHttp2Stream, timeoutMs: number, send: () => void): Promise<GrpcReply | 'late'> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let [head, tail]: readonly [IncomingHttpHeaders, IncomingHttpHeaders] = [{}, {}];
    const timer = setTimeout(() => {
      resolve('late');
      stream.close(http2.constants.NGHTTP2_CANCEL);
    }, timeoutMs);
    stream.on('response', (headers) => (head = headers));
    stream.on('trailers', (headers: IncomingHttpHeaders) => (tail = headers));
    stream.on('data', (chunk: Buffer) => {
      if (bytes < answerBytesMax) chunks.push(chunk);
      bytes += chunk.length;
    });
    stream.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    stream.on('close', () => {
      clearTimeout(timer);
      const status = tail['grpc-status'] === undefined ? head : tail;
      if (head[':status'] === undefined) reject(new Error('no answer'));
      else
        resolve({
          httpStatus: Number(head[':status']),
          grpcStatus: numberOf(status['grpc-status']),
          message: textOf(status['grpc-message']) ?? '',
          details: textOf(status['grpc-status-details-bin']),
          body: Buffer.concat(chunks).subarray(prefixBytes, answerBytesMax),
        });
    });
    send();
  });
}

function prefix(length: number, isGzip: boolean): Buffer {
  const bytes = Buffer.alloc(prefixBytes);
  bytes.writeUInt8(isGzip ? 1 : 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

function answerOf({ httpStatus, grpcStatus, message, details, body }: GrpcReply, sentBytes: number): Answer {
  if (grpcStatus === 0) return { kind: 'answered', status: 200, body };
  if (grpcStatus === undefined)
    return httpStatus === 200 ? { kind: 'unanswered', fault: noGrpcFault } : { kind: 'answered', status: httpStatus, body };
  const retryAfterMs = details === undefined ? undefined : retryDelayMs(Buffer.from(details, 'base64'));
  const status =
    grpcStatus === RESOURCE_EXHAUSTED && isTooLarge(message, sentBytes, retryAfterMs) ? 413 : (statuses.get(grpcStatus) ?? 500);
  return { kind: 'answered', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }), body };
}

const RESOURCE_EXHAUSTED = 8;

/**
 * gRPC has one code for a rate limit, which passes, and for a message that is too large, which does not. The text of its libraries
 * distinguishes them.
 */
function isTooLarge(message: string, sentBytes: number, retryAfterMs: number | undefined): boolean {
  return retryAfterMs === undefined && (sentBytes > usualMessageBytesMax || /larger|too large|exceeds/i.test(message));
}

/**
 * HTTP status by gRPC code: INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAVAILABLE,
 * UNAUTHENTICATED.
 */
const statuses: ReadonlyMap<number, number> = new Map([
  [3, 400],
  [5, 404],
  [7, 403],
  [RESOURCE_EXHAUSTED, 429],
  [12, 501],
  [14, 503],
  [16, 401],
]);

function numberOf(value: string | readonly string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Only the code: a message may quote what the backend sent. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer';
}
