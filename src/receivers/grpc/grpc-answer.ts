/** Puts the answer of a gRPC call on its stream: a message and a status, or a status alone. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { grpcCode, retryStatus } from '../../otlp/write/responses.ts';
import { framed } from './grpc-message.ts';
import type { Refusal } from '../rejection.ts';

/** Codes that the door answers with, by the names of the gRPC specification. */
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

/** Where gRPC has a word of its own: a method, a service or an encoding that is not there. */
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const unimplemented: ReadonlySet<number> = new Set([404, 405, 415]);

/**
 * The code that a refusal means over gRPC. OTLP wants UNAVAILABLE for whatever passes: RESOURCE_EXHAUSTED, the counterpart of 429, is taken
 * for lasting by clients that do not read RetryInfo.
 */
function codeOf({ status, retryAfterSeconds }: Refusal): number {
  if (retryAfterSeconds !== undefined) return UNAVAILABLE;
  return unimplemented.has(status) ? UNIMPLEMENTED : grpcCode(status);
}

/** To what is HTTP/2 and not gRPC, its specification answers an HTTP status. */
const httpKinds: ReadonlySet<string> = new Set(['method_not_allowed', 'otlp_media_type']);

/** The name of the code that a refusal is answered with, or the HTTP status. */
export function statusText(refusal: Refusal): string {
  if (httpKinds.has(refusal.kind)) return String(refusal.status);
  const code = codeOf(refusal);
  return names.get(code) ?? String(code);
}

export function sendMessage(stream: ServerHttp2Stream, message: Buffer): void {
  stream.on('wantTrailers', () => {
    if (!stream.closed) stream.sendTrailers({ 'grpc-status': '0' });
  });
  stream.respond(answerHeaders, { waitForTrailers: true });
  stream.end(framed(message));
}

/** Answers at once and then tells a client that is still sending to stop; what it sends meanwhile is thrown away by the protocol. */
export function sendRefusal(stream: ServerHttp2Stream, refusal: Refusal): void {
  const { message, retryAfterSeconds, kind, status } = refusal;
  if (httpKinds.has(kind)) return sendHeaders(stream, { ':status': status });
  const code = codeOf(refusal);
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
