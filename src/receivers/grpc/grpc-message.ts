/**
 * The one message of a gRPC request, and of its answer, as "gRPC over HTTP2" frames them:
 *
 *     message = compressed: 1 byte (0 or 1), length: 4 bytes (big-endian), the bytes
 */
import type { Readable } from 'node:stream';
import { JuryError } from '../../model/errors.ts';
import { aborted, readBody, releaseBody, type BodyOptions, type ContentEncoding, type ReceivedBody } from '../body.ts';
import type { BufferPool } from '../../runtime/buffer-pool.ts';
import type { Lease } from '../byte-budget.ts';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { grpcCode, retryStatus } from '../../otlp/write/responses.ts';
import type { RequestRejection } from '../rejection.ts';

interface MessageOptions {
  /** The value of `grpc-encoding`; messages that are not marked as compressed are plain all the same. */
  readonly encoding: ContentEncoding;
  /** Limit of the message as sent. */
  readonly bodyBytesMax: number;
  readonly inflatedBytesMax: number;
  readonly lease: Lease;
  readonly buffers: BufferPool;
  /** Called once, with the message bytes as sent, whether the message was read or refused. */
  readonly received: BodyOptions['received'];
}

interface ReceivedMessage extends ReceivedBody {
  /** Encoding of `sent`. */
  readonly encoding: ContentEncoding;
}

/** Rejects with JuryError, or with `aborted`. */
export async function readMessage(source: Readable, { lease, encoding, ...options }: MessageOptions): Promise<ReceivedMessage> {
  const { compressed, length } = await readPrefix(source);
  if (length > options.bodyBytesMax) throw new JuryError('OTLP_TOO_LARGE', `It has ${length} bytes, the limit is ${options.bodyBytesMax}.`);
  if (compressed && encoding === 'identity')
    throw new JuryError('OTLP_MALFORMED', 'Its message is marked as compressed, and grpc-encoding does not say how.');
  if (!lease.take(length)) throw new JuryError('OVERLOADED', 'Requests in flight hold all the bytes there are.');
  let sent = 0;
  const body = readBody(source, {
    ...options,
    encoding: compressed ? encoding : 'identity',
    lease,
    leasedBytes: length,
    received(bytes) {
      sent = bytes;
      options.received(bytes);
    },
  });
  source.resume();
  const message = await body;
  if (sent !== length) {
    releaseBody(message);
    throw new JuryError('OTLP_MALFORMED', `Its message announces ${length} bytes and has ${sent}.`);
  }
  return { ...message, encoding: compressed ? encoding : 'identity' };
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const prefixBytes = 5;

/** Leaves the source paused before the first byte of the message. */
function readPrefix(source: Readable): Promise<{ readonly compressed: boolean; readonly length: number }> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      if (read.length < prefixBytes) return;
      settle();
      if (read.length > prefixBytes) source.unshift(read.subarray(prefixBytes));
      const flag = read.readUInt8(0);
      if (flag > 1) reject(new JuryError('OTLP_MALFORMED', 'Its first bytes are not the beginning of a gRPC message.'));
      else resolve({ compressed: flag === 1, length: read.readUInt32BE(1) });
    };
    const onEnd = (): void => {
      settle();
      reject(new JuryError('OTLP_MALFORMED', 'There is no gRPC message in it.'));
    };
    const onClose = (): void => {
      settle();
      reject(aborted);
    };
    const settle = (): void => void source.off('data', onData).off('end', onEnd).off('close', onClose).pause();
    source.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** Codes that the receiver answers with, by the names of the gRPC specification. */
const names: ReadonlyMap<number, string> = new Map([
  [3, 'INVALID_ARGUMENT'],
  [4, 'DEADLINE_EXCEEDED'],
  [7, 'PERMISSION_DENIED'],
  [8, 'RESOURCE_EXHAUSTED'],
  [12, 'UNIMPLEMENTED'],
  [13, 'INTERNAL'],
  [14, 'UNAVAILABLE'],
  [16, 'UNAUTHENTICATED'],
]);

/** Statuses with a separate code in gRPC: a method, a service or an encoding that does not exist. */
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const unimplemented: ReadonlySet<number> = new Set([404, 405, 415]);

/**
 * The gRPC code of a rejection. OTLP wants UNAVAILABLE for everything that passes: RESOURCE_EXHAUSTED, the counterpart of 429, is taken for lasting
 * by clients that do not read RetryInfo.
 */
function codeOf({ status, retryAfterSeconds }: RequestRejection): number {
  if (retryAfterSeconds !== undefined) return UNAVAILABLE;
  return unimplemented.has(status) ? UNIMPLEMENTED : grpcCode(status);
}

/** To what is HTTP/2 and not gRPC, its specification answers an HTTP status. */
const httpKinds: ReadonlySet<string> = new Set(['method_not_allowed', 'otlp_media_type']);

/** The name of the gRPC code of a rejection, or its HTTP status. */
export function statusText(rejection: RequestRejection): string {
  if (httpKinds.has(rejection.kind)) return String(rejection.status);
  const code = codeOf(rejection);
  return names.get(code) ?? String(code);
}

export function sendMessage(stream: ServerHttp2Stream, message: Buffer): void {
  stream.on('wantTrailers', () => {
    if (!stream.closed) stream.sendTrailers({ 'grpc-status': '0' });
  });
  stream.respond(answerHeaders, { waitForTrailers: true });
  stream.end(framed(message));
}

/** Answers at once and then asks a client that is still sending to stop; the protocol discards what it sends meanwhile. */
export function sendRejection(stream: ServerHttp2Stream, rejection: RequestRejection): void {
  const { message, retryAfterSeconds, kind, status } = rejection;
  if (httpKinds.has(kind)) return sendHeaders(stream, { ':status': status });
  const code = codeOf(rejection);
  const details =
    retryAfterSeconds === undefined ? {} : { 'grpc-status-details-bin': retryStatus(code, message, retryAfterSeconds).toString('base64') };
  sendHeaders(stream, { ...answerHeaders, 'grpc-status': String(code), 'grpc-message': percentEncoded(message), ...details });
}

function sendHeaders(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond(headers, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
  // A stream with unread bytes does not close.
  stream.resume();
}

const answerHeaders: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': 'identity,gzip,deflate,zstd',
};

/** Everything but visible ASCII and blanks is encoded, and the percent sign itself. */
function percentEncoded(message: string): string {
  return message.toWellFormed().replace(/[^ -$&-~]/gu, encodeURIComponent);
}
