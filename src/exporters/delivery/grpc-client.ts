/**
 * Unary calls of gRPC on Node's own HTTP/2 (decision 12), one connection for all of them. As "gRPC over HTTP2" has it:
 *
 *     message = compressed: 1 byte (0 or 1), length: 4 bytes (big-endian), so many bytes
 *     answer  = headers, at most one message, and trailers with `grpc-status`; or headers with it alone
 */
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { retryDelayMs } from '../../otlp/read/responses.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { noGrpcFault } from './export-outcome.ts';
import type { Answer } from './http-client.ts';

export interface GrpcClientOptions {
  readonly origin: string;
  /** Of every call. */
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly tls?: ClientTls;
}

export interface GrpcClient {
  /** Resolves, never rejects. `method`: the whole path. A status of gRPC is told as the HTTP status that says the same. */
  call(request: { readonly method: string; readonly isGzip: boolean }, message: Buffer): Promise<Answer>;
  /** Ends the connection, and with it what is under way. */
  stop(): void;
}

const answerBytesMax = 64 * 1024;
const prefixBytes = 5;
/** What a receiver takes where nobody has said more. */
const usualMessageBytesMax = 4 * 1024 * 1024;

export function grpcClient({ origin, headers, timeoutMs, tls }: GrpcClientOptions): GrpcClient {
  let session: ClientHttp2Session | undefined;
  /** Why a connection ended: calls are told no more than that it did. */
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

  /** A connection that has ended, or is about to, is followed by another one. */
  function connected(): ClientHttp2Session {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const next = http2.connect(origin, tls ?? {});
    next.on('error', (error) => faults.set(next, codeOf(error)));
    next.on('goaway', () => next.close());
    // What is under way keeps the process, not the connection.
    next.unref();
    session = next;
    return next;
  }

  return {
    async call({ method, isGzip }, message) {
      const at = connected();
      try {
        const stream = at.request({ ...common, ':path': method, ...(isGzip ? { 'grpc-encoding': 'gzip' } : {}) });
        const answer = await answered(stream, timeoutMs, () => {
          stream.cork();
          stream.write(prefix(message.length, isGzip));
          stream.end(message);
          stream.uncork();
        });
        // Whoever does not answer may be gone without a word: the next call finds out.
        if (answer === 'late') at.destroy();
        return answer === 'late' ? { kind: 'unanswered', fault: `no answer within ${timeoutMs} ms` } : heard(answer, message.length);
      } catch (error) {
        // The call ends before the connection tells why.
        await turn();
        return { kind: 'unanswered', fault: faults.get(at) ?? (at.destroyed ? 'ECONNRESET' : codeOf(error)) };
      }
    },
    stop: () => session?.destroy(),
  };
}

interface Heard {
  readonly httpStatus: number;
  readonly grpcStatus: number | undefined;
  readonly message: string;
  readonly details: string | undefined;
  readonly body: Buffer;
}

/** Rejects when the connection breaks. */
function answered(stream: ClientHttp2Stream, timeoutMs: number, send: () => void): Promise<Heard | 'late'> {
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
      const said = tail['grpc-status'] === undefined ? head : tail;
      if (head[':status'] === undefined) reject(new Error('no answer'));
      else
        resolve({
          httpStatus: Number(head[':status']),
          grpcStatus: numberOf(said['grpc-status']),
          message: textOf(said['grpc-message']) ?? '',
          details: textOf(said['grpc-status-details-bin']),
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

function heard({ httpStatus, grpcStatus, message, details, body }: Heard, sentBytes: number): Answer {
  if (grpcStatus === 0) return { kind: 'answered', status: 200, body };
  if (grpcStatus === undefined)
    return httpStatus === 200 ? { kind: 'unanswered', fault: noGrpcFault } : { kind: 'answered', status: httpStatus, body };
  const retryAfterMs = details === undefined ? undefined : retryDelayMs(Buffer.from(details, 'base64'));
  const status =
    grpcStatus === RESOURCE_EXHAUSTED && isTooLarge(message, sentBytes, retryAfterMs) ? 413 : (statuses.get(grpcStatus) ?? 500);
  return { kind: 'answered', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }), body };
}

const RESOURCE_EXHAUSTED = 8;

/** gRPC has one code for "too much at once", which passes, and for "too large", which does not; its libraries tell by their text which it is. */
function isTooLarge(message: string, sentBytes: number, retryAfterMs: number | undefined): boolean {
  return retryAfterMs === undefined && (sentBytes > usualMessageBytesMax || /larger|too large|exceeds/i.test(message));
}

/** By code of gRPC: INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAVAILABLE, UNAUTHENTICATED. */
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

/** Messages may hold what the backend sent; the code says enough and is never secret. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'no answer';
}
